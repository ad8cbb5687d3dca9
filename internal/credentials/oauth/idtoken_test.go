package oauth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// An ID token for several parties says to whom it was given, and that is us.
func TestAuthorizedParty(t *testing.T) {
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	signer := must.Get(jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, nil))(t)
	keys := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public()}}})
	}))
	defer keys.Close()
	p := &Provider{Issuer: "https://idp.example", Keys: keys.URL, Algorithms: []string{"ES256"}}
	c := &Client{ID: "app", HTTP: NewHTTP(nil)}
	for _, test := range []struct {
		audience []string
		azp      string
		ok       bool
	}{
		{[]string{"app"}, "", true}, {[]string{"app"}, "app", true}, {[]string{"app", "api"}, "app", true},
		{[]string{"app", "api"}, "", false}, {[]string{"app", "api"}, "api", false}, {[]string{"app"}, "other", false}, {[]string{"api"}, "app", false},
	} {
		claims := map[string]any{"iss": p.Issuer, "sub": "me", "aud": test.audience, "iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix()}
		if test.azp != "" {
			claims["azp"] = test.azp
		}
		id := must.Get(jwt.Signed(signer).Claims(claims).Serialize())(t)
		if account, err := c.Account(t.Context(), p, &Token{ID: id}, ""); (err == nil) != test.ok || test.ok && account != "me" {
			t.Errorf("%+v: %q, %v", test, account, err)
		}
	}
	// Of a provider for all tenants the token is of its own tenant.
	p.Issuer = "https://idp.example/{tenantid}/v2.0"
	for issuer, ok := range map[string]bool{"https://idp.example/one/v2.0": true, "https://idp.example/two/v2.0": false, "https://evil.example/one/v2.0": false} {
		claims := map[string]any{"iss": issuer, "tid": "one", "sub": "me", "aud": "app", "iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix()}
		id := must.Get(jwt.Signed(signer).Claims(claims).Serialize())(t)
		if _, err := c.Account(t.Context(), p, &Token{ID: id}, ""); (err == nil) != ok {
			t.Errorf("%s: %v", issuer, err)
		}
	}
}
