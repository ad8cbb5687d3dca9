package transport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestResolve(t *testing.T) {
	agent := newWireAgent(t, func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte(`{"jsonrpc":"2.0","id":1,"result":{"ok":true}}`))
	})
	var calls atomic.Int32
	c := wireClient(t, "", &ClientOptions{Resolve: func(context.Context) (string, error) {
		if calls.Add(1) == 1 {
			return "", errors.New(`agent: "npx …" ended with status 1`)
		}
		return strings.Replace(agent.URL, "://", "://user:secret@", 1), nil
	}})
	if calls.Load() != 0 {
		t.Error("it was asked before anybody wanted the card")
	}

	_, err := c.Card(t.Context())
	if !errors.Is(err, ErrUnreachable) || err.Error() != `agent: "npx …" ended with status 1` {
		t.Errorf("err = %v", err)
	}
	// An error is not remembered; an answer is, for all callers.
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := invoke(c, "x", nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	c.ForgetCard()
	if _, err := c.Card(t.Context()); err != nil {
		t.Error(err)
	}
	if n := calls.Load(); n != 2 {
		t.Errorf("it was asked %d times", n)
	}
	// As with NewClient: the URL's password is a header.
	for _, r := range agent.seen() {
		if user, password, ok := (&http.Request{Header: r.Header}).BasicAuth(); !ok || user != "user" || password != "secret" {
			t.Errorf("Authorization: %q", r.Header.Get("Authorization"))
		}
	}
}

// A caller may stop waiting; the work goes on until the client is closed.
func TestResolveEnds(t *testing.T) { synctest.Test(t, testResolveEnds) }

func testResolveEnds(t *testing.T) {
	began := make(chan struct{})
	c := wireClient(t, "", &ClientOptions{Resolve: func(ctx context.Context) (string, error) {
		close(began)
		<-ctx.Done()
		return "", ctx.Err()
	}})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := c.Card(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("err = %v", err)
	}
	<-began
	got := make(chan error, 1)
	go func() { // ends with the client
		_, err := c.Card(t.Context())
		got <- err
	}()
	synctest.Wait() // it waits
	c.Close()
	if err := <-got; !errors.Is(err, ErrEnded) {
		t.Errorf("err = %v", err)
	}
}

// After the agent's process has ended nothing is sent. Calls under way fail with that
// error, even if the connection broke before the end of the process was known.
func TestProcess(t *testing.T) {
	p := &lifeProcess{done: make(chan struct{})}
	asked := 0
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			fmt.Fprintf(w, `{"name":"x","url":"http://%s/","protocolVersion":"0.3.0"}`, r.Host)
			return
		}
		asked++
		time.AfterFunc(10*time.Millisecond, func() { close(p.done) })
		panic(http.ErrAbortHandler) // breaks the connection
	}))
	defer agent.Close()
	c := wireClient(t, agent.URL, &ClientOptions{Process: p})
	for _, at := range []string{"under way", "afterwards"} {
		_, err := invoke(c, "x", nil)
		if !errors.Is(err, ErrExited) || err.Error() != "agent: it died" {
			t.Errorf("%s: err = %v", at, err)
		}
		if delivered := errors.Is(err, ErrPossiblyDelivered); delivered != (at == "under way") || delivered == errors.Is(err, ErrUnreachable) {
			t.Errorf("%s: what it wraps is wrong: %#v", at, err)
		}
	}
	if asked != 1 {
		t.Errorf("the agent was asked %d times", asked)
	}
}

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
		if _, err := invoke(c, "x", nil); err != nil {
			t.Fatal(err)
		}
	}
	if !c.Starting() {
		t.Error("it was not reached yet")
	}
	call("first")
	c.Revive() // it lives
	call("first")

	first.Close()
	close(p.done)
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
