package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// After a card is refused, the agent gets no other request, and no secret.
func TestCardIsRefused(t *testing.T) {
	var seen []string
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Method+" "+r.Header.Get("Authorization"))
		if v := r.Header.Get("A2A-Version"); v != "1.0" {
			t.Errorf("the card was asked for in A2A %q", v)
		}
		_, _ = io.WriteString(w, `{"name":"served","url":"/evil"}`)
	}))
	defer agent.Close()
	path := filepath.Join(t.TempDir(), "card.json")
	must.Do(t, os.WriteFile(path, []byte(`{"name":"N","url":"`+agent.URL+`"}`), 0o600))
	refusal := errors.New("not signed")
	for _, at := range []string{agent.URL, path} {
		seen = nil
		c := wireClient(t, at, &ClientOptions{
			Header:    http.Header{"Authorization": {"Bearer secret"}},
			BareCard:  true,
			CheckCard: func(context.Context, []byte) ([]byte, error) { return nil, refusal },
		})
		err := send(c, t.Context())
		if !errors.Is(err, refusal) || err.Error() != "agent: not signed" {
			t.Errorf("%s: %v", at, err)
		}
		if got := strings.Join(seen, ", "); strings.Contains(got, "secret") || strings.Contains(got, "POST") {
			t.Errorf("the agent got %s", got)
		}
	}
}

// An agent that wants credentials for its card does not get them.
func TestCheckedCardNeedsCredentials(t *testing.T) {
	server := httptest.NewServer(wireAnswer(401, "application/json", `{}`))
	defer server.Close()
	c := wireClient(t, server.URL, &ClientOptions{BareCard: true,
		CheckCard: func(_ context.Context, card []byte) ([]byte, error) { return card, nil }})
	_, err := c.Card(t.Context())
	var e *a2a.Error
	if !errors.As(err, &e) || !e.Unauthenticated() || !strings.Contains(err.Error(), "save the card as a file") {
		t.Errorf("got %v", err)
	}
}

// A card is checked as it came, from a file as from the agent: what is no text is made one
// afterwards.
func TestCardIsCheckedAsItCame(t *testing.T) {
	const raw = `{"name":"\ud800` + "\xff" + `","url":"http://127.0.0.1:1/"}`
	server := httptest.NewServer(wireAnswer(200, "application/json", raw))
	defer server.Close()
	path := filepath.Join(t.TempDir(), "card.json")
	must.Do(t, os.WriteFile(path, []byte(raw), 0o600))
	for _, at := range []string{server.URL, path} {
		c := wireClient(t, at, &ClientOptions{CheckCard: func(_ context.Context, card []byte) ([]byte, error) {
			if string(card) != raw {
				t.Errorf("%s: %q is checked", at, card)
			}
			return card, nil
		}})
		if card, err := c.Card(t.Context()); err != nil || card.Name != "\uFFFD\uFFFD" {
			t.Errorf("%s: %+v, %v", at, card, err)
		}
	}
}

// The extended card is fetched only with credentials, and replaces the public one for all
// choices. But it cannot lead to another origin, not even to a trusted one.
func TestExtendedCardIsUsed(t *testing.T) {
	elsewhere := newWireAgent(t, wireSSE(sseCompleted))
	const has = `,"supportsAuthenticatedExtendedCard":true`
	for _, test := range []struct {
		name, extended string
		public         string
		file           bool // the public card is one
		header         http.Header
		source         *Credential
		want           string // the card's name
		asked          int    // for it
		path           string // where the message goes
	}{
		{name: "used", public: has, extended: `{"name":"Extended","url":"URL/inner","protocolVersion":"0.3.0"}`, header: http.Header{"X-Key": {"k"}}, want: "Extended", asked: 1, path: "/inner"},
		{name: "with a source", public: has, extended: `{"name":"Extended","url":"/inner"}`, source: bearer("t"), want: "Extended", asked: 1, path: "/inner"},
		{name: "nobody to be", public: has, extended: `{"name":"Extended","url":"URL/inner"}`, want: "Test", path: "/rpc"},
		{name: "not offered", extended: `{"name":"Extended","url":"URL/inner"}`, source: bearer("t"), want: "Test", path: "/rpc"},
		{name: "refused", public: has, source: bearer("t"), want: "Test", asked: 1, path: "/rpc"},
		{name: "elsewhere", public: has, extended: `{"name":"Extended","url":"` + elsewhere.URL + `/inner"}`, source: bearer("t"), want: "Test", asked: 1, path: "/rpc"},
		{name: "a file's, elsewhere", file: true, public: has, extended: `{"name":"Extended","url":"` + elsewhere.URL + `/inner"}`, source: bearer("t"), want: "Test", asked: 1, path: "/rpc"},
		{name: "no way to call it", public: has, extended: `{"name":"Extended"}`, source: bearer("t"), want: "Test", asked: 1, path: "/rpc"},
		{name: "no card", public: has, extended: `[]`, source: bearer("t"), want: "Test", asked: 1, path: "/rpc"},
	} {
		t.Run(test.name, func(t *testing.T) {
			agent := newWireAgent(t, nil)
			agent.card = `{"name":"Test","url":"%s/rpc","protocolVersion":"0.3.0"` + test.public + `}`
			agent.answer = func(w http.ResponseWriter, r *http.Request) {
				last := agent.seen()[len(agent.seen())-1]
				switch {
				case last.Method == "message/stream":
					w.Header().Set("X-Path", r.URL.Path)
					wireSSE(sseCompleted)(w, r)
				case test.extended == "":
					wireAnswer(200, "application/json", `{"error":{"code":-32007,"message":"none"}}`)(w, r)
				default:
					io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":`+strings.ReplaceAll(test.extended, "URL", agent.URL)+`}`)
				}
			}
			opts := &ClientOptions{Header: test.header, TrustOrigins: []string{elsewhere.URL}}
			if test.source != nil {
				opts.Credentials = func(context.Context, *Challenge) (*Credential, error) { return test.source, nil }
			}
			at := agent.URL
			if test.file {
				at = filepath.Join(t.TempDir(), "card.json")
				must.Do(t, os.WriteFile(at, fmt.Appendf(nil, agent.card, agent.URL), 0o600))
			}
			c := wireClient(t, at, opts)
			card, err := c.Card(t.Context())
			public, publicErr := c.PublicCard(t.Context())
			if err != nil || card.Name != test.want || card.Extended != (test.want == "Extended") || publicErr != nil || public.Name != "Test" {
				t.Fatalf("card %+v, public %+v, %v %v", card, public, err, publicErr)
			}
			if how, err := c.Chosen(t.Context()); err != nil || how.At.URL != agent.URL+test.path {
				t.Errorf("called at %v, %v", how.At, err)
			}
			if err := send(c, t.Context()); err.Error() != "EOF" {
				t.Error(err)
			}
			methods := []string{}
			for _, r := range agent.seen() {
				methods = append(methods, r.Method)
			}
			if n := strings.Count(fmt.Sprint(methods), "agent/getAuthenticatedExtendedCard"); n != test.asked || len(elsewhere.seen()) != 0 {
				t.Errorf("%v; %d elsewhere", methods, len(elsewhere.seen()))
			}
			// The user may have changed: both cards are fetched again.
			c.ForgetCard()
			if again, err := c.Card(t.Context()); err != nil || again.Name != test.want {
				t.Errorf("%+v, %v", again, err)
			}
			if test.asked > 0 && len(agent.seen()) != len(methods)+1 {
				t.Errorf("asked %d times more", len(agent.seen())-len(methods))
			}
		})
	}
}
