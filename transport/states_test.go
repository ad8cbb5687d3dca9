package transport

import (
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

// bothCard is the card of an agent that speaks both versions.
const bothCard = `{"name":"Test","url":"%[1]s/rpc","protocolVersion":"0.3.0",
	"supportedInterfaces":[{"url":"%[1]s/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0","tenant":"x"}],
	"capabilities":{"streaming":true,"extensions":[{"uri":"https://e.example/x/v1","required":true},{"uri":"https://e.example/y/v1"}]}}`
