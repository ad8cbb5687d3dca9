package credentials

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/credentials/oauth"
	"github.com/a2astdio/a2astdio/internal/test/idp"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/internal/test/signin"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

func fetch(t *testing.T, a *agent, opts *Options) (*Source, *a2a.Card) {
	t.Helper()
	c, s := a.client(t, opts)
	card, _ := c.Card(t.Context()) // which may want a credential
	return s, card
}

// A provider that only the agent has named gets nothing before the user agrees. Then it
// is not asked about again, unless its endpoints change.
func TestConfirmed(t *testing.T) {
	p := signin.Start(t, nil)
	a, store := newAgent(t, p), testStore(t)
	s, card := fetch(t, a, &Options{Store: store, Cure: "a2astdio auth login"})
	u := &tester{b: signin.Browser{TLS: p.TLS()}, cannot: true}
	_, err := signIn(t, s, &SignIn{Card: card}, u)
	must.Has(t, fmt.Sprint(err), "--oauth-issuer "+p.Issuer, "auth login")
	u.cannot, u.no, u.asked = false, true, nil
	_, err = signIn(t, s, &SignIn{Card: card}, u)
	must.Equal(t, errors.Is(err, oauth.ErrDeclined), true, err)
	for _, endpoint := range []string{"openid-configuration", "oauth-authorization-server", "register", "authorize", "token"} {
		must.Equal(t, p.Calls(endpoint), 0, endpoint)
	}
	q := u.asked[0]
	must.True(t, q.Agent == Origin(a.URL) && q.Provider == p.Issuer && fmt.Sprint(q.Scopes) == "[agent openid]" && !q.Unencrypted, "asked", q)
	u.no = false
	login, err := signIn(t, s, &SignIn{Card: card}, u)
	if err != nil || login.Account != idp.User || len(u.asked) != 2 {
		t.Fatalf("%v, %+v", err, login)
	}
	// Again: the provider is not new. What was stored before is replaced.
	if _, err = signIn(t, s, &SignIn{Card: card}, u); err != nil || len(u.asked) != 2 || p.Calls("register") != 2 {
		t.Fatalf("%v, asked %d times, %d registrations", err, len(u.asked), p.Calls("register"))
	}
	must.Equal(t, len(must.Get(store.List())(t)), 1)
	u.no = true
	for _, endpoint := range []string{"token", "device_authorization", "registration", "revocation"} { // each gets secrets
		u.asked = nil
		metadata := map[string]string{"issuer": p.Issuer, "authorization_endpoint": p.Issuer + "/authorize", "token_endpoint": p.Issuer + "/token", "registration_endpoint": p.Issuer + "/register"}
		metadata[endpoint+"_endpoint"] = "https://evil.example/x"
		p.Fail("openid-configuration", signin.Answer(200, string(must.Get(json.Marshal(metadata))(t))))
		if _, err := signIn(t, s, &SignIn{Card: card}, u); !errors.Is(err, oauth.ErrDeclined) || len(u.asked) != 1 || fmt.Sprint(u.asked[0].Others) != "[https://evil.example]" {
			t.Errorf("%s: %v, asked %d times", endpoint, err, len(u.asked))
		}
	}
}

// The question names each place that the sign-in may lead to: else an honest name in front
// would have the user agree to a page that is not named.
func TestQuestionNamesAll(t *testing.T) {
	a := newAgent(t, nil)
	a.card = `"securitySchemes":{"login":{"type":"oauth2","oauth2MetadataUrl":"https://honest.example/none","flows":{"authorizationCode":{"authorizationUrl":"https://evil.example/authorize","tokenUrl":"https://token.honest.example/token","scopes":{}}}}},"security":[{"login":[]}]`
	s, card := fetch(t, a, &Options{Store: testStore(t), OAuth: OAuth{ClientID: "app"}})
	u := &tester{no: true}
	_, err := signIn(t, s, &SignIn{Card: card}, u)
	must.Equal(t, errors.Is(err, oauth.ErrDeclined), true, err)
	a.card = strings.Replace(a.card, "/none", "/$(x)", 1)
	s, card = fetch(t, a, &Options{Store: testStore(t), Cure: "a2astdio auth login"})
	_, err = signIn(t, s, &SignIn{Card: card}, &tester{cannot: true})
	must.Fail(t, err, "--oauth-issuer 'https://honest.example/$(x)'")
	q := u.asked[0]
	must.True(t, q.Provider == "https://honest.example/none" && fmt.Sprint(q.Others) == "[https://evil.example https://token.honest.example]", "asked", q)
}

// A card with endpoints of two providers would send one's code to the other.
func TestMixedUp(t *testing.T) {
	honest, evil := signin.Start(t, nil), signin.Start(t, nil)
	for _, test := range []struct{ name, security, want string }{
		{"an endpoint elsewhere", `"securitySchemes":{"login":{"type":"oauth2","flows":{"authorizationCode":{"authorizationUrl":"HONEST/authorize","tokenUrl":"EVIL/token","scopes":{}}}}},"security":[{"login":[]}]`, "--oauth-issuer"},
		{"metadata for another", `"securitySchemes":{"login":{"type":"openIdConnect","openIdConnectUrl":"EVIL/.well-known/openid-configuration"}},"security":[{"login":[]}]`, "cannot speak"},
		{"not encrypted", `"securitySchemes":{"login":{"type":"oauth2","flows":{"authorizationCode":{"authorizationUrl":"http://idp.example/authorize","tokenUrl":"http://idp.example/token","scopes":{}}}}},"security":[{"login":[]}]`, "is not encrypted"},
	} {
		evil.Fail("openid-configuration", signin.Answer(200, strings.NewReplacer("HONEST", honest.Issuer, "EVIL", evil.Issuer).Replace(
			`{"issuer":"HONEST","authorization_endpoint":"HONEST/authorize","token_endpoint":"EVIL/token"}`)))
		a := newAgent(t, honest)
		a.card = strings.NewReplacer("HONEST", honest.Issuer, "EVIL", evil.Issuer).Replace(test.security)
		s, card := fetch(t, a, &Options{Store: testStore(t), OAuth: OAuth{ClientID: "app"}})
		s.http = oauth.NewHTTP(nil)
		s.http.Transport = both(honest, evil)
		_, err := signIn(t, s, &SignIn{Card: card}, &tester{b: signin.Browser{TLS: honest.TLS()}})
		must.Fail(t, err, test.want, test.name)
		must.Equal(t, evil.Calls("token")+honest.Calls("authorize"), 0)
	}
}

// both trusts two providers.
func both(a, b *signin.Server) http.RoundTripper {
	config := a.TLS()
	config.RootCAs.AddCert(b.Certificate())
	return oauth.NewHTTP(config).Transport
}

// A wayIn is what the card says, and what the user has: a row of testdata/ways-in.txt.
type wayIn struct{ Name, Card, Has, Want, Key string }

// has is what stands behind a word of Has, or the word itself.
func (w *wayIn) has(word string) string {
	for pair := range strings.FieldsSeq(w.Has) {
		if name, value, _ := strings.Cut(pair, "="); name == word {
			return cmp.Or(value, word)
		}
	}
	return ""
}

// Every way in.
func TestWaysIn(t *testing.T) {
	for _, test := range must.Table[wayIn](t, "testdata/ways-in.txt") {
		t.Run(test.Name, func(t *testing.T) {
			t.Parallel()
			p := signin.Start(t, &idp.Options{Scopes: []string{"agent"}, Interval: 1, Clients: map[string]idp.Client{
				"app": {Redirects: []string{"http://127.0.0.1/callback"}}, "service": {Secret: "hunter2", Redirects: []string{"http://127.0.0.1/callback"}}}})
			a := newAgent(t, p)
			fill := strings.NewReplacer("IDP", p.Issuer, "CODE", `"authorizationCode":{"authorizationUrl":"`+p.Issuer+`/authorize","tokenUrl":"`+p.Issuer+`/token","scopes":{"agent":""}}`,
				"DEVICE", `"deviceCode":{"deviceAuthorizationUrl":"`+p.Issuer+`/device_authorization","tokenUrl":"`+p.Issuer+`/token","scopes":{"agent":""}}`)
			a.card, a.closed, a.challenge = fill.Replace(test.Card), test.has("closed") != "", test.has("challenge")
			key := ""
			if test.Key != "" {
				a.takes = func(r *http.Request) bool {
					key = r.URL.RawQuery + r.Header.Get("Authorization") + r.Header.Get("X-Key")
					return true
				}
			}
			o := OAuth{ClientID: test.has("client"), Issuer: fill.Replace(test.has("issuer")), Secret: Secret{Value: test.has("secret"), Name: "secret"}}
			store := testStore(t)
			s, card := fetch(t, a, &Options{Store: store, OAuth: o, Scheme: test.has("scheme")})
			must.Equal(t, card == nil, a.closed)
			u := &tester{b: signin.Browser{TLS: p.TLS()}, noBrowser: test.has("no-browser") != "", secret: test.has("types")}
			_, err := signIn(t, s, &SignIn{Card: card, Device: test.has("device") != ""}, u)
			if must.Fail(t, err, test.Want); err != nil {
				return
			}
			c, _ := a.client(t, &Options{Store: store, OAuth: o})
			prompts(t, c)
			must.Equal(t, key, test.Key)
			if o.Issuer != "" != (len(u.asked) == 0) && test.Key == "" {
				t.Errorf("asked %d times about the provider", len(u.asked))
			}
		})
	}
}

// A client with a configured secret and issuer gets tokens for itself; without the
// issuer nothing is sent.
func TestProgram(t *testing.T) {
	p := signin.Start(t, &idp.Options{Scopes: []string{"agent"}, Clients: map[string]idp.Client{"service": {Secret: "hunter2"}}})
	a := newAgent(t, p)
	turned := &clock{}
	o := OAuth{ClientID: "service", Secret: Secret{Value: "hunter2", Name: "A2ASTDIO_OAUTH_CLIENT_SECRET"}, Issuer: p.Issuer}
	c, _ := a.client(t, &Options{OAuth: o, Now: turned.now})
	for range 3 {
		prompts(t, c)
	}
	must.Equal(t, p.Forms()[0].Get("scope"), "agent") // as the card wants it
	a.idp.Provider.Expire()
	prompts(t, c)
	must.Equal(t, p.Calls("token"), 2)
	// The token for a closed card was got before anybody knew what the card wants.
	a.closed = true
	c, _ = a.client(t, &Options{OAuth: o})
	prompts(t, c)
	must.Equal(t, p.Forms()[len(p.Forms())-1].Get("scope"), "agent")
	a.closed = false
	asked := p.Calls("token")
	o.Issuer = ""
	c, _ = a.client(t, &Options{OAuth: o})
	refused(t, c)
	must.Equal(t, p.Calls("token"), asked)
	o.Issuer, o.Secret.Value = p.Issuer, "hunter3"
	c, _ = a.client(t, &Options{OAuth: o})
	err := prompt(t.Context(), c)
	must.Fail(t, err, "invalid_client")
	must.Equal(t, strings.Contains(fmt.Sprint(err), "hunter"), false)
}

// forgets signs out of so many logins, with a warning or without.
func forgets(t *testing.T, s *Source, logins int, warns bool) {
	t.Helper()
	forgotten, warn, err := s.SignOut(t.Context())
	must.Do(t, err)
	must.Equal(t, len(forgotten), logins)
	must.Equal(t, warn != nil, warns, warn)
}

// Signing out deletes the login and revokes its tokens. It reports a token that cannot
// be revoked, and deletes the login all the same.
func TestSignOut(t *testing.T) {
	a, store := signedIn(t)
	c, s := a.client(t, &Options{Store: store, Cure: "a2astdio auth login"})
	prompts(t, c)
	forgets(t, s, 1, false)
	must.Equal(t, a.idp.Calls("revoke"), 1)
	refused(t, c, "a2astdio auth login")
	forgets(t, s, 0, false)
	card, _ := c.Card(t.Context())
	must.Get(signIn(t, s, &SignIn{Card: card}, &tester{b: signin.Browser{TLS: a.idp.TLS()}}))(t)
	a.idp.Fail("revoke", signin.Answer(503, ""))
	forgets(t, s, 1, true)
	must.Equal(t, len(must.Get(store.List())(t)), 0)
}

// Signing out ends what a request would find: a token that was given counts beside any
// client, and another client's sign-in does not.
func TestSignOutOfToken(t *testing.T) {
	a, store := newAgent(t, nil), testStore(t)
	_, s := a.client(t, &Options{Store: store, OAuth: OAuth{ClientID: "app"}})
	must.Get(s.StoreToken(t.Context(), &SignIn{}, "hunter2-token"))(t)
	other := aLogin(a.URL, "other")
	other.Provider = nil
	must.Do(t, store.Put(other))
	forgets(t, s, 1, false)
	left := func() (clients []string) {
		for _, l := range must.Get(store.List())(t) {
			clients = append(clients, l.ClientID)
		}
		return clients
	}
	must.Equal(t, left(), []string{"other"})
	must.Equal(t, must.Get(store.Find(a.URL, "app"))(t), nil)
	made := must.Get(s.StoreToken(t.Context(), &SignIn{}, "hunter2-token"))(t)
	must.Equal(t, must.Get(s.Forget(t.Context(), made))(t), nil)
	must.Equal(t, left(), []string{"other"})
}

// A client's secret goes to the provider of that client alone.
func TestSecretOfAnotherClient(t *testing.T) {
	s := New(&Options{OAuth: OAuth{ClientID: "app", Secret: Secret{Value: "hunter2", Name: "secret"}}})
	defer s.Close()
	for client, want := range map[string]string{"app": "hunter2", "other": "", "": ""} {
		must.Equal(t, must.Get(s.secretOf(&Login{ClientID: client}))(t), want, client)
	}
}

// A refusal for want of scopes says how to get them, if they can be typed.
func TestScopes(t *testing.T) {
	a, store := signedIn(t)
	for challenge, want := range map[string]string{
		`Bearer error="insufficient_scope", scope="agent admin"`:       "lacks permissions: sign in with: a2astdio auth login --oauth-scope agent --oauth-scope admin",
		`Bearer error="insufficient_scope", scope="$(rm)"`:             "your account may not do that",
		`Bearer error="insufficient_scope", scope="%A2ASTDIO_HEADER%"`: "your account may not do that",
		`Bearer`: "your account may not do that",
	} {
		a.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/.well-known/") {
				a.ServeHTTP(w, r)
				return
			}
			w.Header().Set("WWW-Authenticate", challenge)
			w.WriteHeader(403)
		})
		c, _ := a.client(t, &Options{Store: store, Cure: "a2astdio auth login"})
		refused(t, c, want)
	}
	must.Equal(t, a.idp.Calls("token"), 1)
}

// A header that the agent refuses would win over a sign-in: none is begun.
func TestSignInBesideHeader(t *testing.T) {
	for _, card := range []string{`"x":1`, `"securitySchemes":{"b":{"type":"http","scheme":"bearer"}},"security":[{"b":[]}]`} {
		a := newAgent(t, nil)
		a.card, a.takes = card, func(*http.Request) bool { return false }
		c, s := a.client(t, &Options{Store: testStore(t), Header: http.Header{"Authorization": {"Bearer hunter2-old"}}})
		refused(t, c)
		known, _ := c.Card(t.Context())
		_, err := signIn(t, s, &SignIn{Card: known}, &tester{secret: "hunter2-new"})
		must.Fail(t, err, "nothing is left to sign in to", card)
	}
}
