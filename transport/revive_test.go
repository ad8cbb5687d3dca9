package transport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// A mortal is an agent's process that can end, and be started again at another address.
type mortal struct {
	mu   sync.Mutex
	done chan struct{}
	at   string
}

func (p *mortal) Done() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.done
}

func (p *mortal) Err() error { return errors.New("agent: it died") }

func (p *mortal) Revive() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.done:
		p.done = make(chan struct{})
	default:
	}
}

// client is one of that process's agent, which answers all but the question for its card.
func (p *mortal) client(t *testing.T, answer http.HandlerFunc) *Client {
	p.done, p.at = make(chan struct{}), "http://user:of%20first@first/p"
	network := served(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			fmt.Fprintf(w, `{"name":%q,"url":"http://%[1]s/rpc","protocolVersion":"0.3.0"}`, r.URL.Host)
			return
		}
		answer(w, r)
	})
	return wireClient(t, "", &ClientOptions{RoundTripper: network, Process: p, Header: http.Header{"X-Key": {"k"}},
		Resolve: func(context.Context) (string, error) { return p.at, nil }})
}

// After an agent is started again its address may be another one, and its URL have another password: the card
// is fetched there, and calls and credentials go to the new origin only.
func TestRevive(t *testing.T) {
	var p mortal
	calls := map[string]int{}
	c := p.client(t, func(w http.ResponseWriter, r *http.Request) {
		calls[r.URL.Host]++
		must.Equal(t, r.Header.Get("X-Key"), "k", r.URL.Host)
		_, password, _ := r.BasicAuth()
		must.Equal(t, password, "of "+r.URL.Host)
		wireAnswer(200, "application/json", `{"jsonrpc":"2.0","id":1,"result":{}}`)(w, r)
	})
	call := func(want string) {
		t.Helper()
		card, err := c.Card(t.Context())
		if err != nil || card.Name != want || c.Starting() {
			t.Fatalf("%+v, %v, want %s", card, err, want)
		}
		must.Get(invoke(c, "x", nil))(t)
	}
	must.Equal(t, c.Starting(), true, "before it was reached")
	call("first")
	c.Revive() // it lives
	call("first")

	close(p.done)
	file := must.Get(url.Parse("http://first/file"))(t)
	if _, err := c.File(t.Context(), file); !errors.Is(err, ErrExited) {
		t.Errorf("a file of an agent that has died: %v", err)
	}
	if _, err := invoke(c, "x", nil); !errors.Is(err, ErrExited) {
		t.Errorf("it has died: %v", err)
	}
	p.at = "http://user:of%20second@second/p"
	c.Revive()
	must.Equal(t, c.Starting(), true, "before it was reached again")
	call("second")
	must.Equal(t, calls, map[string]int{"first": 2, "second": 1})
}

// A message that an agent has refused is not sent to where the agent was started again meanwhile.
func TestReviveBetween(t *testing.T) {
	var p mortal
	var c *Client
	var posts []string
	c = p.client(t, func(w http.ResponseWriter, r *http.Request) {
		if posts = append(posts, r.URL.Host); len(posts) == 1 {
			close(p.done)
			p.at = "http://second/p"
			c.Revive()
			must.Get(c.Card(t.Context()))(t)
		}
		http.NotFound(w, r)
	})
	_, err := c.Send(t.Context(), hello())
	must.Equal(t, slices.Contains(posts, "second"), false, posts, err)
}
