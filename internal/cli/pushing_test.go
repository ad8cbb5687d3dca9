package cli

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/tidwall/gjson"
)

// pushing gives an agent of A2A 1.0 webhooks: to each that a message has a task is pushed. The agent gets the
// message without it.
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
			push, _ := http.NewRequest(http.MethodPost, hook.Get("url").Str, strings.NewReader(`{"task":{"id":"t"}}`))
			push.Header.Set("Content-Type", "application/json")
			push.Header.Set("X-A2A-Notification-Token", hook.Get("token").Str)
			if resp, err := http.DefaultClient.Do(push); err == nil { // what is refused can be asked for
				resp.Body.Close()
			}
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		agent.ServeHTTP(w, r)
	}
}
