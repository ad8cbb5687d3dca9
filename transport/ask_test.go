package transport

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

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
