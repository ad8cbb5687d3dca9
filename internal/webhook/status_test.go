package webhook

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/a2astdio/a2astdio/bridge"
)

// The bridge distinguishes three agents: one whose card says that it cannot push, one
// that refuses, and one that accepts the address.
func TestStatus(t *testing.T) {
	ways := map[string]func(r *http.Request, body []byte) (*http.Response, error){
		"unsupported": func(r *http.Request, _ []byte) (*http.Response, error) {
			resp, err := http.DefaultTransport.RoundTrip(r)
			if err == nil && r.Method == http.MethodGet {
				card, _ := io.ReadAll(resp.Body)
				resp.Body = io.NopCloser(bytes.NewReader(bytes.ReplaceAll(card, []byte(`"pushNotifications":true`), []byte(`"pushNotifications":false`))))
			}
			return resp, err
		},
		"refused": func(r *http.Request, body []byte) (*http.Response, error) {
			if bytes.Contains(body, []byte("ushNotificationConfig")) {
				return refusal(body, -32003), nil
			}
			return http.DefaultTransport.RoundTrip(r)
		},
		"on": func(r *http.Request, _ []byte) (*http.Response, error) { return http.DefaultTransport.RoundTrip(r) },
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, boxes := pushed(t, seen(way), "")
			if state := converse(t, &bridge.Options{Client: client, Webhooks: boxes}); state != name {
				t.Error(state)
			}
		})
	}
}

// seen is a way to an agent that sees the bodies of requests.
type seen func(r *http.Request, body []byte) (*http.Response, error)

func (s seen) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	return s(r, body)
}

// converse gets an answer to a message, and then what the bridge's status says of pushes.
func converse(t *testing.T, opts *bridge.Options) (state string) {
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
			Result struct{ Push struct{ State string } }
		}
		if lines.Decode(&m) != nil {
			break
		}
		switch m.ID {
		case 1:
			say(`{"jsonrpc":"2.0","id":2,"method":"bridge/status"}`)
		case 2:
			state = m.Result.Push.State
			in.Close()
		}
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	return state
}
