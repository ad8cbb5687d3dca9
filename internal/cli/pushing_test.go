package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/tidwall/gjson"
)

// pushing gives an agent of A2A 1.0 webhooks: what its streams say is posted to them, too. The
// agent gets no message's webhook, and goes on when the client has left.
func pushing(agent http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // the agent reports what is wrong with it
		hook := gjson.GetBytes(body, "params.configuration.taskPushNotificationConfig")
		switch {
		case r.Method == http.MethodGet:
			card := httptest.NewRecorder()
			agent.ServeHTTP(card, r)
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(bytes.Replace(card.Body.Bytes(), []byte(`"pushNotifications":false`), []byte(`"pushNotifications":true`), 1))
			return
		case strings.Contains(gjson.GetBytes(body, "method").Str, "PushNotificationConfig"):
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{}}`, gjson.GetBytes(body, "id").Raw)
			return
		case hook.Exists():
			body = bytes.Replace(body, []byte(hook.Raw), []byte("null"), 1)
			w = &pushed{ResponseWriter: w, hook: hook}
		}
		r = r.Clone(context.WithoutCancel(r.Context()))
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		agent.ServeHTTP(w, r)
	}
}

// A pushed answer is also posted.
type pushed struct {
	http.ResponseWriter
	hook gjson.Result
	rest []byte // of an event
}

// Flush implements [http.Flusher].
func (p *pushed) Flush() { _ = http.NewResponseController(p.ResponseWriter).Flush() } // the client may have left

// Write posts each event that is complete.
func (p *pushed) Write(b []byte) (int, error) {
	_, _ = p.ResponseWriter.Write(b)
	p.rest = append(p.rest, b...)
	for {
		event, rest, whole := bytes.Cut(p.rest, []byte("\n\n"))
		if !whole {
			return len(b), nil
		}
		p.rest = rest
		result := gjson.GetBytes(bytes.TrimPrefix(event, []byte("data: ")), "result").Raw
		req, err := http.NewRequest(http.MethodPost, p.hook.Get("url").Str, strings.NewReader(result))
		if err != nil {
			return len(b), err
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("X-A2A-Notification-Token", p.hook.Get("token").Str)
		if resp, err := http.DefaultClient.Do(req); err == nil { // what is refused can be asked for
			resp.Body.Close()
		}
	}
}
