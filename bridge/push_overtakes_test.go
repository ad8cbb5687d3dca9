package bridge_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// TestPushOvertakes: an agent that cannot be asked for a task pushes that it works, behind
// that it waits. One of the two has overtaken the other, or the agent has gone on: its
// subscription tells.
func TestPushOvertakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, err := transport.NewClient("http://agent.invalid/", &transport.ClientOptions{RoundTripper: pusher{}})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		hook := make(oneHook, 4)
		a := bridge.NewAgent(&bridge.Options{Client: client, Webhooks: hook})
		defer a.Close()
		s := a.NewSession(t.TempDir())
		push := func(state string) {
			hook <- bridge.Push{Payload: []byte(`{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"` + state + `"}}}`), Taken: func() {}}
			synctest.Wait()
		}
		defer time.AfterFunc(100*time.Millisecond, func() {
			push("TASK_STATE_WORKING") // the next ones are looked at 250 ms later, together
			push("TASK_STATE_INPUT_REQUIRED")
			push("TASK_STATE_WORKING")
		}).Stop()
		result, err := s.Prompt(t.Context(), []acp.ContentBlock{{Type: "text", Text: "hello"}}, &yes{})
		if err != nil || result.State != a2a.StateInputRequired {
			t.Errorf("the turn ends as %s (%v), want input-required", result.State, err)
		}
	})
}

// pusher is an agent whose first stream is cut, and whose subscription says that it waits.
type pusher struct{}

func (pusher) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		card := `{"name":"pusher","url":"http://agent.invalid/","protocolVersion":"0.3.0","capabilities":{"streaming":true,"pushNotifications":true},"defaultInputModes":["text"]}`
		return respond(r, http.StatusOK, "application/json", io.NopCloser(strings.NewReader(card))), nil
	}
	body, _ := io.ReadAll(r.Body)
	stream := func(state string) (*http.Response, error) {
		event := fmt.Sprintf("data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"kind\":\"task\",\"id\":\"t\",\"contextId\":\"c\",\"status\":{\"state\":%q}}}\n\n", gjson.GetBytes(body, "id").Raw, state)
		return respond(r, http.StatusOK, "text/event-stream", io.NopCloser(strings.NewReader(event))), nil
	}
	switch gjson.GetBytes(body, "method").Str {
	case "message/stream":
		return stream("working")
	case "tasks/resubscribe":
		return stream("input-required")
	}
	refusal := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, gjson.GetBytes(body, "id").Raw)
	return respond(r, http.StatusOK, "application/json", io.NopCloser(strings.NewReader(refusal))), nil
}

// oneHook is the only address for pushes.
type oneHook chan bridge.Push

func (h oneHook) Open(context.Context, string) (bridge.Webhook, error) { return h, nil }
func (h oneHook) Name() string                                         { return "hook" }
func (h oneHook) Config() a2a.PushConfig                               { return a2a.PushConfig{URL: "http://hook.invalid/"} }
func (h oneHook) Pushes() <-chan bridge.Push                           { return h }
func (h oneHook) Close(bool)                                           {}
