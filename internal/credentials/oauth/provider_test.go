package oauth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// Metadata speaks for its own origin alone, names what is needed, and no endpoint
// that is not encrypted; it is looked for where the specifications put it.
func TestDiscover(t *testing.T) {
	for _, test := range must.Table[struct {
		Name, Path, Issuer, At, Answer string
		Status                         int
		Want                           string
		Missing                        bool
	}](t, "testdata/discover.txt") {
		t.Run(test.Name, func(t *testing.T) {
			var url string
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != test.At {
					http.NotFound(w, r)
					return
				}
				w.WriteHeader(max(test.Status, 200))
				io.WriteString(w, strings.ReplaceAll(test.Answer, "URL", url))
			}))
			defer s.Close()
			url = s.URL
			p, missing, err := Discover(t.Context(), NewHTTP(nil), url+test.Path)
			must.Fail(t, err, test.Want)
			must.Equal(t, missing, test.Missing)
			must.Equal(t, err == nil && p.Token == "", false)
			if test.Want == "" && strings.HasSuffix(test.At, "configuration") {
				p, err := FromMetadata(t.Context(), NewHTTP(nil), url+test.At)
				must.True(t, err == nil && p.Has("", p.Token) && !p.Has("https://other.example", ""), p, err)
			}
		})
	}
}

// Without metadata the endpoints of a card belong together if they are of one
// origin. Otherwise a code of one provider could be sent to another.
func TestFromEndpoints(t *testing.T) {
	for _, test := range must.Table[struct{ Authorization, Token, Device, Want string }](t, "testdata/endpoints.txt") {
		_, err := FromEndpoints(test.Authorization, test.Token, test.Device)
		must.Fail(t, err, test.Want, test)
		must.Equal(t, strings.Contains(fmt.Sprint(err), "hunter2"), false, err)
	}
}

// A provider that is not on this machine has nothing sent to what listens here.
func TestEndpointsOfThisMachine(t *testing.T) {
	for _, test := range []struct{ at, endpoint, want string }{
		{"https://idp.example", "http://127.0.0.1:9/register", "the endpoint http://127.0.0.1:9/register, which is not encrypted"},
		{"http://localhost:8", "http://127.0.0.1:9/register", ""},
	} {
		at, _ := url.Parse(test.at)
		must.Fail(t, (&Provider{Token: test.at + "/token", Registration: test.endpoint}).check(at), test.want, test.at)
	}
}

// A redirect of metadata is followed within their origin, some times.
func TestRedirectedMetadata(t *testing.T) {
	asked := false
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer elsewhere.Close()
	at := ""
	var s *httptest.Server
	s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/here" {
			fmt.Fprintf(w, `{"issuer":%q,"token_endpoint":"%[1]s/token"}`, s.URL)
			return
		}
		http.Redirect(w, r, at, http.StatusFound)
	}))
	defer s.Close()
	for to, want := range map[string]string{"/here": "", "/loop": "it redirects to", elsewhere.URL: "it redirects to"} {
		at = to
		_, _, err := Discover(t.Context(), NewHTTP(nil), s.URL)
		must.Fail(t, err, want, to)
		must.Equal(t, asked, false)
	}
}

// A name shows which host it is.
func TestName(t *testing.T) {
	long := "accounts.honest.example." + strings.Repeat(strings.Repeat("x", 50)+".", 4) + "evil.example"
	for issuer, want := range map[string]string{
		"https://idp.example/t/.well-known/openid-configuration": "https://idp.example/t", "https://IDP.example:8443/": "https://IDP.example:8443",
		"https://" + long + "/" + strings.Repeat("p", 300): "https://" + long + "/", "https://\u0430ccounts.example": "https://%D0%B0ccounts.example", "x": "of the card",
	} {
		got := Name(issuer)
		must.True(t, strings.HasPrefix(got, want) && len(got) <= maxName+len("…") && !strings.ContainsRune(got, '\u0430'), issuer, got)
	}
}

// Each place of metadata is asked once.
func TestWellKnown(t *testing.T) {
	for path, want := range map[string]int{"": 2, "/": 2, "/tenant": 4} {
		u, _ := url.Parse("https://idp.example" + path)
		list := wellKnown(u)
		slices.Sort(list)
		must.True(t, len(list) == want && len(slices.Compact(list)) == want, path, list)
	}
}

// Without metadata the issuer of an answer is one above the token endpoint.
func TestIssuerOfEndpoints(t *testing.T) {
	const realm = "https://idp.example/realms/work"
	l := &Login{Provider: must.Get(FromEndpoints(realm+"/protocol/openid-connect/auth", realm+"/protocol/openid-connect/token", ""))(t)}
	for issuer, want := range map[string]string{
		realm: "", "https://idp.example": "", "https://idp.example/": "",
		"https://idp.example/realms/evil": "is not used", "https://evil.example": "is not used", realm + "/pro": "is not used", "": "is not used",
	} {
		_, err := l.code(url.Values{"iss": {issuer}, "code": {"x"}})
		must.Fail(t, err, want, issuer)
	}
	for _, token := range []string{realm + "/../evil/token", realm + "/%2e%2E/evil/token", realm + "%2f..%2fevil/token", realm + "/..;/evil/token"} {
		if p, err := FromEndpoints("", token, ""); err != nil || p.is(realm) || !p.is("https://idp.example") {
			t.Errorf("%s gets the code of %s, or of nobody: %v", token, realm, err)
		}
	}
	tenants := &Provider{Issuer: "https://idp.example/{tenantid}/v2.0"}
	if !tenants.is("https://idp.example/one/v2.0") || tenants.is("https://evil.example/one/v2.0") {
		t.Error("one of all tenants is of their origin")
	}
}

// What an agent's 401 says of how to authenticate.
func TestReadHint(t *testing.T) {
	for headers, want := range map[string]string{
		`Bearer`: `{bearer []}`,
		`Basic realm="x"|Bearer error="invalid_token", error_description="a, b=c"`: `{bearer []}`,
		`Bearer realm="a\"b", error=insufficient_scope, scope="read write"`:        `{bearer [read write]}`,
		`Basic realm="scope=x"`: `{basic []}`,
		``:                      `{ []}`,
	} {
		must.Equal(t, fmt.Sprint(ReadHint(strings.Split(headers, "|"))), want, headers)
	}
}

// What belongs to OAuth cannot be set by a parameter.
func TestCheckParams(t *testing.T) {
	must.Do(t, CheckParams(url.Values{"audience": {"x"}, "prompt": {"login"}}))
	for _, name := range strings.Fields("client_id client_secret code code_verifier grant_type nonce redirect_uri refresh_token scope state") {
		must.Equal(t, CheckParams(url.Values{strings.ToUpper(name): {"x"}}) != nil, true, name)
	}
}

// A redirect leads back to this machine.
func TestRedirect(t *testing.T) {
	for redirect, ok := range map[string]bool{
		"": true, "http://127.0.0.1/cb": true, "http://localhost:0/": true, "http://[::1]/": true, "http://127.0.0.1:0": true,
		"https://127.0.0.1/cb": false, "http://192.168.0.1/": false, "http://127.0.0.1/?x=1": false, "http://localhost.example/": false,
		"http://0.0.0.0/cb": false, "http://me@127.0.0.1/cb": false, "http://127.0.0.1/cb#x": false, "http://127.0.0.1:x/": false,
	} {
		l := &Login{Redirect: redirect}
		got, err := l.Listen()
		l.Close()
		must.True(t, (err == nil) == ok || strings.Contains(fmt.Sprint(err), "cannot assign"), redirect, got, err)
		if ok && redirect != "" && strings.HasSuffix(got, "/") != strings.HasSuffix(redirect, "/") { // providers compare each letter
			t.Errorf("%q became %q", redirect, got)
		}
		must.True(t, ok || strings.Contains(fmt.Sprint(err), "does not lead back to this machine"), redirect, err)
	}
}

// An ID token for several parties says to whom it was given, and that is us.
func TestAuthorizedParty(t *testing.T) {
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	signer := must.Get(jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, nil))(t)
	keys := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public()}}})
	}))
	defer keys.Close()
	p := &Provider{Issuer: "https://idp.example", Keys: keys.URL, Algorithms: []string{"ES256"}}
	c := &Client{ID: "app", HTTP: NewHTTP(nil), Now: time.Now}
	const tenants = "https://idp.example/{tenantid}/v2.0"
	for _, test := range []struct {
		issuer, of, audience, azp string
		ok                        bool
	}{
		{p.Issuer, p.Issuer, "app", "", true}, {p.Issuer, p.Issuer, "app", "app", true}, {p.Issuer, p.Issuer, "app api", "app", true},
		{p.Issuer, p.Issuer, "app api", "", false}, {p.Issuer, p.Issuer, "app api", "api", false},
		{p.Issuer, p.Issuer, "app", "other", false}, {p.Issuer, p.Issuer, "api", "app", false},
		// Of a provider for all tenants the token is of its own tenant.
		{tenants, "https://idp.example/one/v2.0", "app", "", true}, {tenants, "https://idp.example/two/v2.0", "app", "", false},
		{tenants, "https://evil.example/one/v2.0", "app", "", false},
	} {
		p.Issuer = test.issuer
		claims := map[string]any{"iss": test.of, "tid": "one", "sub": "me", "aud": strings.Fields(test.audience), "iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix()}
		if test.azp != "" {
			claims["azp"] = test.azp
		}
		id := must.Get(jwt.Signed(signer).Claims(claims).Serialize())(t)
		account, err := c.Account(t.Context(), p, &Token{ID: id}, "")
		must.Equal(t, err == nil && account == "me", test.ok, test, err)
	}
}
