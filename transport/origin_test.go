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
	for _, test := range []struct {
		agent, to string
		trust     []string
		want      string // what the error holds; "" is none
	}{
		{agent: "http://localhost:8080", to: "http://localhost:8080/rpc"},
		{agent: "http://localhost:8080", to: "http://127.0.0.1:8080/rpc"},
		{agent: "http://127.0.0.1:8080", to: "http://[::1]:8080/"},
		{agent: "http://127.0.0.1:8080", to: "http://0.0.0.0:8080/"},
		{agent: "http://LOCALHOST:80", to: "HTTP://localhost/"},
		{agent: "https://a.example", to: "https://A.example:443/x"},
		{agent: "http://127.0.0.1:8080", to: "http://127.0.0.2:8080/", want: "--trust-origin http://127.0.0.2:8080"},
		{agent: "http://localhost:8080", to: "http://localhost:8081/", want: "--trust-origin http://localhost:8081"},
		{agent: "https://a.example", to: "http://a.example/", want: "unencrypted"},
		{agent: "https://a.example", to: "http://a.example:443/", want: "unencrypted"},
		{agent: "http://a.example", to: "https://a.example/", want: "--trust-origin https://a.example"},
		{agent: "https://a.example", to: "https://b.a.example/", want: "https://b.a.example/"},
		{agent: "https://a.example", to: "https://a.example.evil.example/?token=s3cret", want: "https://a.example.evil.example/?…"},
		{agent: "https://a.example", to: "https://a.example@evil.example/", want: "https://evil.example/"},
		{agent: "https://a.example", to: "file:///etc/passwd", want: "no http or https URL"},
		{agent: "https://a.example", to: "https://b.example/x", trust: []string{"https://b.example/"}},
		{agent: "https://a.example", to: "https://b.example:8443/x", trust: []string{"https://b.example"}, want: "--trust-origin"},
		{agent: "https://a.example", to: "http://b.example", trust: []string{"http://b.example:80"}},
	} {
		o, err := newOrigins(test.trust)
		if err != nil {
			t.Fatal(err)
		}
		agent, _ := url.Parse(test.agent)
		to, _ := url.Parse(test.to)
		o.own.Store(agent)
		err = o.check(to, "its card leads to")
		if test.want == "" && err != nil || test.want != "" && (!errors.Is(err, ErrOrigin) || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "s3cret")) {
			t.Errorf("%s to %s: %v", test.agent, test.to, err)
		}
	}
}

// A card that names the agent's own machine, as only the agent sees it, is called where it was reached.
func TestCardNamesItself(t *testing.T) {
	for _, test := range []struct{ own, names, want string }{
		{"http://127.0.0.1:8000", "http://0.0.0.0:9999/x", "http://127.0.0.1:8000/x"},
		{"https://a.example", "http://localhost:9999/x", "https://a.example/x"},
		{"http://127.0.0.1:8000", "http://localhost:8000/x", "http://127.0.0.1:8000/x"},
		{"http://127.0.0.1:8000", "http://localhost:9999/x", "http://localhost:9999/x"}, // it may be another agent
		{"https://a.example", "http://b.example/x", "http://b.example/x"},
		{"https://a.example", "http://localhost@b.example/x", "http://localhost@b.example/x"},
		{"https://a.example", "http://192.168.1.1/x", "http://192.168.1.1/x"},
		{"http://a.example", "https://localhost:8443/x", "https://localhost:8443/x"}, // encryption is not dropped
	} {
		o, _ := newOrigins(nil)
		own, _ := url.Parse(test.own)
		o.own.Store(own)
		if u, _ := url.Parse(test.names); o.sameSpelling(u).String() != test.want {
			t.Errorf("%s, at %s: %s", test.names, test.own, o.sameSpelling(u))
		}
	}
}

// A trusted origin gets nothing unencrypted if the card came encrypted.
func TestRedirectDropsEncryption(t *testing.T) {
	o, _ := newOrigins([]string{"http://a.example"})
	u, _ := url.Parse("https://a.example/")
	o.own.Store(u)
	to, _ := url.Parse("http://a.example/")
	err := o.checkRedirect(&http.Request{Method: "POST", URL: to}, []*http.Request{{Method: "POST", URL: u}})
	if !errors.Is(err, ErrOrigin) {
		t.Errorf("got %v", err)
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
		if err != nil {
			t.Fatal(err)
		}
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
