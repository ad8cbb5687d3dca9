package check

import (
	"strings"
	"testing"
)

// TestToolCalls: only a call of the development-tool extension is held against it, and each of its faults is told.
func TestToolCalls(t *testing.T) {
	const uri = `https://github.com/google-gemini/gemini-cli/blob/main/docs/a2a/developer-profile/v0/spec.md`
	const runs = `{"tool_call_id":"c","tool_name":"ls","status":"EXECUTING"}`
	send := strings.Replace(send03, `"kind":"message"`, `"kind":"message","extensions":["`+uri+`"]`, 1)
	says := func(data string) string {
		return strings.Replace(status03("working", false), `"state"`, `"message":{"kind":"message","messageId":"n","role":"agent","parts":[{"kind":"data","data":`+data+`}]},"state"`, 1)
	}
	call := func(data string) string {
		return strings.Replace(says(data), `"contextId"`, `"metadata":{"`+uri+`":{"kind":"TOOL_CALL_UPDATE"}},"contextId"`, 1)
	}
	for _, test := range []struct {
		name, script string
		want         []string
	}{
		{"a tool's name", send03 + says(`{"tool_name":"search","args":{}}`), nil},
		{"a wrapper's call", send03 + says(`{"toolCallId":"c","toolName":"ls","status":"running"}`), nil},
		{"a tool's answer", send03 + says(`{"tool_call_id":"c","content":"found"}`), nil},
		{"null", send + call(strings.Replace(runs, `EXECUTING"`, `SUCCEEDED","output":{"text":"a"},"error":null,"confirmation_request":null`, 1)), nil},
		{"its end was lost", send + call(runs) + `
			A. 1 cut reset by peer
			A> 1 tasks/resubscribe {"id":"t"}`, []string{"the connection broke off"}},
		{"two faults", send + call(strings.Replace(runs, "EXECUTING", "RUNNING", 1)) + call(strings.Replace(runs, `"tool_name":"ls",`, "", 1)) + call(strings.Replace(runs, `EXECUTING`, "CANCELLED", 1)),
			[]string{"must have a status", "there is no tool_name"}},
	} {
		got := talk(test.script + status03("completed", true) + ended)
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: nothing says %q: %s", test.name, want, got)
			}
		}
		if n := len(strings.FieldsFunc(got, func(r rune) bool { return r == '\n' })); n != len(test.want) {
			t.Errorf("%s: %d findings: %s", test.name, n, got)
		}
	}
	text := `"message":{"kind":"message","messageId":"n","role":"agent","parts":[{"kind":"text","text":"a","file":null}]},"state"`
	if got := talk(send03 + strings.Replace(status03("completed", true), `"state"`, text, 1) + ended); got != "" {
		t.Errorf("a file that is null: %s", got)
	}
	if got := talk(send10 + strings.Replace(task10, `"contextId":"c",`, `"contextId":"",`, 1) + `
		A< 1 {"result":{"message":{"messageId":"n","role":"ROLE_AGENT","contextId":"","parts":[{"text":"a"}]}}}` + ended); strings.Contains(got, "must not be empty") {
		t.Errorf("a context that is not set: %s", got)
	}
}
