// Package pusher gives an agent webhooks: what its streams say is posted to them, too.
package pusher

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A Handler is an agent that pushes.
type Handler struct{ Agent http.Handler }

// ServeHTTP implements [http.Handler]. The agent gets no message's webhook, and goes on when the
// client has left.
func (h Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // the agent reports what is wrong with it
	method := gjson.GetBytes(body, "method").Str
	switch {
	case r.Method == http.MethodGet:
		card := h.answer(r, nil)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(bytes.Replace(card, []byte(`"pushNotifications":false`), []byte(`"pushNotifications":true`), 1))
	case strings.Contains(method, "ushNotificationConfig"):
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{}}`, gjson.GetBytes(body, "id").Raw)
	default:
		p := &pushing{h: h, w: w, r: r}
		body = p.take(body)
		h.Agent.ServeHTTP(p, request(r, body))
	}
}

// request is a request of the agent's client with another body.
func request(r *http.Request, body []byte) *http.Request {
	to := r.Clone(context.WithoutCancel(r.Context()))
	to.Body, to.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return to
}

// answer is the agent's to a request that is no stream.
func (h Handler) answer(r *http.Request, body []byte) []byte {
	w := httptest.NewRecorder()
	h.Agent.ServeHTTP(w, request(r, body))
	return w.Body.Bytes()
}

// A pushing is a request, whose answer is also pushed.
type pushing struct {
	h    Handler
	w    http.ResponseWriter
	r    *http.Request
	v1   bool
	hook a2a.PushConfig // without a URL: none
	rest []byte         // of an event
}

// take takes the webhook out of a message.
func (p *pushing) take(body []byte) []byte {
	for _, name := range []string{"pushNotificationConfig", "taskPushNotificationConfig"} {
		hook := gjson.GetBytes(body, "params.configuration."+name)
		if !hook.Exists() {
			continue
		}
		p.hook.URL, p.hook.Token, p.v1 = hook.Get("url").Str, hook.Get("token").Str, name != "pushNotificationConfig"
		body = bytes.Replace(body, []byte(hook.Raw), []byte("null"), 1)
	}
	return body
}

func (p *pushing) Header() http.Header    { return p.w.Header() }
func (p *pushing) WriteHeader(status int) { p.w.WriteHeader(status) }
func (p *pushing) Flush()                 { _ = http.NewResponseController(p.w).Flush() } // the client may have left

// Write pushes each event that is complete.
func (p *pushing) Write(b []byte) (int, error) {
	_, _ = p.w.Write(b)
	if p.hook.URL == "" {
		return len(b), nil
	}
	p.rest = append(p.rest, b...)
	for {
		event, rest, whole := bytes.Cut(p.rest, []byte("\n\n"))
		if !whole {
			return len(b), nil
		}
		p.rest = rest
		p.push(gjson.GetBytes(bytes.TrimPrefix(event, []byte("data: ")), "result"))
	}
}

// push posts an event, or in 0.3 its task.
func (p *pushing) push(event gjson.Result) {
	if !p.v1 {
		id := event.Get("taskId").Str + event.Get("id").Str
		call, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": map[string]string{"id": id}})
		event = gjson.GetBytes(p.h.answer(p.r, call), "result")
	}
	req, err := http.NewRequest(http.MethodPost, p.hook.URL, strings.NewReader(event.Raw))
	if err != nil {
		return
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-A2A-Notification-Token", p.hook.Token)
	if resp, err := http.DefaultClient.Do(req); err == nil { // what is refused can be asked for
		resp.Body.Close()
	}
}
