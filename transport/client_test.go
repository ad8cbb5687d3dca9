package transport

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A wireAgent is an HTTP server whose card names itself, and whose answers are
// the test's.
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
		w.Header().Set("ETag", `"1"`)
		if r.Header.Get("If-None-Match") == `"1"` {
			w.WriteHeader(http.StatusNotModified)
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
	opts.Poison = true
	c, err := NewClient(agent, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func hello() *a2a.Outgoing {
	return &a2a.Outgoing{ID: "m1", Parts: []a2a.OutPart{{Text: "hello"}}}
}

// wireReadAll reads a stream to its end; events are named by kind and state.
func wireReadAll(s *Stream) (events []string, err error) {
	for {
		batch, err := s.Read()
		for i := range batch {
			ev := &batch[i]
			events = append(events, strings.TrimSuffix(fmt.Sprintf("%d %s", ev.Kind, ev.State), " "))
		}
		if err != nil {
			return events, err
		}
	}
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

func TestSendAnswers(t *testing.T) {
	for _, test := range []struct {
		name   string
		answer http.HandlerFunc
		events string
		// what the error says, from Send or from the stream; "EOF" is none
		err  string
		is   error
		code int // of an *a2a.Error
		http int
	}{
		{name: "stream", answer: wireSSE(sseWorking + sseCompleted), events: "[3 working 3 completed]", err: "EOF"},
		{name: "empty stream", answer: wireSSE(""), events: "[]", err: "EOF"},
		{name: "heartbeats", answer: wireSSE(": ping\n\ndata: \n\n" + sseCompleted), events: "[3 completed]", err: "EOF"},
		{name: "cut within an event", answer: wireSSE(sseWorking + `data: {"jsonrpc"`), events: "[3 working]", err: "agent: URL/rpc: the stream stopped in the middle of an event", is: ErrInterrupted},
		{name: "cut within a chunk", answer: func(w http.ResponseWriter, r *http.Request) {
			wireSSE(sseWorking)(w, r)
			w.(http.Flusher).Flush()
			time.Sleep(20 * time.Millisecond) // so that the event arrives by itself
			conn, _, _ := w.(http.Hijacker).Hijack()
			conn.Close()
		}, events: "[3 working]", err: "agent: URL/rpc: the connection was closed in the middle of a stream", is: ErrInterrupted},
		{name: "error in the stream", answer: wireSSE(sseWorking + `data: {"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"gone","data":["x"]}}` + "\n\n" + sseCompleted),
			events: "[3 working]", err: "agent: gone (-32001)", code: -32001},
		{name: "event: error with an envelope", answer: wireSSE("event: error\ndata: {\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32004,\"message\":\"no\"}}\n\n"), events: "[]", err: "agent: no (-32004)", code: -32004},
		{name: "event: error without", answer: wireSSE("event: error\ndata: {\"code\":-32004,\"message\":\"no\"}\n\n"), events: "[]", err: "agent: no (-32004)", code: -32004},
		{name: "event: error in words", answer: wireSSE("event: error\ndata: it broke\n\n"), events: "[]", err: "agent: it broke (-32603)", code: -32603},
		{name: "not JSON", answer: wireSSE(sseWorking + "data: oops\n\n" + sseCompleted), events: "[3 working]", err: "agent: URL/rpc sent an event that is not JSON: oops"},
		{name: "one newline between events", answer: wireSSE(strings.ReplaceAll(sseWorking+sseCompleted, "\n\n", "\n") + "\n"), events: "[3 working 3 completed]", err: "EOF"},
		{name: "JSON in several lines", answer: wireSSE("data: {\"result\":\ndata: {\"kind\":\"message\",\ndata: \"parts\":[]}}\n\n"), events: "[2]", err: "EOF"},
		{name: "payload without an envelope", answer: wireSSE(`data: {"kind":"status-update","taskId":"t","status":{"state":"failed"}}` + "\n\n"), events: "[3 failed]", err: "EOF"},
		{name: "unknown kind", answer: wireSSE(`data: {"jsonrpc":"2.0","id":1,"result":{"kind":"news"}}` + "\n\n"), events: "[0]", err: "EOF"},

		{name: "task as JSON", answer: wireAnswer(200, "application/json", `{"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t","status":{"state":"completed"}}}`), events: "[1 completed]", err: "EOF"},
		{name: "message as text", answer: wireAnswer(201, "text/plain; charset=utf-8", `{"jsonrpc":"2.0","id":1,"result":{"kind":"message","messageId":"m","role":"agent","parts":[]}}`), events: "[2]", err: "EOF"},
		{name: "neither", answer: wireAnswer(200, "application/json", `{"jsonrpc":"2.0","id":1,"result":{"ok":true}}`), err: `agent: URL/rpc answered with a result that is neither a task nor a message: {"ok":true}`, is: ErrPossiblyDelivered},
		{name: "error as text with 200", answer: wireAnswer(200, "text/plain; charset=utf-8", `{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"bad","data":"x"}}`), err: "agent: bad (-32602)", code: -32602, http: 200},
		{name: "error with 404", answer: wireAnswer(404, "application/json", `{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"none"}}`), err: "agent: none (-32001)", code: -32001, http: 404},
		{name: "error with 503", answer: wireAnswer(503, "application/json", `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"busy"}}`), err: "agent: busy (-32603)", code: -32603, http: 503},
		{name: "error as a string", answer: wireAnswer(400, "application/json", `{"error":"no such method"}`), err: "agent: HTTP 400: no such method", http: 400},
		{name: "503 from a proxy", answer: wireAnswer(503, "text/plain", "upstream\nfailed"), err: "agent: HTTP 503: URL/rpc: upstream failed: it was possibly delivered, so it is not sent again", is: ErrPossiblyDelivered, http: 503},
		{name: "401", answer: wireAnswer(401, "text/plain", "no", "WWW-Authenticate", `Bearer realm="x"`), err: `agent: HTTP 401: URL/rpc wants credentials (Bearer realm="x"): --header gives them`, http: 401},
		{name: "HTML", answer: wireAnswer(200, "text/html; charset=utf-8", "<html>"), err: "agent: URL/rpc answered text/html, not A2A: is --agent the agent's URL?"},
		{name: "HTML with 404", answer: wireAnswer(404, "text/html", "<html>"), err: "agent: HTTP 404: URL/rpc answered text/html, not A2A: is --agent the agent's URL?", http: 404},
		{name: "empty 200", answer: wireAnswer(200, "application/json", ""), err: "agent: URL/rpc answered message/stream with an empty 200", is: ErrPossiblyDelivered},
		{name: "JSON of another kind", answer: wireAnswer(200, "application/json", `{"hello":1}`), err: `agent: URL/rpc answered message/stream with JSON that is not JSON-RPC: {"hello":1}`},
		{name: "redirect to GET", answer: func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/other", http.StatusFound) },
			err: "agent: URL/rpc redirects to URL/other without what was posted: give the agent's new URL as --agent"},
		{name: "redirect for ever", answer: func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/rpc", http.StatusPermanentRedirect)
		}, err: "agent: URL/rpc redirects more than 5 times"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			agent := newWireAgent(t, test.answer)
			c := wireClient(t, agent.URL, nil)
			var events []string
			s, err := c.Send(t.Context(), hello())
			got := ""
			if err == nil {
				events, err = wireReadAll(s)
				got = fmt.Sprint(events)
				s.Close()
				if _, again := s.Read(); again != err {
					t.Errorf("Read after the end: %v, and before %v", again, err)
				}
			}
			text := strings.ReplaceAll(err.Error(), agent.URL, "URL")
			if text != test.err || got != test.events {
				t.Errorf("got %s, %q\nwant %s, %q", got, text, test.events, test.err)
			}
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("%q is not %v", err, test.is)
			}
			if errors.Is(err, ErrInterrupted) != (test.is == ErrInterrupted) || errors.Is(err, ErrUnreachable) {
				t.Errorf("%v is what it should not be", err)
			}
			var e *a2a.Error
			if errors.As(err, &e) != (test.code != 0 || test.http != 0) {
				t.Errorf("%v: a2a.Error: %v", err, e)
			}
			if e != nil && (e.Code != test.code || e.HTTPStatus != test.http) {
				t.Errorf("%#v; want code %d, HTTP %d", e, test.code, test.http)
			}
			if n := len(agent.seen()); n != 1 && test.name != "redirect for ever" {
				t.Errorf("sent %d times", n)
			}
		})
	}
}

func TestRequestsV03(t *testing.T) {
	agent := newWireAgent(t, wireAnswer(200, "application/json", `{"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t","status":{"state":"working"}}}`))
	c := wireClient(t, agent.URL, &ClientOptions{Header: http.Header{"Authorization": {"Bearer s3cret"}}, UserAgent: "a2astdio/test"})
	c.Activate([]string{"https://e.example/a/v1", "https://e.example/b/v1"})
	m := &a2a.Outgoing{
		ID: "m1", TaskID: "t", ContextID: "c", ReferenceTaskIDs: []string{"t0"},
		Parts: []a2a.OutPart{
			{Text: "a < b"},
			{Data: json.RawMessage(`{"k":1}`)},
			{Data: json.RawMessage(`[1]`)},
			{File: &a2a.File{Name: "f", MediaType: "text/plain", Bytes: "aGk="}},
			{File: &a2a.File{URI: "file:///f"}},
		},
		Metadata:            map[string]json.RawMessage{"https://e.example/a/v1": json.RawMessage(`{"x":1}`)},
		Extensions:          []string{"https://e.example/a/v1"},
		AcceptedOutputModes: []string{"text/plain"},
	}
	s, err := c.Send(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	if _, err := c.Get(t.Context(), "t", -1); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(t.Context(), "t", 0); err != nil {
		t.Fatal(err)
	}
	if ev, err := c.Cancel(t.Context(), "t"); err != nil || ev.Kind != a2a.EventTask || ev.TaskID != "t" {
		t.Fatal(ev, err)
	}
	if s, err = c.Resubscribe(t.Context(), "t", ""); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if raw, err := c.Call(t.Context(), "commands/get", json.RawMessage(`{"a":1}`)); err != nil || !strings.Contains(string(raw), `"working"`) {
		t.Fatal(string(raw), err)
	}
	if s, raw, err := c.CallStream(t.Context(), "command/execute", nil); s != nil || err != nil || len(raw) == 0 {
		t.Fatal(s, string(raw), err)
	}
	want := []string{
		`{"jsonrpc":"2.0","id":1,"method":"message/stream","params":{"message":{"kind":"message","messageId":"m1","role":"user","contextId":"c","taskId":"t","referenceTaskIds":["t0"],"parts":[{"kind":"text","text":"a < b"},{"kind":"data","data":{"k":1}},{"kind":"data","data":{"value":[1]},"metadata":{"data_part_compat":true}},{"kind":"file","file":{"name":"f","mimeType":"text/plain","bytes":"aGk="}},{"kind":"file","file":{"uri":"file:///f"}}],"metadata":{"https://e.example/a/v1":{"x":1}},"extensions":["https://e.example/a/v1"]},"configuration":{"acceptedOutputModes":["text/plain"]}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tasks/get","params":{"id":"t"}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tasks/get","params":{"id":"t","historyLength":0}}`,
		`{"jsonrpc":"2.0","id":4,"method":"tasks/cancel","params":{"id":"t"}}`,
		`{"jsonrpc":"2.0","id":5,"method":"tasks/resubscribe","params":{"id":"t"}}`,
		`{"jsonrpc":"2.0","id":6,"method":"commands/get","params":{"a":1}}`,
		`{"jsonrpc":"2.0","id":7,"method":"command/execute"}`,
	}
	for i, r := range agent.seen() {
		if r.Body != want[i] {
			t.Errorf("got  %s\nwant %s", r.Body, want[i])
		}
		if fmt.Sprint(r.Header["X-A2a-Extensions"]) != "[https://e.example/a/v1 https://e.example/b/v1]" ||
			r.Header.Get("Authorization") != "Bearer s3cret" || r.Header.Get("User-Agent") != "a2astdio/test" ||
			r.Header.Get("Content-Type") != "application/json" || r.Header.Get("Accept-Encoding") != "" {
			t.Errorf("%s: headers %v", r.Method, r.Header)
		}
		if stream := strings.Contains(r.Header.Get("Accept"), "text/event-stream"); stream != (i == 0 || i == 4 || i == 6) {
			t.Errorf("%s: Accept %q", r.Method, r.Header.Get("Accept"))
		}
	}
}

func TestRequestsV1(t *testing.T) {
	agent := newWireAgent(t, wireAnswer(200, "application/json", `{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t","status":{"state":"TASK_STATE_WORKING"}}}}`))
	agent.card = `{"name":"Test","url":"%[1]s/old","protocolVersion":"0.3.0","supportedInterfaces":[{"url":"%[1]s/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.1","tenant":"x"}]}`
	c := wireClient(t, agent.URL, nil)
	c.Activate([]string{"https://e.example/a/v1", "https://e.example/b/v1"})
	s, err := c.Send(t.Context(), &a2a.Outgoing{
		ID: "m1", TaskID: "t", ContextID: "c", ReferenceTaskIDs: []string{"t0"},
		Parts: []a2a.OutPart{
			{Text: "a"},
			{Data: json.RawMessage(`[1]`)},
			{File: &a2a.File{Name: "f", MediaType: "text/plain", Bytes: "aGk="}},
			{File: &a2a.File{URI: "file:///f"}},
			{File: &a2a.File{Name: "empty"}},
			{},
		},
		Metadata:            map[string]json.RawMessage{"k": json.RawMessage(`{"x":1}`)},
		Extensions:          []string{"https://e.example/a/v1"},
		AcceptedOutputModes: []string{"text/plain"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if events, err := wireReadAll(s); fmt.Sprint(events) != "[1 working]" || err != io.EOF {
		t.Error(events, err)
	}
	for _, call := range []func() error{
		func() error { _, err := c.Get(t.Context(), "t", 3); return err },
		func() error { _, err := c.Cancel(t.Context(), "t"); return err },
		func() error { _, err := c.Resubscribe(t.Context(), "t", ""); return err },
	} {
		if err := call(); err != nil {
			t.Error(err)
		}
	}
	want := []string{
		`{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{"tenant":"x","message":{"messageId":"m1","role":"ROLE_USER","contextId":"c","taskId":"t","referenceTaskIds":["t0"],"parts":[{"text":"a"},{"data":[1]},{"raw":"aGk=","filename":"f","mediaType":"text/plain"},{"url":"file:///f"},{"raw":"","filename":"empty"},{"text":""}],"metadata":{"k":{"x":1}},"extensions":["https://e.example/a/v1"]},"configuration":{"acceptedOutputModes":["text/plain"]}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"GetTask","params":{"tenant":"x","id":"t","historyLength":3}}`,
		`{"jsonrpc":"2.0","id":3,"method":"CancelTask","params":{"tenant":"x","id":"t"}}`,
		`{"jsonrpc":"2.0","id":4,"method":"SubscribeToTask","params":{"tenant":"x","id":"t"}}`,
	}
	for i, r := range agent.seen() {
		if r.Body != want[i] {
			t.Errorf("got  %s\nwant %s", r.Body, want[i])
		}
		if fmt.Sprint(r.Header["A2a-Extensions"]) != "[https://e.example/a/v1 https://e.example/b/v1]" || fmt.Sprint(r.Header["A2a-Version"]) != "[1.0]" {
			t.Errorf("%s: headers %v", r.Method, r.Header)
		}
	}
}

// "No result and no error" is success: a2a-go says so when it has deleted.
func TestCallWithoutResult(t *testing.T) {
	for _, body := range []string{`{"jsonrpc":"2.0","id":"r2"}`, `{"jsonrpc":"2.0","id":1,"result":null}`, `{"jsonrpc":"2.0","id":1,"result":null,"error":null}`} {
		agent := newWireAgent(t, wireAnswer(200, "application/json", body))
		raw, err := wireClient(t, agent.URL, nil).Call(t.Context(), "x/y", nil)
		if string(raw) != "null" || err != nil {
			t.Errorf("%s: %s, %v", body, raw, err)
		}
	}
}

func TestNoStreaming(t *testing.T) {
	agent := newWireAgent(t, wireAnswer(200, "application/json", `{"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t","status":{"state":"working"}}}`))
	agent.card = `{"name":"Test","url":"%s/rpc","capabilities":{"streaming":false}}`
	s, err := wireClient(t, agent.URL, nil).Send(t.Context(), hello())
	if err != nil {
		t.Fatal(err)
	}
	if events, err := wireReadAll(s); fmt.Sprint(events) != "[1 working]" || err != io.EOF {
		t.Error(events, err)
	}
	if got := agent.seen()[0].Body; !strings.Contains(got, `"method":"message/send"`) || !strings.Contains(got, `"blocking":false`) {
		t.Error(got)
	}
}

// Events are spoilt as soon as they are no longer valid, their clones are not.
func TestPoison(t *testing.T) {
	next := make(chan bool)
	agent := newWireAgent(t, func(w http.ResponseWriter, r *http.Request) {
		wireSSE(sseWorking)(w, r)
		w.(http.Flusher).Flush()
		<-next
		io.WriteString(w, "id: 5\n"+sseCompleted)
	})
	s, err := wireClient(t, agent.URL, nil).Send(t.Context(), hello())
	if err != nil {
		t.Fatal(err)
	}
	events, err := s.Read()
	if err != nil || len(events) != 1 {
		t.Fatal(events, err)
	}
	id, clone := events[0].TaskID, events[0].Clone()
	close(next)
	if _, err := s.Read(); err != nil {
		t.Fatal(err)
	}
	if id != "\xAA" || clone.TaskID != "t" || events[0].Kind != a2a.EventUnknown {
		t.Errorf("kept %q, cloned %q, %v", id, clone.TaskID, events[0].Kind)
	}
	if s.LastEventID() != "5" {
		t.Errorf("last event %q", s.LastEventID())
	}
}

// An agent that answers a plain method with events is understood all the same.
func TestUnaryAnsweredWithEvents(t *testing.T) {
	agent := newWireAgent(t, wireSSE(": ping\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"kind\":\"task\",\"id\":\"t\",\"status\":{\"state\":\"working\"}}}\n\n"))
	if ev, err := wireClient(t, agent.URL, nil).Get(t.Context(), "t", -1); err != nil || ev.State != a2a.StateWorking {
		t.Error(ev, err)
	}
	agent.answer = wireSSE("event: error\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32001,\"message\":\"none\"}}\n\n")
	if _, err := wireClient(t, agent.URL, nil).Get(t.Context(), "t", -1); err == nil || err.Error() != "agent: none (-32001)" {
		t.Error(err)
	}
	agent.answer = wireAnswer(200, "application/json", `{"jsonrpc":"2.0","id":1,"result":{"kind":"message","parts":[],"role":"agent"}}`)
	if _, err := wireClient(t, agent.URL, nil).Get(t.Context(), "t", -1); err == nil || !strings.Contains(err.Error(), "answered tasks/get with something that is no task") {
		t.Error(err)
	}
}

// Nothing is left behind, and nothing depends on the clock of the machine.
func TestNoGoroutineIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				io.WriteString(w, `{"name":"Piped","url":"/"}`)
				return
			}
			io.Copy(io.Discard, r.Body)
			wireSSE(sseWorking)(w, r)
			w.(http.Flusher).Flush()
			select {
			case <-time.After(time.Hour):
				io.WriteString(w, sseCompleted)
			case <-r.Context().Done():
			}
		})}
		go server.Serve(l) // ends with server.Close
		rt := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return l.dial(ctx) }}
		c, err := NewClient("http://agent.example", &ClientOptions{RoundTripper: rt, Poison: true})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var streams []*Stream
		for range 4 {
			s, err := c.Send(ctx, hello())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Read(); err != nil {
				t.Fatal(err)
			}
			streams = append(streams, s)
		}
		streams[0].Drain()
		streams[1].Close()
		if events, err := wireReadAll(streams[2]); fmt.Sprint(events) != "[3 completed]" || err != io.EOF {
			t.Error(events, err)
		}
		s, err := c.Send(ctx, hello())
		if err != nil {
			t.Fatal(err)
		}
		s.Drain()
		cancel()
		c.Close()
		rt.CloseIdleConnections()
		server.Close()
		synctest.Wait()
	})
}

// A pipeListener carries HTTP within a synctest bubble.
type pipeListener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (l *pipeListener) dial(ctx context.Context) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case l.conns <- theirs:
		return ours, nil
	case <-l.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error   { l.once.Do(func() { close(l.done) }); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{} }

// A drained stream keeps its connection: until it ends, or until Close.
func TestDrain(t *testing.T) {
	next := make(chan bool)
	gone := make(chan bool, 2)
	agent := newWireAgent(t, func(w http.ResponseWriter, r *http.Request) {
		wireSSE(sseWorking)(w, r)
		w.(http.Flusher).Flush()
		select {
		case <-next:
			io.WriteString(w, sseCompleted)
			gone <- false
		case <-r.Context().Done():
			gone <- true
		}
	})
	c := wireClient(t, agent.URL, nil)
	ctx, cancel := context.WithCancel(t.Context())
	s, err := c.Send(ctx, hello())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Read(); err != nil {
		t.Fatal(err)
	}
	blocked := make(chan error)
	go func() { // ends when the stream does
		_, err := wireReadAll(s)
		blocked <- err
	}()
	time.Sleep(10 * time.Millisecond)
	s.Drain()
	s.Drain()
	cancel()
	s.Close()
	next <- true
	if <-gone {
		t.Error("the connection was closed")
	}
	if err := <-blocked; !errors.Is(err, ErrEnded) {
		t.Errorf("Read after Drain: %v", err)
	}
	// The second is ended by Close.
	if s, err = c.Send(t.Context(), hello()); err != nil {
		t.Fatal(err)
	}
	s.Drain()
	c.Close()
	if !<-gone {
		t.Error("the connection was not closed")
	}
	if _, err := c.Send(t.Context(), hello()); !errors.Is(err, ErrEnded) {
		t.Errorf("Send after Close: %v", err)
	}
}

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
			if err != nil {
				t.Fatal(err)
			}
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

func TestTimeout(t *testing.T) {
	agent := newWireAgent(t, func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	c := wireClient(t, agent.URL, &ClientOptions{Timeout: 50 * time.Millisecond})
	_, err := c.Get(t.Context(), "t", -1)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "did not answer tasks/get within 50ms") {
		t.Errorf("got %v", err)
	}
	_, err = c.Call(t.Context(), "x/y", nil)
	if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, ErrPossiblyDelivered) {
		t.Errorf("got %v", err)
	}
	if n := len(agent.seen()); n != 2 {
		t.Errorf("%d requests", n)
	}
	// A stream has no such limit.
	ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err = c.Send(ctx, hello()); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) < 140*time.Millisecond {
		t.Errorf("after %v: %v", time.Since(start), err)
	}
}

// Nothing of what is secret gets into an error or into the log.
func TestSecrets(t *testing.T) {
	var log strings.Builder
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
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
		if err == nil || strings.Contains(err.Error(), "s3cret") || !strings.HasPrefix(err.Error(), "agent: ") {
			t.Errorf("%v", err)
		}
	}
	if strings.Contains(log.String(), "s3cret") || log.Len() == 0 {
		t.Errorf("log: %s", log.String())
	}
}

func TestUserinfoBecomesAHeader(t *testing.T) {
	agent := newWireAgent(t, wireAnswer(200, "application/json", `{"jsonrpc":"2.0","id":1}`))
	c := wireClient(t, strings.Replace(agent.URL, "http://", "http://me:pass@", 1), nil)
	if _, err := c.Call(t.Context(), "x/y", nil); err != nil {
		t.Fatal(err)
	}
	if got := agent.seen()[0].Header.Get("Authorization"); got != "Basic bWU6cGFzcw==" {
		t.Error(got)
	}
}

func TestNewClientRefuses(t *testing.T) {
	for agent, opts := range map[string]*ClientOptions{
		"localhost:8080":     nil,
		"http://":            nil,
		"ws://localhost":     nil,
		"http://localhost":   {Version: "2.0"},
		"http://localhost/":  {TrustOrigins: []string{"example.com"}},
		"https://localhost/": {TrustOrigins: []string{"https://example.com/path"}},
	} {
		if _, err := NewClient(agent, opts); err == nil || !strings.HasPrefix(err.Error(), "agent: ") {
			t.Errorf("%s: %v", agent, err)
		}
	}
}

func TestOutgoingRefused(t *testing.T) {
	agent := newWireAgent(t, wireSSE(""))
	c := wireClient(t, agent.URL, nil)
	for _, m := range []*a2a.Outgoing{
		{Parts: []a2a.OutPart{{Text: "x"}}},
		{ID: "m"},
		{ID: "m", Parts: []a2a.OutPart{{Text: "x", Data: json.RawMessage("{}")}}},
		{ID: "m", Parts: []a2a.OutPart{{Data: json.RawMessage("{")}}},
		{ID: "m", Parts: []a2a.OutPart{{File: &a2a.File{Bytes: "a", URI: "b"}}}},
		{ID: "m", Parts: []a2a.OutPart{{Text: "x"}}, Metadata: map[string]json.RawMessage{"k": json.RawMessage("{")}},
	} {
		if _, err := c.Send(t.Context(), m); err == nil || !strings.HasPrefix(err.Error(), "agent: ") {
			t.Errorf("%+v: %v", m, err)
		}
	}
	if n := len(agent.seen()); n != 0 {
		t.Errorf("%d requests", n)
	}
}

func TestCardIsShared(t *testing.T) {
	var fetches atomic.Int32
	agent := newWireAgent(t, nil)
	hold := make(chan bool)
	inner := agent.Config.Handler
	agent.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fetches.Add(1)
		<-hold
		inner.ServeHTTP(w, r)
	})
	c := wireClient(t, agent.URL, nil)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Card(gone); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			if card, err := c.Card(t.Context()); err != nil || card.Name != "Test" {
				t.Error(card, err)
			}
		})
	}
	close(hold)
	wg.Wait()
	if n := fetches.Load(); n != 1 {
		t.Errorf("fetched %d times", n)
	}
	before, _ := c.Card(t.Context())
	if after, err := c.Refresh(t.Context()); err != nil || after != before || fetches.Load() != 2 {
		t.Error(after, err)
	}
}

func TestCardFile(t *testing.T) {
	agent := newWireAgent(t, wireSSE(sseCompleted))
	file := filepath.Join(t.TempDir(), "card.json")
	card := fmt.Sprintf(`{"name":"Filed","url":"%s/rpc"}`, agent.URL)
	if err := os.WriteFile(file, []byte("\uFEFF"+card), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{file, "file://" + filepath.ToSlash(file)} {
		c := wireClient(t, name, &ClientOptions{Header: http.Header{"Authorization": {"x"}}})
		if _, err := c.Send(t.Context(), hello()); err != nil {
			t.Error(err)
		}
	}
	if got := agent.seen()[0].Header.Get("Authorization"); got != "x" {
		t.Errorf("Authorization %q", got)
	}
	if _, err := wireClient(t, file+".json", nil).Card(t.Context()); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
