package webhook

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/a2astdio/a2astdio/internal/cardsign"
	"github.com/a2astdio/a2astdio/internal/test/must"
)

// keyPair makes a signer, and a file with its public key.
func keyPair(t *testing.T) (jose.Signer, []byte) {
	t.Helper()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	signer := must.Get(jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: key, KeyID: "k"}}, nil))(t)
	set := must.Get(json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "k"}}}))(t)
	return signer, set
}

// A push that is signed must be meant for this address, come from this agent and have
// this body, where its JWT says so; and its signature must be the agent's.
func TestSigned(t *testing.T) {
	signer, public := keyPair(t)
	stranger, _ := keyPair(t)
	fetched := 0
	idp := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fetched++
		_, _ = w.Write(public)
	}))
	defer idp.Close()
	file := filepath.Join(t.TempDir(), "jwks.json")
	must.Do(t, os.WriteFile(file, public, 0o600))
	for _, from := range []string{file, idp.URL} {
		keys := must.Get(cardsign.NewKeys(from, idp.Client()))(t)
		h, hook := open(t, Options{Keys: keys, Issuers: func(context.Context) []string { return []string{"https://agent.example/a2a", "https://cards.example"} }})
		now := time.Now().Unix()
		for _, test := range []struct {
			name   string
			claims map[string]any
			by     jose.Signer
			want   int
		}{
			{"nothing but the time", map[string]any{"iat": now}, signer, 200},
			{"all", map[string]any{"iat": now, "aud": hook.Config().URL, "iss": "https://agent.example/", "request_body_sha256": hashed([]byte(stateV1)), "jti": "1"}, signer, 200},
			{"the origin, and others", map[string]any{"iat": now, "aud": []string{"https://other.example", "https://hooks.example"}, "iss": "https://cards.example"}, signer, 200},
			{"no time", map[string]any{"aud": hook.Config().URL}, signer, 401},
			{"old", map[string]any{"iat": now - 3600}, signer, 401},
			{"expired", map[string]any{"iat": now, "exp": now - 120}, signer, 401},
			{"a stranger's key", map[string]any{"iat": now}, stranger, 401},
			{"for another service", map[string]any{"iat": now, "aud": "https://other.example"}, signer, 401},
			{"for another turn", map[string]any{"iat": now, "aud": "https://hooks.example/base/" + randomName()}, signer, 401},
			{"for a lookalike", map[string]any{"iat": now, "aud": "https://hooks.example.evil"}, signer, 401},
			{"of another agent", map[string]any{"iat": now, "iss": "https://other.example"}, signer, 401},
			{"of a path of the agent's", map[string]any{"iat": now, "iss": "https://agent.example/tenant"}, signer, 401},
			{"of no URL", map[string]any{"iat": now, "iss": "agent"}, signer, 401},
			{"for another body", map[string]any{"iat": now, "request_body_sha256": hashed([]byte(taskV03))}, signer, 401},
		} {
			token := must.Get(jwt.Signed(test.by).Claims(test.claims).Serialize())(t)
			if got := status(h, push(hook, stateV1, set("Authorization", "Bearer "+token))); got != test.want {
				t.Errorf("%s, %s: %d", from, test.name, got)
			}
		}
		if got := status(h, push(hook, stateV1)); got != 401 {
			t.Errorf("%s, not signed: %d", from, got)
		}
	}
	if fetched > 3 {
		t.Errorf("the keys were fetched %d times", fetched)
	}
}

// A key is used for the algorithm that it says it is for, and for no other.
func TestKeyOfOneAlgorithm(t *testing.T) {
	key := must.Get(rsa.GenerateKey(rand.Reader, 2048))(t)
	set, _ := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), Algorithm: "RS256"}}})
	file := filepath.Join(t.TempDir(), "jwks.json")
	must.Do(t, os.WriteFile(file, set, 0o600))
	keys := must.Get(cardsign.NewKeys(file, nil))(t)
	for alg, want := range map[jose.SignatureAlgorithm]bool{jose.RS256: true, jose.PS256: false, jose.RS512: false} {
		signer := must.Get(jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, nil))(t)
		token, _ := jwt.Signed(signer).Claims(map[string]any{"iat": time.Now().Unix()}).Serialize()
		if _, err := keys.Verify(t.Context(), token, time.Now()); (err == nil) != want {
			t.Errorf("%s: %v", alg, err)
		}
	}
}
