package transport

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A wireAgent is an HTTP server whose card names itself. The test gives its answers.
type wireAgent struct {
	*httptest.Server
	mu       sync.Mutex
	requests []http.Header
	closed   atomic.Int32 // connections
	answer   http.HandlerFunc
}

func newWireAgent(t *testing.T, answer http.HandlerFunc) *wireAgent {
	a := &wireAgent{answer: answer}
	a.Server = httptest.NewUnstartedServer(a)
	a.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			a.closed.Add(1)
		}
	}
	a.Start()
	t.Cleanup(a.Close)
	return a
}

func (a *wireAgent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	if r.URL.Path == cardPath {
		fmt.Fprintf(w, `{"name":"Test","url":"%s/rpc","protocolVersion":"0.3.0","capabilities":{"streaming":true}}`, a.URL)
		return
	}
	a.mu.Lock()
	a.requests = append(a.requests, r.Header.Clone())
	a.mu.Unlock()
	a.answer(w, r)
}

func (a *wireAgent) seen() []http.Header {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.requests
}

func wireClient(t *testing.T, agent string, opts *ClientOptions) *Client {
	t.Helper()
	if opts == nil {
		opts = &ClientOptions{}
	}
	c := must.Get(NewClient(agent, opts))(t)
	c.poison = true
	t.Cleanup(func() { c.Close() })
	return c
}

// invoke calls a method that has one answer.
func invoke(c *Client, method string, params any) (json.RawMessage, error) {
	_, raw, err := c.Call(context.Background(), Call{Method: method, Params: params})
	return raw, err
}

func hello() *a2a.Outgoing {
	return &a2a.Outgoing{ID: "m1", Parts: []a2a.OutPart{{Text: "hello"}}}
}

// wireReadAll reads a stream to its end; events are named by kind and state.
func wireReadAll(s *Stream) (events []string, err error) {
	for {
		batch, err := s.Read()
		for i := range batch {
			events = append(events, wireBrief(&batch[i]))
		}
		if err != nil {
			return events, err
		}
	}
}

// wireBrief names an event by its kind and its state.
func wireBrief(ev *a2a.Event) string {
	return strings.TrimSuffix([]string{"unknown", "task", "message", "status", "artifact"}[ev.Kind]+" "+string(ev.State), " ")
}

// wireSSE answers with an event stream.
func wireSSE(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		io.WriteString(w, body)
	}
}

func wireAnswer(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

const (
	sseWorking   = `data: {"jsonrpc":"2.0","id":1,"result":{"kind":"status-update","taskId":"t","status":{"state":"working"}}}` + "\n\n"
	sseCompleted = `data: {"jsonrpc":"2.0","id":1,"result":{"kind":"status-update","taskId":"t","status":{"state":"completed"},"final":true}}` + "\n\n"
)
