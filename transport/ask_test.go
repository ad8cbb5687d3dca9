package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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

// A version that is refused by its number is an error; no other version is tried.
func TestNoDowngrade(t *testing.T) {
	agent := newWireAgent(t, wireAnswer(200, "application/json", `{"jsonrpc":"2.0","id":1,"error":{"code":-32009,"message":"'1.0' is not supported"}}`))
	agent.card = bothCard
	const want = "agent: '1.0' is not supported (-32009): it was called in A2A 1.0; --a2a-version 0.3 asks for the other"
	_, err := wireClient(t, agent.URL, nil).Send(t.Context(), hello())
	if err == nil || err.Error() != want || len(agent.seen()) != 1 {
		t.Errorf("%v after %d requests", err, len(agent.seen()))
	}
	agent.card = `{"name":"Test","url":"%[1]s/rpc","protocolVersion":"0.3.0"}`
	_, err = wireClient(t, agent.URL, nil).Get(t.Context(), "t", -1)
	if err == nil || !strings.HasSuffix(err.Error(), ": it was called in A2A 0.3; --a2a-version 1.0 asks for the other") {
		t.Error(err)
	}
	agent.answer = wireAnswer(200, "application/json", `{"jsonrpc":"2.0","id":1,"error":{"code":-32008,"message":"extension support required"}}`)
	_, err = wireClient(t, agent.URL, nil).Get(t.Context(), "t", -1)
	if err == nil || err.Error() != "agent: extension support required (-32008): --extension URI activates what it requires" {
		t.Error(err)
	}
	agent.card = bothCard
	_, err = wireClient(t, agent.URL, nil).Get(t.Context(), "t", -1)
	if err == nil || !strings.HasSuffix(err.Error(), ": --extension https://e.example/x/v1 activates what it requires") {
		t.Error(err)
	}
}

// There is no time limit for a message that the caller waits for; for another one there
// is.
func TestSendOnceHasNoLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		agent := roundTrip(func(r *http.Request) (*http.Response, error) {
			body := `{"name":"Test","url":"http://agent.example/rpc"}`
			if r.Method == http.MethodPost {
				_, _ = io.Copy(io.Discard, r.Body)
				select {
				case <-time.After(time.Hour):
				case <-r.Context().Done():
					return nil, r.Context().Err()
				}
				body = `{"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t","status":{"state":"completed"}}}`
			}
			return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
		})
		c := wireClient(t, "http://agent.example", &ClientOptions{RoundTripper: agent})
		defer c.Close()
		if ev, err := c.SendOnce(t.Context(), hello(), true); err != nil || ev.State != a2a.StateCompleted {
			t.Error(ev, err)
		}
		if _, err := c.SendOnce(t.Context(), hello(), false); !errors.Is(err, ErrPossiblyDelivered) || !strings.Contains(err.Error(), "did not answer message/send within 30s") {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := c.SendOnce(ctx, hello(), true); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, ErrPossiblyDelivered) {
			t.Error(err)
		}
	})
}

// The other version's refusal is about what the message says, also where it comes as an event: no
// further way is tried, and it is the error.
func TestRefusedInTheOtherVersion(t *testing.T) {
	const no = `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}`
	for name, answer := range map[string]http.HandlerFunc{"JSON": wireAnswer(200, "application/json", no), "an event": wireSSE("data: " + no + "\n\n")} {
		agent := newWireAgent(t, nil)
		agent.card = `{"name":"Test","url":"%s/rpc","protocolVersion":"0.3.0"}`
		agent.answer = func(w http.ResponseWriter, r *http.Request) {
			if agent.seen()[len(agent.seen())-1].Method == "message/stream" {
				wireAnswer(200, "application/json", `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no such method"}}`)(w, r)
				return
			}
			answer(w, r)
		}
		if err := send(wireClient(t, agent.URL, nil), t.Context()); err == nil || err.Error() != "agent: no (-32602)" || agent.methods() != "message/stream SendStreamingMessage" {
			t.Errorf("%s: %v after %s", name, err, agent.methods())
		}
	}
}

// An error in a stream is the agent's, also if it has the number of HTTP's 404: the agent is
// looked for nowhere else. That it does not know the method means the other version, once: the
// message is not sent a second time without a stream.
func TestRefusedInStream(t *testing.T) {
	for sent, want := range map[string]string{
		`{"error":{"code":404,"status":"NOT_FOUND","message":"no such task","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND","domain":"a2a-protocol.org"}]}}`: "/message:stream",
		`{"error":{"code":404,"status":"NOT_FOUND","message":"no such thing"}}`:      "/message:stream",
		`{"error":{"code":501,"status":"UNIMPLEMENTED","message":"no such method"}}`: "/message:stream /v1/message:stream",
	} {
		var paths []string
		agent := roundTrip(func(r *http.Request) (*http.Response, error) {
			kind, body := "text/event-stream", "data: "+sent+"\n\n"
			if r.Method == http.MethodGet {
				kind, body = "application/json", `{"name":"Test","supportedInterfaces":[{"url":"http://agent.example","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"}]}`
			} else if paths = append(paths, r.URL.Path); strings.HasSuffix(r.URL.Path, ":send") {
				kind, body = "application/json", `{"task":{"id":"t","status":{"state":"TASK_STATE_COMPLETED"}}}`
			}
			return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
		})
		_ = send(wireClient(t, "http://agent.example", &ClientOptions{RoundTripper: agent}), t.Context())
		if got := strings.Join(paths, " "); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", sent, got, want)
		}
	}
}

// If an agent does not stream, the message is sent with the plain method after the
// refusal, and after the other version's. For other errors it is not sent twice.
func TestUnstreamed(t *testing.T) {
	const (
		plain  = `{"name":"Test","url":"%s/rpc","protocolVersion":"0.3.0"}`
		stated = `{"name":"Test","url":"%s/rpc","protocolVersion":"0.3.0","capabilities":{"streaming":true}}`
		task   = `{"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t","status":{"state":"working"}}}`
		all    = "message/stream SendStreamingMessage message/send"
	)
	refusal := func(code int) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"error":{"code":%d,"message":"no"}}`, code)
	}
	for _, test := range []struct {
		name, card     string
		stream, answer http.HandlerFunc
		methods, want  string
	}{
		{"refused as JSON", plain, wireAnswer(200, "application/json", refusal(-32004)), wireAnswer(200, "application/json", task), all, "[1 working] EOF"},
		{"no such method", plain, wireAnswer(404, "application/json", refusal(-32601)), wireAnswer(200, "application/json", task), all, "[1 working] EOF"},
		{"refused as an event", plain, wireSSE("data: " + refusal(-32004) + "\n\n"), wireAnswer(200, "application/json", task), all, "[1 working] EOF"},
		{"refused twice", plain, wireSSE("data: " + refusal(-32004) + "\n\n"), wireAnswer(200, "application/json", refusal(-32004)), all + " SendMessage", "[] agent: no (-32004)"},
		{"refused, then neither", plain, wireSSE("data: " + refusal(-32004) + "\n\n"), wireAnswer(200, "application/json", `{"jsonrpc":"2.0","result":{}}`), all, "[] agent: URL/rpc answered with a result that is neither a task nor a message: {}"},
		{"refused, then for what it says", plain, wireSSE("data: " + refusal(-32004) + "\n\n"), wireAnswer(200, "application/json", refusal(-32602)), all, "[] agent: no (-32602)"},
		{"another refusal", plain, wireSSE("data: " + refusal(-32602) + "\n\n"), nil, "message/stream", "[] agent: no (-32602)"},
		{"refused after an event", plain, wireSSE(sseWorking + "data: " + refusal(-32004) + "\n\n"), nil, "message/stream", "[3 working] agent: no (-32004)"},
		{"the card says that it streams", stated, wireAnswer(200, "application/json", refusal(-32004)), wireAnswer(200, "application/json", task), all, "[1 working] EOF"},
		{"streams", plain, wireSSE(sseCompleted), nil, "message/stream", "[3 completed] EOF"},
	} {
		t.Run(test.name, func(t *testing.T) {
			agent := newWireAgent(t, nil)
			agent.card = test.card
			agent.answer = func(w http.ResponseWriter, r *http.Request) {
				if seen := agent.seen(); seen[len(seen)-1].Method == "message/send" {
					test.answer(w, r)
				} else {
					test.stream(w, r)
				}
			}
			var events []string
			s, err := wireClient(t, agent.URL, nil).Send(t.Context(), hello())
			if err == nil {
				events, err = wireReadAll(s)
			}
			got := strings.ReplaceAll(fmt.Sprint(events, " ", err), agent.URL, "URL")
			if methods := agent.methods(); got != test.want || methods != test.methods {
				t.Errorf("got %s after %s\nwant %s", got, methods, test.want)
			}
		})
	}
}
