package transport

import (
	"context"
	"errors"
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
