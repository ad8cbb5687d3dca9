package transport

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// Every state, in every spelling, as an update and as a snapshot, in both versions, and
// which of them end the leg.
func TestStates(t *testing.T) {
	ends := map[a2a.State]string{ // what ends as news: by both, by 1.x alone
		a2a.StateCompleted: "both", a2a.StateCanceled: "both", a2a.StateFailed: "both", a2a.StateRejected: "both",
		a2a.StateInputRequired: "1.0",
	}
	numbers := map[a2a.State]int{
		a2a.StateUnknown: 0, a2a.StateSubmitted: 1, a2a.StateWorking: 2, a2a.StateCompleted: 3, a2a.StateFailed: 4,
		a2a.StateCanceled: 5, a2a.StateInputRequired: 6, a2a.StateRejected: 7, a2a.StateAuthRequired: 8,
	}
	if len(a2a.States()) != 9 {
		t.Fatal(a2a.States())
	}
	for _, state := range a2a.States() {
		upper := strings.ReplaceAll(strings.ToUpper(string(state)), "-", "_")
		v1 := "TASK_STATE_" + upper
		if state == a2a.StateUnknown {
			v1 = "TASK_STATE_UNSPECIFIED"
		} else if (protocol{}).state(state) != v1 {
			t.Errorf("%s is spelled %s", state, (protocol{}).state(state))
		}
		if state.Terminal() != (ends[state] == "both") {
			t.Errorf("%s: terminal %v", state, state.Terminal())
		}
		for _, p := range []protocol{{v03: true}, {}} {
			for _, written := range []string{`"` + string(state) + `"`, `"` + v1 + `"`, `"` + upper + `"`, fmt.Sprint(numbers[state])} {
				status := `{"taskId":"t","contextId":"c","status":{"state":` + written + `}}`
				task := `{"id":"t","contextId":"c","status":{"state":` + written + `}}`
				for _, test := range []struct {
					raw  string
					kind a2a.EventKind
					ends bool
				}{
					{`{"kind":"status-update",` + status[1:], a2a.EventStatus, ends[state] == "both" || ends[state] == p.name()},
					{`{"statusUpdate":` + status + `}`, a2a.EventStatus, ends[state] == "both" || ends[state] == p.name()},
					{status, a2a.EventStatus, ends[state] == "both" || ends[state] == p.name()},
					{strings.TrimSuffix(status, "}") + `,"final":true}`, a2a.EventStatus, true},
					{`{"kind":"task",` + task[1:], a2a.EventTask, state.Terminal()},
					{`{"task":` + task + `}`, a2a.EventTask, state.Terminal()},
					{task, a2a.EventTask, state.Terminal()},
				} {
					var ev a2a.Event
					p.decode(test.raw, &ev)
					if ev.Kind != test.kind || ev.State != state || ev.EndsLeg != test.ends || ev.TaskID != "t" || ev.ContextID != "c" {
						t.Errorf("%s: %s: kind %d, state %s, ends %v", p.name(), test.raw, ev.Kind, ev.State, ev.EndsLeg)
					}
				}
			}
		}
	}
}

// Every code, in every form, is an a2a.Error with that code, in both versions. If the
// user can do something about it, the text says what. The agent's own error is wrapped,
// unchanged.
func TestErrorCodes(t *testing.T) {
	codes := []int{
		a2a.CodeTaskNotFound, a2a.CodeTaskNotCancelable, a2a.CodePushNotSupported, a2a.CodeUnsupportedOperation,
		a2a.CodeContentTypeNotSupported, a2a.CodeInvalidAgentResponse, a2a.CodeExtendedCardNotConfigured,
		a2a.CodeExtensionSupportRequired, a2a.CodeVersionNotSupported,
	}
	for i, code := range codes {
		if code != -32001-i {
			t.Errorf("code %d is %d", i, code)
		}
	}
	advice := map[string]string{
		"0.3 -32008": ": its card requires what --extension https://e.example/x/v1 activates",
		"1.0 -32008": ": its card requires what --extension https://e.example/x/v1 activates",
		"0.3 -32009": ": it was called in A2A 0.3; its card offers 1.0 too, and --a2a-version 1.0 asks for it",
		"1.0 -32009": ": it was called in A2A 1.0; its card offers 0.3 too, and --a2a-version 0.3 asks for it",
	}
	data := map[string]string{
		"0.3": `{"error":"why"}`,
		"1.0": `[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"WHY","domain":"a2a-protocol.org"}]`,
	}
	for _, version := range []string{"0.3", "1.0"} {
		for _, code := range codes {
			body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"error":{"code":%d,"message":"no","data":%s}}`, code, data[version])
			for name, answer := range map[string]struct {
				status      int
				media, body string
			}{
				"JSON":         {200, "application/json", body},
				"text":         {200, "text/plain; charset=utf-8", body},
				"404":          {404, "application/json", body},
				"500":          {500, "application/json", body},
				"event":        {200, "text/event-stream", "data: " + body + "\n\n"},
				"event: error": {200, "text/event-stream", "event: error\ndata: " + body + "\n\n"},
			} {
				t.Run(fmt.Sprint(version, code, name), func(t *testing.T) {
					agent := newWireAgent(t, wireAnswer(answer.status, answer.media, answer.body))
					agent.card = bothCard
					c := wireClient(t, agent.URL, &ClientOptions{Version: version})
					_, err := c.SendOnce(t.Context(), hello(), false)
					checkCode(t, err, code, advice[fmt.Sprint(version, " ", code)], data[version])
					s, err := c.Send(t.Context(), hello())
					if err == nil {
						_, err = wireReadAll(s)
					}
					checkCode(t, err, code, advice[fmt.Sprint(version, " ", code)], data[version])
				})
			}
		}
	}
}

// bothCard is the card of an agent that speaks both versions.
const bothCard = `{"name":"Test","url":"%[1]s/rpc","protocolVersion":"0.3.0",
	"supportedInterfaces":[{"url":"%[1]s/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0","tenant":"x"}],
	"capabilities":{"streaming":true,"extensions":[{"uri":"https://e.example/x/v1","required":true},{"uri":"https://e.example/y/v1"}]}}`

func checkCode(t *testing.T, err error, code int, advice, data string) {
	t.Helper()
	var agent *a2a.Error
	if !errors.As(err, &agent) {
		t.Fatal(err)
	}
	if agent.Code != code || agent.Message != "no" || string(agent.Data) != data {
		t.Errorf("%+v", agent)
	}
	adds := ""
	if !strings.Contains(data, "ErrorInfo") {
		adds = "; it adds " + data
	}
	if want := fmt.Sprintf("agent: no (%d)%s%s", code, adds, advice); err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
}
