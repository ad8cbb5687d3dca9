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

// Nothing is sent to another origin that the card names, unless it is trusted; then the
// credentials go there, too.
func TestCardLeadsElsewhere(t *testing.T) {
	elsewhere := newWireAgent(t, wireSSE(sseCompleted))
	agent := newWireAgent(t, wireSSE(sseCompleted))
	agent.card = `{"name":"Test","url":"` + elsewhere.URL + `/rpc"}`
	header := http.Header{"Authorization": {"Bearer x"}}
	c := wireClient(t, agent.URL, &ClientOptions{Header: header})
	if card, err := c.Card(t.Context()); err != nil || card.Name != "Test" {
		t.Error("the card itself can be looked at:", err)
	}
	if err := send(c, t.Context()); !errors.Is(err, ErrOrigin) || !strings.Contains(err.Error(), "--trust-origin "+elsewhere.URL) {
		t.Errorf("got %v", err)
	}
	if len(elsewhere.seen()) != 0 {
		t.Error("sent")
	}
	c = wireClient(t, agent.URL, &ClientOptions{Header: header, TrustOrigins: []string{elsewhere.URL}})
	if err := send(c, t.Context()); err == nil || err.Error() != "EOF" || elsewhere.seen()[0].Header.Get("Authorization") != "Bearer x" {
		t.Errorf("got %v", err)
	}
}

func TestRedirects(t *testing.T) {
	elsewhere := newWireAgent(t, wireSSE(sseCompleted))
	for _, test := range []struct {
		name, to string
		status   int
		trust    bool
		ok       bool
	}{
		{name: "307 within", to: "/rpc2", status: 307, ok: true},
		{name: "308 within", to: "/rpc2", status: 308, ok: true},
		{name: "301 forgets the message", to: "/rpc2", status: 301},
		{name: "303 forgets the message", to: "/rpc2", status: 303},
		{name: "307 elsewhere", to: elsewhere.URL, status: 307},
		{name: "307 to a trusted origin", to: elsewhere.URL, status: 307, trust: true, ok: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := len(elsewhere.seen())
			agent := newWireAgent(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/rpc" {
					http.Redirect(w, r, test.to, test.status)
					return
				}
				wireSSE(sseCompleted)(w, r)
			})
			opts := &ClientOptions{Header: http.Header{"Authorization": {"Bearer x"}}}
			if test.trust {
				opts.TrustOrigins = []string{elsewhere.URL}
			}
			err := send(wireClient(t, agent.URL, opts), t.Context())
			if (err.Error() == "EOF") != test.ok {
				t.Errorf("got %v", err)
			}
			if test.to == elsewhere.URL && !test.ok && (!errors.Is(err, ErrOrigin) || len(elsewhere.seen()) != before) {
				t.Errorf("got %v; %d requests elsewhere", err, len(elsewhere.seen())-before)
			}
			requests := append(agent.seen(), elsewhere.seen()[before:]...)
			if last := requests[len(requests)-1]; test.ok && (last.Method != "message/stream" || last.Header.Get("Authorization") != "Bearer x") {
				t.Errorf("arrived as %+v", last)
			}
		})
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
