package transport

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

func TestOriginCheck(t *testing.T) {
	for _, test := range must.Table[struct{ Agent, To, Trust, Want string }](t, "testdata/origin.txt") {
		o, err := newOrigins(strings.Fields(test.Trust))
		must.Do(t, err)
		agent, _ := url.Parse(test.Agent)
		to, _ := url.Parse(test.To)
		o.own.Store(agent)
		err = o.check(to, "its card leads to")
		if test.Want == "" && err != nil || test.Want != "" && (!errors.Is(err, ErrOrigin) || !strings.Contains(err.Error(), test.Want) || strings.Contains(err.Error(), "s3cret")) {
			t.Errorf("%s to %s: %v", test.Agent, test.To, err)
		}
	}
}

// A card that names the agent's own machine, as only the agent sees it, is called where it was reached.
func TestCardNamesItself(t *testing.T) {
	for _, test := range must.Table[struct{ Own, Names, Want string }](t, "testdata/names-itself.txt") {
		o, _ := newOrigins(nil)
		own, _ := url.Parse(test.Own)
		o.own.Store(own)
		if u, _ := url.Parse(test.Names); o.sameSpelling(u).String() != test.Want {
			t.Errorf("%s, at %s: %s", test.Names, test.Own, o.sameSpelling(u))
		}
	}
}

// If a proxy does not connect to the agent, the error names the proxy.
func TestProxyAtFault(t *testing.T) {
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusProxyAuthRequired)
	}))
	defer refuses.Close()
	gone := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	gone.Close()
	for _, test := range []struct{ agent, proxy, want string }{
		{"https://agent.invalid", refuses.URL, "agent: the proxy on the way to agent.invalid:443 answered 407 Proxy Authentication Required: " + cureProxy},
		{"https://agent.invalid", "http://" + gone.Addr().String(), "agent: https://agent.invalid/.well-known/agent-card.json: the proxy on the way: connection refused: " + cureProxy},
		{"http://agent.invalid", "http://" + gone.Addr().String(), "agent: http://agent.invalid/.well-known/agent-card.json: the proxy on the way: connection refused: " + cureProxy},
		{"http://agent.invalid", "https" + strings.TrimPrefix(refuses.URL, "http"), "agent: http://agent.invalid/.well-known/agent-card.json: the proxy on the way: it does not speak TLS: " + cureProxy},
		{"http://agent.invalid", refuses.URL, "agent: HTTP 407: the proxy on the way to http://agent.invalid/.well-known/agent-card.json wants credentials: " + cureProxy},
	} {
		c, err := NewClient(test.agent, &ClientOptions{})
		must.Do(t, err)
		proxy := must.Get(url.Parse(test.proxy))(t)
		c.own.Proxy = http.ProxyURL(proxy)
		_, err = c.Card(t.Context())
		if err == nil || err.Error() != test.want {
			t.Errorf("%s by %s: %v\nwant %s", test.agent, test.proxy, err, test.want)
		}
		if !errors.Is(err, ErrUnreachable) && !strings.Contains(test.want, "HTTP 407") {
			t.Errorf("%v is not ErrUnreachable", err)
		}
		c.Close()
	}
}
