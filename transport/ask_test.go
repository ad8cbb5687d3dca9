package transport

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// aServer answers one version's methods, and refuses those of the other.
func aServer(agent *wireAgent, v03 bool, refusal string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		seen := agent.seen()
		method := seen[len(seen)-1].Method
		switch {
		case strings.Contains(method, "/") != v03:
			wireAnswer(200, "application/json", refusal)(w, r)
		case method == "message/stream":
			wireSSE(sseCompleted)(w, r)
		case method == "SendStreamingMessage":
			wireSSE(`data: {"jsonrpc":"2.0","id":1,"result":{"statusUpdate":{"taskId":"t","status":{"state":"TASK_STATE_COMPLETED"}}}}`+"\n\n")(w, r)
		default:
			wireAnswer(200, "application/json", `{"jsonrpc":"2.0","id":1,"result":{"id":"t","status":{"state":"completed"}}}`)(w, r)
		}
	}
}

const noMethod = `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}`

// logged is a client whose log is kept.
func logged(t *testing.T, url string, opts ClientOptions) (*Client, *bytes.Buffer) {
	log := new(bytes.Buffer)
	opts.Log = slog.New(slog.NewTextHandler(log, nil))
	return wireClient(t, url, &opts), log
}

// An agent that does not know the methods of the version that its card names is called in
// the other one, and is so from then on. That is told once.
func TestOtherVersion(t *testing.T) {
	const (
		card03 = `{"name":"Test","url":"%s/rpc","protocolVersion":"0.3.0","capabilities":{"streaming":true}}`
		card1  = `{"name":"Test","supportedInterfaces":[{"url":"%s/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"capabilities":{"streaming":true}}`
	)
	for _, test := range []struct {
		name, card, ask string
		v03             bool
		want, how, err  string
		told            int
	}{
		{name: "as its card says", card: card03, v03: true, want: "message/stream tasks/get", how: "0.3"},
		{name: "1.0 behind a card of 0.3", card: card03, want: "message/stream SendStreamingMessage GetTask", how: "1.0", told: 1},
		{name: "0.3 behind a card of 1.0", card: card1, v03: true, want: "SendStreamingMessage message/stream tasks/get", how: "0.3", told: 1},
		{name: "the user has named the version", card: card03, ask: "0.3", want: "message/stream message/send tasks/get", how: "0.3", err: "agent: Method not found (-32601)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			agent := newWireAgent(t, nil)
			agent.card = test.card
			agent.answer = aServer(agent, test.v03, noMethod)
			c, log := logged(t, agent.URL, ClientOptions{Version: test.ask})
			err := send(c, t.Context())
			if err != io.EOF && err.Error() != test.err {
				t.Error(err)
			}
			_, _ = c.Get(t.Context(), "t", -1)
			how, _ := c.Chosen(t.Context())
			if got := agent.methods(); got != test.want || how.Version != test.how {
				t.Errorf("asked %s, in A2A %s; want %s", got, how.Version, test.want)
			}
			if told := strings.Count(log.String(), "says so from the start"); told != test.told {
				t.Errorf("told %d times: %s", told, log)
			}
		})
	}
}

// An agent that has answered in a version knows that version: what it does not offer is
// not asked for in another.
func TestVersionIsProven(t *testing.T) {
	agent := newWireAgent(t, nil)
	agent.answer = func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(agent.methods(), "tasks/cancel") {
			wireAnswer(200, "application/json", noMethod)(w, r)
		} else {
			wireSSE(sseCompleted)(w, r)
		}
	}
	c := wireClient(t, agent.URL, nil)
	if err := send(c, t.Context()); err != io.EOF {
		t.Fatal(err)
	}
	if _, err := c.Cancel(t.Context(), "t"); err == nil || agent.methods() != "message/stream tasks/cancel" {
		t.Error(err, agent.methods())
	}
}

// An agent whose card says that it streams, and that refuses to, is asked in the other
// version, then without streaming; from then on without. That is told once.
func TestStreamingIsClaimed(t *testing.T) {
	for _, code := range []int{a2a.CodeUnsupportedOperation, a2a.CodeMethodNotFound} {
		agent := newWireAgent(t, nil)
		agent.answer = func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(agent.methods(), "tream") || strings.HasSuffix(agent.methods(), "StreamingMessage") {
				wireAnswer(200, "application/json", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"error":{"code":%d,"message":"no"}}`, code))(w, r)
			} else {
				wireAnswer(200, "application/json", `{"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t","status":{"state":"completed"}}}`)(w, r)
			}
		}
		c, log := logged(t, agent.URL, ClientOptions{})
		for range 2 {
			if err := send(c, t.Context()); err != io.EOF {
				t.Error(err)
			}
		}
		if got := agent.methods(); got != "message/stream SendStreamingMessage message/send message/send" || !c.Lacks().Streaming {
			t.Errorf("%d: asked %s, lacks %+v", code, got, c.Lacks())
		}
		if told := strings.Count(log.String(), "says that it streams"); told != 1 {
			t.Errorf("told %d times: %s", told, log)
		}
	}
}

// A card whose URL is not there: the URL that the user has given is used, and that is
// told once.
func TestCardURLIsNotThere(t *testing.T) {
	for _, binding := range []string{"JSONRPC", "HTTP+JSON"} {
		agent := newWireAgent(t, nil)
		agent.card = `{"name":"Test","url":"%s/wrong","preferredTransport":"` + binding + `","protocolVersion":"0.3.0","capabilities":{"streaming":true}}`
		var paths []string
		agent.answer = func(w http.ResponseWriter, r *http.Request) {
			paths = append(paths, r.URL.Path)
			if strings.HasPrefix(r.URL.Path, "/wrong") {
				http.NotFound(w, r)
				return
			}
			wireSSE(`data: {"kind":"task","id":"t","status":{"state":"completed"}}`+"\n\n")(w, r)
		}
		c, log := logged(t, agent.URL, ClientOptions{})
		for range 2 {
			if err := send(c, t.Context()); err != io.EOF {
				t.Error(binding, err)
			}
		}
		if len(paths) != 3 || strings.HasPrefix(paths[2], "/wrong") {
			t.Errorf("%s: asked %q", binding, paths)
		}
		if told := strings.Count(log.String(), "nothing is at "+agent.URL+"/wrong"); told != 1 {
			t.Errorf("%s: told %d times: %s", binding, told, log)
		}
	}
}

// Where no agent is at the user's URL either, the error is about the card's.
func TestNoURLIsThere(t *testing.T) {
	agent := newWireAgent(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wrong" {
			http.NotFound(w, r)
			return
		}
		wireAnswer(200, "text/html", "<html>")(w, r)
	})
	agent.card = `{"name":"Test","url":"%s/wrong","protocolVersion":"0.3.0"}`
	err := send(wireClient(t, agent.URL, nil), t.Context())
	if err == nil || !strings.Contains(err.Error(), "/wrong: 404 page not found") || len(agent.seen()) != 2 {
		t.Errorf("%v after %d requests", err, len(agent.seen()))
	}
}

// Extensions are named in one header line each, or in one, as the agent takes them.
func TestExtensionHeader(t *testing.T) {
	for name, reads := range map[string]func(lines []string) int{
		"lines":     func(lines []string) int { return len(lines) },
		"one line":  func(lines []string) int { return len(strings.Split(lines[0], ",")) },
		"all of it": func(lines []string) int { return len(strings.Split(strings.Join(lines, ","), ",")) },
	} {
		agent := newWireAgent(t, nil)
		agent.answer = func(w http.ResponseWriter, r *http.Request) {
			if reads(r.Header["X-A2a-Extensions"]) < 2 {
				wireAnswer(200, "application/json", `{"jsonrpc":"2.0","id":1,"error":{"code":-32008,"message":"extension support required"}}`)(w, r)
				return
			}
			wireSSE(sseCompleted)(w, r)
		}
		c := wireClient(t, agent.URL, nil)
		c.Activate([]string{"https://e.example/a/v1", "https://e.example/b/v1"})
		for range 2 {
			if err := send(c, t.Context()); err != io.EOF {
				t.Error(name, err)
			}
		}
		if want := map[string]int{"one line": 3}[name]; len(agent.seen()) != max(want, 2) {
			t.Errorf("%s: %d requests", name, len(agent.seen()))
		}
	}
	agent := newWireAgent(t, wireAnswer(200, "application/json", `{"jsonrpc":"2.0","id":1,"error":{"code":-32008,"message":"extension support required"}}`))
	c := wireClient(t, agent.URL, nil)
	c.Activate([]string{"https://e.example/a/v1", "https://e.example/b/v1"})
	if err := send(c, t.Context()); err == nil || err.Error() != "agent: extension support required (-32008): --extension URI activates one" || len(agent.seen()) != 2 {
		t.Errorf("%v after %d requests", err, len(agent.seen()))
	}
}

// The bytes of a file are written in base64 of base64 where the agent takes them so, as
// a2a-go does in 0.3 over HTTP+JSON.
func TestBytesTwice(t *testing.T) {
	agent := newWireAgent(t, nil)
	agent.card = `{"name":"Test","url":"%s/rest","preferredTransport":"HTTP+JSON","protocolVersion":"0.3.0","capabilities":{"streaming":true}}`
	agent.answer = func(w http.ResponseWriter, r *http.Request) {
		seen := agent.seen()
		if !strings.Contains(seen[len(seen)-1].Body, `"fileWithBytes":"YUdrPQ=="`) {
			wireAnswer(400, "application/json", `{"code":-32700,"message":"illegal base64 data"}`)(w, r)
			return
		}
		wireSSE(`data: {"task":{"id":"t","status":{"state":"TASK_STATE_COMPLETED"}}}`+"\n\n")(w, r)
	}
	c := wireClient(t, agent.URL, nil)
	for range 2 {
		s, err := c.Send(t.Context(), &a2a.Outgoing{ID: "m", Parts: []a2a.OutPart{{File: &a2a.File{Bytes: "aGk="}}}})
		if err != nil {
			t.Fatal(err)
		}
		if events, err := wireReadAll(s); fmt.Sprint(events) != "[1 completed]" {
			t.Error(events, err)
		}
	}
	if len(agent.seen()) != 3 {
		t.Errorf("%d requests", len(agent.seen()))
	}
}
