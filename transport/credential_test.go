package transport

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

func bearer(token string) *Credential {
	return &Credential{Header: http.Header{"Authorization": {"Bearer " + token}}}
}

// credential notes what a source is asked with.
func (x *played) credential(at *Challenge, one, two string) (*Credential, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	note := "(for a token"
	if at.Status != 0 {
		note += fmt.Sprint(" behind a ", at.Status, " of ", at.Refused.Header.Get("Authorization"), ", ", at.Authenticate)
		one = two
	}
	if at.Card != nil {
		note += " by the card of " + at.Card.Name
		for _, s := range at.Card.Schemes {
			note += " with " + s.Name
		}
	}
	if x.asked = append(x.asked, note+")"); one == "" {
		return nil, nil
	}
	if strings.HasPrefix(one, "{") {
		whole := new(Credential)
		return whole, json.Unmarshal([]byte(one), whole)
	}
	if cure, ok := strings.CutPrefix(one, "!"); ok {
		return nil, errors.New(cure)
	}
	return bearer(one), nil
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
