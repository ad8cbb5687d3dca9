package transport

import (
	"context"
	"encoding/json"
	"errors"
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

// methods are those of the requests so far.
func (a *wireAgent) methods() string {
	var methods []string
	for _, r := range a.seen() {
		methods = append(methods, r.Method)
	}
	return strings.Join(methods, " ")
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
		sent int // 0: once
	}{
		{name: "stream", answer: wireSSE(sseWorking + sseCompleted), events: "[3 working 3 completed]", err: "EOF"},
		{name: "empty stream", answer: wireSSE(""), events: "[]", err: "EOF"},
		{name: "JSON as a stream", answer: wireSSE("\n" + `{"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t","status":{"state":"completed"}}}`), events: "[1 completed]", err: "EOF"},
		{name: "JSON in lines as a stream", answer: wireSSE("{\n  \"jsonrpc\": \"2.0\",\r\n  \"id\": 1,\n  \"result\": {\"kind\": \"message\", \"parts\": []}\n}\n"), events: "[2]", err: "EOF"},
		{name: "an error as a stream", answer: wireSSE(`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no model"}}`), events: "[]", err: "agent: no model (-32603)", code: -32603},
		{name: "half an object as a stream", answer: wireSSE(`{"jsonrpc":"2.0","id":1,"resu`), events: "[]", err: "agent: URL/rpc sent an event that is not JSON: {\"jsonrpc\":\"2.0\",\"id\":1,\"resu"},
		{name: "heartbeats", answer: wireSSE(": ping\n\ndata: \n\n" + sseCompleted), events: "[3 completed]", err: "EOF"},
		{name: "cut within an event", answer: wireSSE(sseWorking + `data: {"jsonrpc"`), events: "[3 working]", err: "agent: URL/rpc: the stream stopped in the middle of an event", is: ErrInterrupted},
		{name: "cut within a chunk", answer: func(w http.ResponseWriter, r *http.Request) {
			wireSSE(sseWorking)(w, r)
			w.(http.Flusher).Flush()
			conn, _, _ := w.(http.Hijacker).Hijack()
			conn.Close()
		}, events: "[3 working]", err: "agent: URL/rpc: the connection was closed in the middle of a stream", is: ErrInterrupted},
		{name: "error in the stream", answer: wireSSE(sseWorking + `data: {"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"gone","data":["x"]}}` + "\n\n" + sseCompleted),
			events: "[3 working]", err: "agent: gone (-32001); it adds [\"x\"]", code: -32001},
		{name: "event: error with an envelope", answer: wireSSE("event: error\ndata: {\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32004,\"message\":\"no\"}}\n\n"), events: "[]", err: "agent: no (-32004)", code: -32004, sent: 4},
		{name: "event: error without", answer: wireSSE("event: error\ndata: {\"code\":-32004,\"message\":\"no\"}\n\n"), events: "[]", err: "agent: no (-32004)", code: -32004, sent: 4},
		{name: "event: error in words", answer: wireSSE("event: error\ndata: it broke\n\n"), events: "[]", err: "agent: it broke (-32603)", code: -32603},
		{name: "not JSON", answer: wireSSE(sseWorking + "data: {oops\n\n" + sseCompleted), events: "[3 working]", err: "agent: URL/rpc sent an event that is not JSON: {oops"},
		{name: "a gateway's words", answer: wireSSE("data: ping\n\n" + sseWorking + "data: ping\n\n" + sseCompleted + "data: [DONE]\n\n"), events: "[3 working 3 completed]", err: "EOF"},
		{name: "words alone", answer: wireSSE("data: Hello,\n\ndata: world\n\n"), events: "[]", err: "agent: URL/rpc sent an event that is not JSON: Hello,"},
		{name: "one newline between events", answer: wireSSE(strings.ReplaceAll(sseWorking+sseCompleted, "\n\n", "\n") + "\n"), events: "[3 working 3 completed]", err: "EOF"},
		{name: "JSON in several lines", answer: wireSSE("data: {\"result\":\ndata: {\"kind\":\"message\",\ndata: \"parts\":[]}}\n\n"), events: "[2]", err: "EOF"},
		{name: "payload without an envelope", answer: wireSSE(`data: {"kind":"status-update","taskId":"t","status":{"state":"failed"}}` + "\n\n"), events: "[3 failed]", err: "EOF"},
		{name: "unknown kind", answer: wireSSE(`data: {"jsonrpc":"2.0","id":1,"result":{"kind":"news"}}` + "\n\n"), events: "[0]", err: "EOF"},

		{name: "task as JSON", answer: wireAnswer(200, "application/json", `{"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t","status":{"state":"completed"}}}`), events: "[1 completed]", err: "EOF"},
		{name: "message as text", answer: wireAnswer(201, "text/plain; charset=utf-8", `{"jsonrpc":"2.0","id":1,"result":{"kind":"message","messageId":"m","role":"agent","parts":[]}}`), events: "[2]", err: "EOF"},
		{name: "a stream in an array", answer: wireAnswer(200, "application/json", `{"jsonrpc":"2.0","id":1,"result":[{}]}`), err: `agent: URL/rpc answered with a result that is neither a task nor a message: [{}]: if it is a stream in an array, ?alt=sse behind the URL in its card asks for events: --card takes one that is corrected`, is: ErrPossiblyDelivered},
		{name: "neither", answer: wireAnswer(200, "application/json", `{"jsonrpc":"2.0","id":1,"result":{"ok":true}}`), err: `agent: URL/rpc answered with a result that is neither a task nor a message: {"ok":true}`, is: ErrPossiblyDelivered},
		{name: "error as text with 200", answer: wireAnswer(200, "text/plain; charset=utf-8", `{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"bad","data":"x"}}`), err: "agent: bad (-32602); it adds \"x\"", code: -32602, http: 200},
		{name: "error with 404", answer: wireAnswer(404, "application/json", `{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"none"}}`), err: "agent: none (-32001)", code: -32001, http: 404},
		{name: "error with 503", answer: wireAnswer(503, "application/json", `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"busy"}}`), err: "agent: busy (-32603)", code: -32603, http: 503},
		{name: "error as a string", answer: wireAnswer(400, "application/json", `{"error":"no such method"}`), err: "agent: HTTP 400: no such method", http: 400},
		{name: "413", answer: wireAnswer(413, "text/html", "<html>"), err: "agent: HTTP 413: URL/rpc does not take a message of this size", http: 413},
		{name: "503 from a proxy", answer: wireAnswer(503, "text/plain", "upstream\nfailed"), err: "agent: HTTP 503: URL/rpc: upstream failed: is the agent behind it running? (it was possibly delivered, so it is not sent again)", is: ErrPossiblyDelivered, http: 503},
		{name: "401", answer: wireAnswer(401, "text/plain", "no", "WWW-Authenticate", `Bearer realm="x"`), err: `agent: HTTP 401: URL/rpc wants credentials (Bearer realm="x"): --header 'Authorization: Bearer TOKEN' gives them, better in the variable A2ASTDIO_HEADER`, http: 401},
		{name: "HTML", answer: wireAnswer(200, "text/html; charset=utf-8", "<html>"), err: "agent: URL/rpc answered with a web page, not A2A: is --agent the agent's URL, or does a gateway before it want you to sign in?"},
		{name: "HTML with 404", answer: wireAnswer(404, "text/html", "<html>"), err: "agent: HTTP 404: URL/rpc answered text/html, not A2A: is --agent the agent's URL?", http: 404, sent: 2},
		{name: "empty 200", answer: wireAnswer(200, "application/json", ""), err: "agent: URL/rpc answered message/stream with an empty 200", is: ErrPossiblyDelivered},
		{name: "JSON of another kind", answer: wireAnswer(200, "application/json", `{"hello":1}`), err: `agent: URL/rpc answered message/stream with JSON that is not A2A: {"hello":1}: is --agent the agent's URL?`},
		{name: "no JSON", answer: wireAnswer(200, "application/json", "oops"), err: "agent: URL/rpc answered message/stream with what is labelled application/json and is none: oops", is: ErrPossiblyDelivered},
		{name: "a proxy's refusal", answer: wireAnswer(407, "text/html", "<html>"), err: "agent: HTTP 407: the proxy on the way to URL/rpc wants credentials: " + cureProxy, http: 407},
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
			if n := len(agent.seen()); n != max(test.sent, 1) && test.name != "redirect for ever" {
				t.Errorf("sent %d times", n)
			}
		})
	}
}

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

// An agent may answer a plain method with events.
func TestUnaryAnsweredWithEvents(t *testing.T) {
	agent := newWireAgent(t, wireSSE(": ping\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"kind\":\"task\",\"id\":\"t\",\"status\":{\"state\":\"working\"}}}\n\n"))
	if ev, err := wireClient(t, agent.URL, nil).Get(t.Context(), "t", -1); err != nil || ev.State != a2a.StateWorking {
		t.Error(ev, err)
	}
	agent.answer = wireAnswer(200, "application/json", "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"kind\":\"task\",\"id\":\"t\",\"status\":{\"state\":\"working\"}}}\n\n")
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
