package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

func bearer(token string) *Credential {
	return &Credential{Header: http.Header{"Authorization": {"Bearer " + token}}}
}

// What a source returns is sent with each request, also the one for the card, and is in
// no URL that is shown. A header that the user has given overrides it.
func TestCredentialIsCarried(t *testing.T) {
	agent := newWireAgent(t, nil)
	var mu sync.Mutex
	var seen []string
	agent.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		seen = append(seen, fmt.Sprint(r.URL, " ", r.Header.Get("X-Key"), " ", r.Header.Get("X-Mine"), " ", r.Header.Get("Cookie")))
		mu.Unlock()
		agent.ServeHTTP(w, r)
	})
	agent.answer = wireAnswer(500, "text/html", "no")
	opts := &ClientOptions{Header: http.Header{"X-Mine": {"theirs"}, "Cookie": {"a=1"}}}
	opts.Credentials = func(_ context.Context, c *Challenge) (*Credential, error) {
		if c.Status != 0 || c.Refused != nil || (c.Card == nil) != (c.URL.Path == cardPath) {
			t.Errorf("asked with %+v", c)
		}
		return &Credential{
			Header:  http.Header{"X-Key": {"k"}, "x-mine": {"source's"}},
			Query:   url.Values{"api key": {"s3&cret"}},
			Cookies: []*http.Cookie{{Name: "sid", Value: "v"}},
		}, nil
	}
	c := wireClient(t, agent.URL+"?tenant=a", opts)
	err := send(c, t.Context())
	want := []string{
		cardPath + "?tenant=a&api+key=s3%26cret k theirs a=1; sid=v",
		"/rpc?api+key=s3%26cret k theirs a=1; sid=v",
	}
	if fmt.Sprint(seen) != fmt.Sprint(want) || err == nil || strings.Contains(err.Error(), "cret") {
		t.Errorf("%v\n got %q\nwant %q", err, seen, want)
	}
}

// Without verified certificates anybody can pose as the agent: credentials then go only
// to this machine.
func TestInsecureHoldsCredentialsBack(t *testing.T) {
	secure := httptest.NewTLSServer(wireSSE(sseCompleted))
	defer secure.Close()
	to := func(host string) string { return strings.Replace(secure.URL, "127.0.0.1", host, 1) }
	for _, test := range []struct {
		host string
		opts ClientOptions
		ok   bool
	}{
		{host: "127.0.0.1", opts: ClientOptions{Header: http.Header{"Authorization": {"Bearer x"}}}, ok: true},
		{host: "localhost", opts: ClientOptions{Header: http.Header{"Authorization": {"Bearer x"}}}, ok: true},
		{host: "agent.example", opts: ClientOptions{}, ok: true},
		{host: "agent.example", opts: ClientOptions{Header: http.Header{"Authorization": {"Bearer x"}}}},
		{host: "agent.example", opts: ClientOptions{Credentials: func(context.Context, *Challenge) (*Credential, error) { return bearer("x"), nil }}},
		{host: "localhost.agent.example", opts: ClientOptions{Header: http.Header{"Authorization": {"Bearer x"}}}},
	} {
		opts := test.opts
		opts.TLS = &tls.Config{InsecureSkipVerify: true}
		opts.RoundTripper = roundTrip(func(r *http.Request) (*http.Response, error) {
			rec := httptest.NewRecorder()
			wireAnswer(200, "application/json", `{"name":"x","url":"`+to(test.host)+`"}`)(rec, r)
			return rec.Result(), nil
		})
		_, err := wireClient(t, to(test.host), &opts).Card(t.Context())
		if (err == nil) != test.ok || err != nil && !strings.Contains(err.Error(), "--insecure") {
			t.Errorf("%s: %v", test.host, err)
		}
	}
}

// A certificate of an unknown authority is refused unless the user names the authority.
// TLS before 1.2 is refused.
func TestTLS(t *testing.T) {
	agent := &wireAgent{card: `{"name":"Test","url":"%s/rpc"}`, answer: wireSSE(sseCompleted)}
	server := httptest.NewUnstartedServer(agent)
	server.TLS = &tls.Config{MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	agent.Server = server
	c := wireClient(t, server.URL, &ClientOptions{TLS: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10}})
	if _, err := c.Card(t.Context()); err == nil {
		t.Error("TLS 1.1 was spoken")
	}
	var e *a2a.Error
	if _, err := wireClient(t, server.URL, nil).Card(t.Context()); err == nil || errors.As(err, &e) {
		t.Errorf("got %v", err)
	}
}
