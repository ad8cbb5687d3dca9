package transport

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

func TestStreamContext(t *testing.T) {
	agent := newWireAgent(t, func(w http.ResponseWriter, r *http.Request) {
		wireSSE(sseWorking)(w, r)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	for name, end := range map[string]func(*Stream, context.CancelFunc, *Client){
		"cancel":       func(_ *Stream, cancel context.CancelFunc, _ *Client) { cancel() },
		"close":        func(s *Stream, _ context.CancelFunc, _ *Client) { s.Close() },
		"close client": func(_ *Stream, _ context.CancelFunc, c *Client) { c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			c := wireClient(t, agent.URL, nil)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s, err := c.Send(ctx, hello())
			must.Do(t, err)
			time.AfterFunc(20*time.Millisecond, func() { end(s, cancel, c) })
			_, err = wireReadAll(s)
			want := ErrEnded
			if name == "cancel" {
				want = context.Canceled
			}
			if !errors.Is(err, want) || errors.Is(err, ErrInterrupted) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// No secret gets into an error or into the log.
func TestSecrets(t *testing.T) {
	var log strings.Builder
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	addr := l.Addr().String()
	l.Close()
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	for _, agent := range []string{
		"http://user:s3cret@" + addr + "/?key=s3cret",
		"http://s3cret@no-such-host.invalid/card.json?key=s3cret",
		"ftp://s3cret@host/?s3cret",
		"s3cret@host?s3cret",
	} {
		c, err := NewClient(agent, &ClientOptions{Log: logger})
		if err == nil {
			_, err = c.Card(t.Context())
			c.Close()
		}
		if err == nil || strings.Contains(err.Error(), "s3cret") || !strings.HasPrefix(err.Error(), "agent: ") ||
			errors.Is(err, ErrUnreachable) != strings.HasPrefix(agent, "http:") {
			t.Errorf("%v", err)
		}
	}
	if strings.Contains(log.String(), "s3cret") || log.Len() == 0 {
		t.Errorf("log: %s", log.String())
	}
}

func TestCardFile(t *testing.T) {
	agent := newWireAgent(t, wireSSE(sseCompleted))
	file := filepath.Join(t.TempDir(), "a card.json")
	card := fmt.Sprintf(`{"name":"Filed","url":"%s/rpc"}`, agent.URL)
	must.Do(t, os.WriteFile(file, []byte("\uFEFF"+card), 0o666))
	for _, name := range []string{file, "file://" + filepath.ToSlash(file), "file://" + strings.ReplaceAll(filepath.ToSlash(file), " ", "%20")} {
		c := wireClient(t, name, &ClientOptions{Header: http.Header{"Authorization": {"x"}}})
		if _, err := c.Send(t.Context(), hello()); err != nil {
			t.Error(err)
		}
	}
	if h := agent.seen()[0].Header; h.Get("Authorization") != "x" || h.Get("Accept-Encoding") != "" { // a stream is not compressed
		t.Errorf("%v", h)
	}
	if _, err := wireClient(t, file+".json", nil).Card(t.Context()); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestMessageOptions: the largest message, and the media types of answers, are the
// user's; a message's own media types come first.
func TestMessageOptions(t *testing.T) {
	media := "application/json"
	agent := newWireAgent(t, func(w http.ResponseWriter, r *http.Request) {
		answer := `{"jsonrpc":"2.0","id":1,"result":{"kind":"message","messageId":"m","role":"agent","parts":[{"kind":"text","text":"` + strings.Repeat("x", 1<<20) + `"}]}}`
		if media == "text/event-stream" {
			answer = "data: " + answer + "\n\n"
		}
		wireAnswer(200, media, answer)(w, r)
	})
	c := wireClient(t, agent.URL, &ClientOptions{MaxMessage: 1, AcceptedOutputModes: []string{"text/plain"}})
	m := hello()
	for _, media = range []string{"application/json", "application/json", "text/event-stream"} {
		_, err := c.SendOnce(t.Context(), m, true)
		must.Fail(t, err, "more than 1 MiB, which is the limit (--max-message)")
		must.Equal(t, errors.Is(err, ErrTooLarge), true)
		m.AcceptedOutputModes = []string{"image/png"}
	}
	var sent []string
	for _, r := range agent.seen() {
		sent = append(sent, gjson.Get(r.Body, "params.configuration.acceptedOutputModes").Raw)
	}
	must.Equal(t, sent, []string{`["text/plain"]`, `["image/png"]`, `["image/png"]`})
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

// After an agent is started again its address may be another one, and its URL have another password: the card
// is fetched there, and calls and credentials go to the new origin only.
func TestRevive(t *testing.T) {
	calls := map[string]int{}
	network := roundTrip(func(r *http.Request) (*http.Response, error) {
		calls[r.URL.Host]++
		must.Equal(t, r.Header.Get("X-Key"), "k", r.URL.Host)
		_, password, _ := r.BasicAuth()
		must.Equal(t, password, "of "+r.URL.Host)
		answer := `{"jsonrpc":"2.0","id":1,"result":{}}`
		if r.Method == http.MethodGet {
			answer = fmt.Sprintf(`{"name":%q,"url":"http://%[1]s/","protocolVersion":"0.3.0"}`, r.URL.Host)
		}
		w := httptest.NewRecorder()
		wireAnswer(200, "application/json", answer)(w, r)
		return w.Result(), nil
	})
	at := "http://user:of%20first@first"
	p := &lifeProcess{done: make(chan struct{})}
	c := wireClient(t, "", &ClientOptions{RoundTripper: network, Process: p, Header: http.Header{"X-Key": {"k"}}, Resolve: func(context.Context) (string, error) { return at, nil }})
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
	file := must.Get(url.Parse("http://first/file"))(t)
	if _, err := c.File(t.Context(), file); !errors.Is(err, ErrExited) || calls["first"] != 3 {
		t.Errorf("a file of an agent that has died: %v, %v", err, calls)
	}
	if _, err := invoke(c, "x", nil); !errors.Is(err, ErrExited) {
		t.Errorf("it has died: %v", err)
	}
	at = "http://user:of%20second@second"
	c.Revive()
	if !c.Starting() {
		t.Error("it was not reached again yet")
	}
	call("second")
	must.Equal(t, calls, map[string]int{"first": 3, "second": 2})
}

// A message that an agent has refused is not sent to where the agent was started again meanwhile.
func TestReviveBetween(t *testing.T) {
	p := &lifeProcess{done: make(chan struct{})}
	at := "http://first/p"
	var c *Client
	var posts []string
	network := roundTrip(func(r *http.Request) (*http.Response, error) {
		status, answer := 404, ""
		if r.Method == http.MethodGet {
			status, answer = 200, fmt.Sprintf(`{"name":"a","url":"http://%s/rpc","protocolVersion":"0.3.0"}`, r.URL.Host)
		} else if posts = append(posts, r.URL.Host); len(posts) == 1 {
			close(p.done)
			at = "http://second/p"
			c.Revive()
			must.Get(c.Card(t.Context()))(t)
		}
		w := httptest.NewRecorder()
		wireAnswer(status, "application/json", answer)(w, r)
		return w.Result(), nil
	})
	c = wireClient(t, "", &ClientOptions{RoundTripper: network, Process: p, Resolve: func(context.Context) (string, error) { return at, nil }})
	_, err := c.Send(t.Context(), &a2a.Outgoing{ID: "m", Parts: []a2a.OutPart{{Text: "x"}}})
	must.Equal(t, slices.Contains(posts, "second"), false, posts, err)
}
