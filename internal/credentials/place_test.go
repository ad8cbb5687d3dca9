package credentials

import (
	"cmp"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/idp"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/internal/test/signin"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// cardOf reads a card as the client does.
func cardOf(t *testing.T, security string) *a2a.Card {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"name":"x","url":"/",%s}`, security)
	}))
	defer s.Close()
	c := must.Get(transport.NewClient(s.URL, nil))(t)
	defer c.Close()
	return must.Get(c.Card(t.Context()))(t)
}

const schemes03 = `"securitySchemes":{"bearer":{"type":"http","scheme":"bearer"},"basic":{"type":"http","scheme":"basic"},"other":{"type":"http","scheme":"Custom"},
 "login":{"type":"oauth2","flows":{"clientCredentials":{"tokenUrl":"https://idp.example/token","scopes":{}}}},
 "header":{"type":"apiKey","in":"header","name":"X-Key"},"query":{"type":"apiKey","in":"query","name":"key"},"cookie":{"type":"apiKey","in":"cookie","name":"sid"},
 "cert":{"type":"mutualTLS"}},"security":`

// optionsOf are options by what a user has given: a certificate, the agent's URL or headers.
func optionsOf(has string) *Options {
	o := &Options{Certificate: has == "certificate", Header: http.Header{}}
	for given := range strings.SplitSeq(has, " + ") {
		if name, value, ok := strings.Cut(given, ": "); ok {
			o.Header.Set(name, value)
		} else if strings.HasPrefix(given, "https:") {
			o.Agent = given
		}
	}
	return o
}

// A bare secret goes where the card wants it: in the first alternative that it
// completes, with what else the user has given.
func TestPlaced(t *testing.T) {
	for _, test := range must.Table[struct{ Security, Has, Want, Secret, Authenticate string }](t, "testdata/placed.txt") {
		c := &transport.Challenge{Card: cardOf(t, schemes03+test.Security), Authenticate: []string{test.Authenticate}}
		key, _ := optionsOf(test.Has).placed(cmp.Or(test.Secret, "s3cret"), c)
		must.Equal(t, fmt.Sprintf("%s %s=%s", key.In, key.Name, key.Value), test.Want, test)
	}
	key, _ := (&Options{}).placed("s3cret", &transport.Challenge{})
	must.Equal(t, key.Value, "Bearer s3cret", "without a card")
}

// What is left open of what a card wants.
func TestOpen(t *testing.T) {
	for _, test := range must.Table[struct{ Security, Has, Want string }](t, "testdata/open.txt") {
		must.Equal(t, fmt.Sprint(optionsOf(test.Has).uncoveredLeast(cardOf(t, schemes03+test.Security))), test.Want, test)
	}
}

// A secret goes where the scheme wants it that the user names.
func TestNamedScheme(t *testing.T) {
	const card = `"securitySchemes":{"login":{"type":"oauth2","flows":{"authorizationCode":{"authorizationUrl":"https://a.example","tokenUrl":"https://a.example","scopes":{}}}},
"k":{"type":"apiKey","in":"query","name":"key"},"h":{"type":"apiKey","in":"header","name":"X-Key"},"b":{"type":"http","scheme":"basic"}},"security":[{"login":[]},{"k":[]},{"h":[]},{"b":[]}]`
	for scheme, want := range map[string]string{"": "Bearer hunter2:x||", "login": "Bearer hunter2:x||", "k": "||hunter2:x", "h": "|hunter2:x|", "b": "Basic aHVudGVyMjp4||", "nope": `no scheme "nope": it has`} {
		a := newAgent(t, nil)
		a.card = card
		got := ""
		a.takes = func(r *http.Request) bool {
			got = r.Header.Get("Authorization") + "|" + r.Header.Get("X-Key") + "|" + r.URL.Query().Get("key")
			return true
		}
		store := testStore(t)
		given, _ := a.client(t, &Options{Token: Secret{Value: "hunter2:x", Name: "t"}, Scheme: scheme})
		if err := prompt(t.Context(), given); err != nil {
			got = err.Error()
		}
		must.Has(t, got, want)
		if early := a.count("shown for the card"); early > 0 && scheme != "" {
			t.Errorf("%s: it was shown as a bearer token for the card", scheme)
		}
		s, c := fetch(t, a, &Options{Store: store, Scheme: scheme})
		if _, err := s.StoreToken(t.Context(), &SignIn{Card: c}, "hunter2:x"); err != nil {
			must.Fail(t, err, want)
			continue
		}
		stored, _ := a.client(t, &Options{Store: store})
		prompts(t, stored)
		must.Has(t, got, want)
	}
}

// A token that is given is sent also to an agent whose card wants more: a sign-in would not be used
// beside it, so nobody is told to sign in.
func TestGivenBesideMore(t *testing.T) {
	a := newAgent(t, nil)
	a.card = schemes03 + `[{"header":[],"login":[]}]`
	a.takes = func(r *http.Request) bool { return r.Header.Get("Authorization") == "Bearer hunter2" }
	c, s := a.client(t, &Options{Store: testStore(t), Token: Secret{Value: "hunter2", Name: "t"}})
	card := must.Get(c.Card(t.Context()))(t)
	helps, err := s.Needed(t.Context(), card)
	must.True(t, !helps && err == nil, helps, err)
	prompts(t, c)
}

// A configured issuer without metadata gets the card's endpoints at its own origin; no other one gets
// the client's secret, or the user.
func TestEndpointsOfConfigured(t *testing.T) {
	p := signin.Start(t, &idp.Options{Clients: map[string]idp.Client{"service": {Secret: "hunter2"}}})
	evil := signin.Start(t, nil)
	a := newAgent(t, nil)
	s := New(&Options{Agent: a.URL, OAuth: OAuth{ClientID: "service", Secret: Secret{Value: "hunter2", Name: "secret"}, Issuer: p.Issuer + "/none"}})
	defer s.Close()
	s.http.Transport = both(p, evil)
	flow := func(authorization, token string) *a2a.Card {
		return cardOf(t, `"securitySchemes":{"login":{"type":"oauth2","flows":{"authorizationCode":{"authorizationUrl":"`+authorization+`/authorize","tokenUrl":"`+token+`/token","scopes":{}}}}},"security":[{"login":[]}]`)
	}
	_, err := s.Credential(t.Context(), &transport.Challenge{Card: flow(evil.Issuer, evil.Issuer)})
	must.Fail(t, err, "names no endpoint of it")
	got, err := s.configured(t.Context(), flow(evil.Issuer, p.Issuer))
	must.True(t, err == nil && got.Token == p.Issuer+"/token" && got.Authorization == "", got, err)
	must.Equal(t, evil.Calls("token"), 0)
}
