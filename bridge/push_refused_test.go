package bridge_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// TestPushRefused: an agent refuses a message because of the webhook that we have put
// into it, in whatever form errors have over HTTP+JSON. It gets the message without.
func TestPushRefused(t *testing.T) {
	for _, test := range []struct {
		name   string
		status int
		body   string
		refuse bool // the prompt
	}{
		{"google.rpc without a reason", 400, `{"error":{"code":400,"status":"FAILED_PRECONDITION","message":"a private host"}}`, false},
		{"problem details", 422, `{"type":"about:blank","title":"Bad webhook","status":422}`, false},
		{"neither", 422, `{"detail":[{"loc":["body","configuration"],"msg":"extra fields not permitted"}]}`, false},
		{"google.rpc for what is not implemented", 400, `{"error":{"code":400,"status":"UNIMPLEMENTED","message":"no push"}}`, false},
		{"credentials", 403, `{"error":{"code":403,"status":"PERMISSION_DENIED","message":"no"}}`, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, err := transport.NewClient("http://agent.invalid/", &transport.ClientOptions{RoundTripper: pushRefuser{test.status, test.body}})
				if err != nil {
					t.Fatal(err)
				}
				defer client.Close()
				a := bridge.NewAgent(&bridge.Options{Client: client, Webhooks: make(oneHook)})
				defer a.Close()
				result, err := a.NewSession(t.TempDir()).Prompt(t.Context(), []acp.ContentBlock{{Type: "text", Text: "hello"}}, &yes{})
				if refused := err != nil; refused != test.refuse || !refused && result.State != a2a.StateCompleted {
					t.Errorf("the turn ends as %s (%v)", result.State, err)
				}
			})
		})
	}
}

// pushRefuser is an agent over HTTP+JSON that refuses messages with a webhook.
type pushRefuser struct {
	status int
	body   string
}

func (p pushRefuser) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		card := `{"name":"refuser","supportedInterfaces":[{"url":"http://agent.invalid/","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"}],"capabilities":{"streaming":true,"pushNotifications":true},"defaultInputModes":["text"]}`
		return respond(r, http.StatusOK, "application/json", io.NopCloser(strings.NewReader(card))), nil
	}
	body, _ := io.ReadAll(r.Body)
	if strings.Contains(string(body), "hook.invalid") {
		return respond(r, p.status, "application/json", io.NopCloser(strings.NewReader(p.body))), nil
	}
	event := `data: {"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}` + "\n\n"
	return respond(r, http.StatusOK, "text/event-stream", io.NopCloser(strings.NewReader(event))), nil
}
