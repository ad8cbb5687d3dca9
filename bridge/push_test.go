package bridge_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/test/agent"
	"github.com/a2astdio/a2astdio/internal/test/memnet"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// oneHook is the only address for pushes.
type oneHook struct {
	pushed   chan struct{}
	payloads chan []byte
}

func newHook() oneHook { return oneHook{make(chan struct{}, 1), make(chan []byte, 4)} }

func (h oneHook) Open(string) bridge.Webhook { return h }
func (h oneHook) Name() string               { return "hook" }
func (h oneHook) Config() a2a.PushConfig     { return a2a.PushConfig{URL: "http://hook.invalid/"} }
func (h oneHook) Pushed() <-chan struct{}    { return h.pushed }
func (h oneHook) Close()                     {}

func (h oneHook) Take() (payloads [][]byte) {
	for len(h.payloads) > 0 {
		payloads = append(payloads, <-h.payloads)
	}
	return payloads
}

// push pushes a state.
func (h oneHook) push(state string) {
	h.payloads <- []byte(`{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"` + state + `"}}}`)
	select {
	case h.pushed <- struct{}{}:
	default:
	}
	synctest.Wait()
}

// prompt sends a prompt to an agent with a webhook, and returns the state in which its turn ends.
func prompt(t *testing.T, network http.RoundTripper, hook oneHook) (a2a.State, error) {
	client := must.Get(transport.NewClient(agent.URL, &transport.ClientOptions{RoundTripper: network}))(t)
	defer client.Close()
	a := bridge.NewAgent(&bridge.Options{Client: client, Webhooks: hook})
	defer a.Close()
	result, err := a.NewSession(t.TempDir()).Prompt(t.Context(), []acp.ContentBlock{{Type: "text", Text: "hello"}}, &lostEditor{show: func(*mapping.Step) error { return nil }})
	return result.State, err
}

// promptCut is prompt for an agent whose stream is cut behind its first event, and that can push.
func promptCut(t *testing.T, script *agent.Script, hook oneHook, steps ...*agent.Step) (a2a.State, error) {
	script.Card = json.RawMessage(`{"name":"pusher","url":"http://agent.invalid/","protocolVersion":"0.3.0","capabilities":{"streaming":true,"pushNotifications":true},"defaultInputModes":["text"]}`)
	script.Turns = []*agent.Turn{{Task: "t", Steps: append([]*agent.Step{{Kind: agent.TaskEvent, State: agent.Working}}, steps...), Faults: []agent.Fault{{Events: 1, Kind: agent.Cut}}}}
	a := agent.New(script)
	network := &memnet.Network{Handler: a}
	defer network.Sever()
	defer a.Close()
	return prompt(t, network, hook)
}

// TestPushOvertakes: an agent that cannot be asked for a task pushes that it works, behind
// that it waits. One of the two has overtaken the other, or the agent has gone on: its
// subscription tells.
func TestPushOvertakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := newHook()
		defer time.AfterFunc(100*time.Millisecond, func() {
			hook.push("TASK_STATE_WORKING") // the next ones are looked at 250 ms later, together
			hook.push("TASK_STATE_INPUT_REQUIRED")
			hook.push("TASK_STATE_WORKING")
		}).Stop()
		state, err := promptCut(t, &agent.Script{Get: agent.GetMissing}, hook, &agent.Step{State: agent.InputRequired, After: 50 * time.Millisecond})
		if err != nil || state != a2a.StateInputRequired {
			t.Errorf("the turn ends as %s (%v), want input-required", state, err)
		}
	})
}

// TestPushBeforeStore: an agent pushes that a task is completed a moment before its
// tasks/get says so, and pushes nothing more. The turn does not wait for another push.
func TestPushBeforeStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, hook := time.Now(), newHook()
		defer time.AfterFunc(2*time.Second, func() { hook.push("TASK_STATE_COMPLETED") }).Stop()
		state, err := promptCut(t, &agent.Script{Subscribe: agent.SubscribeMissing}, hook, &agent.Step{State: agent.Completed, After: 3 * time.Second})
		if err != nil || state != a2a.StateCompleted {
			t.Errorf("the turn ends as %s (%v)", state, err)
		}
		if took := time.Since(begun); took > 10*time.Second {
			t.Errorf("the turn took %v", took)
		}
	})
}

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
		{"A2A's own", 400, `{"error":{"code":400,"status":"FAILED_PRECONDITION","message":"no push","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"PUSH_NOTIFICATION_NOT_SUPPORTED","domain":"a2a-protocol.org"}]}}`, false},
		{"google.rpc for what is not implemented", 400, `{"error":{"code":400,"status":"UNIMPLEMENTED","message":"no push"}}`, false},
		{"credentials", 403, `{"error":{"code":403,"status":"PERMISSION_DENIED","message":"no"}}`, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				state, err := prompt(t, pushRefuser{test.status, test.body}, newHook())
				if refused := err != nil; refused != test.refuse || !refused && state != a2a.StateCompleted {
					t.Errorf("the turn ends as %s (%v)", state, err)
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
