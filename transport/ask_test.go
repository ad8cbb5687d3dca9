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

const noMethod = `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}`

// logged is a client whose log is kept.
func logged(t *testing.T, url string, opts ClientOptions) (*Client, *bytes.Buffer) {
	log := new(bytes.Buffer)
	opts.Log = slog.New(slog.NewTextHandler(log, nil))
	return wireClient(t, url, &opts), log
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

// Where the user has named the version, no other is tried.
func TestNamedVersionIsKept(t *testing.T) {
	agent := newWireAgent(t, wireAnswer(200, "application/json", noMethod))
	err := send(wireClient(t, agent.URL, &ClientOptions{Version: "0.3"}), t.Context())
	if err == nil || agent.methods() != "message/stream message/send" {
		t.Errorf("%v after %s", err, agent.methods())
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
		if got := agent.methods(); got != "message/stream SendStreamingMessage message/send message/send" || !c.Unsupported().Streaming {
			t.Errorf("%d: asked %s, lacks %+v", code, got, c.Unsupported())
		}
		if told := strings.Count(log.String(), "says that it streams"); told != 1 {
			t.Errorf("told %d times: %s", told, log)
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

// Where nothing is at the card's URL, whatever the router there says, the user's is used.
func TestUserURL(t *testing.T) {
	for _, page := range []string{"404 page not found", `{"detail":"Not Found"}`, `{"error":"Not Found"}`, `{"error":{"message":"Not Found"}}`,
		`{"statusCode":404,"message":"Cannot POST /wrong","error":"Not Found"}`} {
		agent := newWireAgent(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/wrong" {
				wireAnswer(404, "application/json", page)(w, r)
				return
			}
			wireSSE(sseCompleted)(w, r)
		})
		agent.card = `{"name":"Test","url":"%s/wrong","protocolVersion":"0.3.0"}`
		if err := send(wireClient(t, agent.URL, nil), t.Context()); err != io.EOF {
			t.Errorf("%s: %v", page, err)
		}
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
	if err := send(c, t.Context()); err == nil || err.Error() != "agent: extension support required (-32008): --extension URI activates what it requires" || len(agent.seen()) != 2 {
		t.Errorf("%v after %d requests", err, len(agent.seen()))
	}
}
