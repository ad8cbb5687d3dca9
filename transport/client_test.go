package transport

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
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
	requests []wireRequest
	closed   atomic.Int32 // connections
	// card is a format of the server's URL; if it is empty, there is no card.
	card   string
	answer http.HandlerFunc
}

type wireRequest struct {
	Method string
	Header http.Header
	Body   string
}

func newWireAgent(t *testing.T, answer http.HandlerFunc) *wireAgent {
	a := &wireAgent{answer: answer, card: `{"name":"Test","url":"%s/rpc","protocolVersion":"0.3.0","capabilities":{"streaming":true}}`}
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
	body, _ := io.ReadAll(r.Body)
	if r.URL.Path == cardPath {
		if a.card == "" {
			http.NotFound(w, r)
			return
		}
		card := a.card
		if strings.Contains(card, "%") {
			card = fmt.Sprintf(card, a.URL)
		}
		io.WriteString(w, card)
		return
	}
	if r.URL.Path == oldCardPath {
		http.NotFound(w, r)
		return
	}
	var call struct{ Method string }
	_ = json.Unmarshal(body, &call)
	a.mu.Lock()
	a.requests = append(a.requests, wireRequest{call.Method, r.Header.Clone(), string(body)})
	a.mu.Unlock()
	a.answer(w, r)
}

func (a *wireAgent) seen() []wireRequest {
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

func wireAnswer(status int, contentType, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

const (
	sseWorking   = `data: {"jsonrpc":"2.0","id":1,"result":{"kind":"status-update","taskId":"t","status":{"state":"working"}}}` + "\n\n"
	sseCompleted = `data: {"jsonrpc":"2.0","id":1,"result":{"kind":"status-update","taskId":"t","status":{"state":"completed"},"final":true}}` + "\n\n"
)

// Events that are no longer valid are overwritten here; their clones are not.
func TestPoison(t *testing.T) {
	next := make(chan bool)
	agent := newWireAgent(t, func(w http.ResponseWriter, r *http.Request) {
		wireSSE(sseWorking)(w, r)
		w.(http.Flusher).Flush()
		<-next
		io.WriteString(w, "id: 5\n"+sseCompleted)
	})
	s := must.Get(wireClient(t, agent.URL, nil).Send(t.Context(), hello()))(t)
	events, err := s.Read()
	if err != nil || len(events) != 1 {
		t.Fatal(events, err)
	}
	id, clone := events[0].TaskID, events[0].Clone()
	close(next)
	must.Get(s.Read())(t)
	if id != "\xAA" || clone.TaskID != "t" || events[0].Kind != a2a.EventUnknown {
		t.Errorf("kept %q, cloned %q, %v", id, clone.TaskID, events[0].Kind)
	}
}

// The caller that waits for a stream is told of its comments.
func TestCommentsAreHeard(t *testing.T) {
	second := make(chan struct{})
	agent := newWireAgent(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, ": one\n\n")
		w.(http.Flusher).Flush()
		<-second
		_, _ = io.WriteString(w, sseCompleted)
	})
	s := must.Get(wireClient(t, agent.URL, nil).Send(t.Context(), hello()))(t)
	var heard []string
	s.Heard(func() {
		if heard = append(heard, "something"); len(heard) == 1 {
			close(second)
		}
	})
	if events, err := s.Read(); err != nil || len(events) == 0 || !slices.Contains(heard, "something") {
		t.Errorf("%v %v %v", events, err, heard)
	}
}
