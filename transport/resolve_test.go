package transport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// A lifeProcess is an agent's process that can be ended and started again.
type lifeProcess struct {
	mu   sync.Mutex
	done chan struct{}
}

func (p *lifeProcess) Done() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.done
}
func (p *lifeProcess) Err() error { return errors.New("agent: it died") }
func (p *lifeProcess) Revive() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.done:
		p.done = make(chan struct{})
	default:
	}
}

// After an agent is started again its address may be another one: the card is fetched
// there, and calls and credentials go to the new origin only.
func TestRevive(t *testing.T) {
	calls := map[string]int{}
	serve := func(name string) *httptest.Server {
		return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			calls[name]++
			if r.Header.Get("X-Key") != "k" {
				t.Errorf("%s was asked without the header", name)
			}
			if r.Method == http.MethodGet {
				fmt.Fprintf(w, `{"name":%q,"url":"http://%s/","protocolVersion":"0.3.0"}`, name, r.Host)
				return
			}
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		}))
	}
	first, second := serve("first"), serve("second")
	defer second.Close()
	at := first.URL
	p := &lifeProcess{done: make(chan struct{})}
	c := wireClient(t, "", &ClientOptions{Process: p, Header: http.Header{"X-Key": {"k"}}, Resolve: func(context.Context) (string, error) { return at, nil }})
	call := func(want string) {
		t.Helper()
		card, err := c.Card(t.Context())
		if err != nil || card.Name != want || c.Starting() {
			t.Fatalf("%+v, %v, want %s", card, err, want)
		}
		must.Get(invoke(c, "x", nil))(t)
	}
	if !c.Starting() {
		t.Error("it was not reached yet")
	}
	call("first")
	c.Revive() // it lives
	call("first")

	close(p.done)
	file := must.Get(url.Parse(first.URL + "/file"))(t)
	if _, err := c.File(t.Context(), file); !errors.Is(err, ErrExited) || calls["first"] != 3 {
		t.Errorf("a file of an agent that has died: %v, %v", err, calls)
	}
	first.Close()
	if _, err := invoke(c, "x", nil); !errors.Is(err, ErrExited) {
		t.Errorf("it has died: %v", err)
	}
	at = second.URL
	c.Revive()
	if !c.Starting() {
		t.Error("it was not reached again yet")
	}
	call("second")
	if calls["first"] != 3 || calls["second"] != 2 {
		t.Errorf("calls: %v", calls)
	}
}
