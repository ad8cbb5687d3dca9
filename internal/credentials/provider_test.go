package credentials

import (
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/idp"
	"github.com/a2astdio/a2astdio/internal/test/signin"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A configured issuer without metadata gets the card's endpoints at its own origin; no other one gets
// the client's secret, or the user.
func TestEndpointsOfConfigured(t *testing.T) {
	p := signin.Start(t, &idp.Options{Clients: map[string]idp.Client{"service": {Secret: "hunter2"}}})
	evil := signin.Start(t, nil)
	a := newAgent(t, nil)
	s := New(&Options{Agent: a.URL, OAuth: OAuth{ClientID: "service", Secret: Secret{Value: "hunter2", Name: "secret"}, Issuer: p.Issuer + "/none"}})
	defer s.Close()
	s.http.Transport = both(t, p, evil)
	flow := func(authorization, token string) *a2a.Card {
		return cardOf(t, `"securitySchemes":{"login":{"type":"oauth2","flows":{"authorizationCode":{"authorizationUrl":"`+authorization+`/authorize","tokenUrl":"`+token+`/token","scopes":{}}}}},"security":[{"login":[]}]`)
	}
	if _, err := s.Credential(t.Context(), &transport.Challenge{Card: flow(evil.Issuer, evil.Issuer)}); err == nil || !strings.Contains(err.Error(), "names no endpoint of it") {
		t.Errorf("an endpoint elsewhere: %v", err)
	}
	if got, err := s.configured(t.Context(), flow(evil.Issuer, p.Issuer)); err != nil || got.Token != p.Issuer+"/token" || got.Authorization != "" {
		t.Errorf("%+v, %v", got, err)
	}
	if n := evil.Calls("token"); n != 0 {
		t.Errorf("%d requests for tokens elsewhere", n)
	}
}
