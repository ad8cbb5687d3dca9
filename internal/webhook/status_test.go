package webhook

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/demo"
)

// The bridge distinguishes four agents: one whose card says that it cannot push, one
// that refuses, one that accepts the address and never pushes, and one that pushes.
func TestStatus(t *testing.T) {
	agents := map[string]func(http.Handler) http.Handler{
		"unsupported": func(agent http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodGet {
					agent.ServeHTTP(w, r)
					return
				}
				card := httptest.NewRecorder()
				agent.ServeHTTP(card, r)
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, strings.ReplaceAll(card.Body.String(), `"pushNotifications":true`, `"pushNotifications":false`))
			})
		},
		"refused": func(agent http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				r.Body = io.NopCloser(bytes.NewReader(body))
				if !bytes.Contains(body, []byte("ushNotificationConfig")) {
					agent.ServeHTTP(w, r)
					return
				}
				var call struct{ ID json.RawMessage }
				_ = json.Unmarshal(body, &call)
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(call.ID)+`,"error":{"code":-32003,"message":"no"}}`)
			})
		},
		"silent": func(agent http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				// The port of nobody: what it pushes does not come.
				r.Body = io.NopCloser(bytes.NewReader(bytes.ReplaceAll(body, []byte("http://127.0.0.1:"), []byte("http://127.0.0.1:1/?"))))
				r.ContentLength = -1
				agent.ServeHTTP(w, r)
			})
		},
		"on": func(agent http.Handler) http.Handler { return agent },
	}
	for name, around := range agents {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			agent := demo.New(&demo.Options{Version: "both", Push: &demo.PushOptions{}})
			t.Cleanup(func() { agent.Close() })
			client, boxes := pushed(t, around(agent), "")
			want, comes := name, name == "on"
			if name == "silent" {
				want = "on"
			}
			status := converse(t, &bridge.Options{Client: client, Webhooks: boxes}, comes)
			if status.State != want || status.Addresses != 0 || comes != (status.Received > 0) {
				t.Errorf("%+v", status)
			}
		})
	}
}

type pushState struct {
	State               string
	Addresses, Received int64
}

// converse gets an answer to a message, and then the bridge's status; comes: it waits
// until something was pushed, which may be later than the answer.
func converse(t *testing.T, opts *bridge.Options, comes bool) (push pushState) {
	t.Helper()
	toBridge, in := io.Pipe()
	out, fromBridge := io.Pipe()
	ended := make(chan error, 1)
	go func() { // ends with in
		err := bridge.Serve(t.Context(), toBridge, fromBridge, opts)
		fromBridge.Close()
		ended <- err
	}()
	say := func(line string) {
		if _, err := io.WriteString(in, line+"\n"); err != nil {
			t.Error(err)
		}
	}
	say(`{"jsonrpc":"2.0","id":1,"method":"message/stream","params":{"text":"hello"}}`)
	for lines := json.NewDecoder(out); ; {
		var m struct {
			ID     int
			Result struct{ Push pushState }
		}
		if lines.Decode(&m) != nil {
			break
		}
		switch m.ID {
		case 1:
			say(`{"jsonrpc":"2.0","id":2,"method":"bridge/status"}`)
		case 2:
			if push = m.Result.Push; comes && push.Received == 0 {
				say(`{"jsonrpc":"2.0","id":2,"method":"bridge/status"}`)
				continue
			}
			in.Close()
		}
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	return push
}
