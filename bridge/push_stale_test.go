package bridge_test

import (
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

// TestPushBeforeStore: an agent pushes that a task is completed a moment before its
// tasks/get says so, and pushes nothing more. The turn does not wait for another push.
func TestPushBeforeStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		client, err := transport.NewClient("http://agent.invalid/", &transport.ClientOptions{RoundTripper: lateStore{begun.Add(3 * time.Second)}})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		hook := make(oneHook, 1)
		a := bridge.NewAgent(&bridge.Options{Client: client, Webhooks: hook})
		defer a.Close()
		defer time.AfterFunc(2*time.Second, func() {
			hook <- bridge.Push{Payload: []byte(`{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}`), Taken: func() {}}
		}).Stop()
		result, err := a.NewSession(t.TempDir()).Prompt(t.Context(), []acp.ContentBlock{{Type: "text", Text: "hello"}}, &yes{})
		if err != nil || result.State != a2a.StateCompleted {
			t.Errorf("the turn ends as %s (%v)", result.State, err)
		}
		if took := time.Since(begun); took > 10*time.Second {
			t.Errorf("the turn took %v", took)
		}
	})
}

// lateStore is an agent whose stream is cut, that has no subscriptions, and whose
// tasks/get tells of the end from a time on.
type lateStore struct{ stored time.Time }

func (l lateStore) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		return pusher{}.RoundTrip(r)
	}
	body, _ := io.ReadAll(r.Body)
	state := "working"
	if !time.Now().Before(l.stored) {
		state = "completed"
	}
	answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"kind":"task","id":"t","contextId":"c","status":{"state":%q}}}`, gjson.GetBytes(body, "id").Raw, state)
	switch gjson.GetBytes(body, "method").Str {
	case "message/stream":
		return respond(r, http.StatusOK, "text/event-stream", io.NopCloser(strings.NewReader("data: "+answer+"\n\n"))), nil
	case "tasks/get":
	default:
		answer = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, gjson.GetBytes(body, "id").Raw)
	}
	return respond(r, http.StatusOK, "application/json", io.NopCloser(strings.NewReader(answer))), nil
}
