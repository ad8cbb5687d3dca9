package demo

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// A badMessage is refused, and its error has these words.
type badMessage struct {
	name   string
	params map[string]any
	want   string
}

// badAnswers are wrong answers to two calls that are open. other is a directory.
func badAnswers(c *client, edit, shell, other string) []badMessage {
	option := func(call, id string, more ...any) map[string]any {
		o := confirmation(call, id)
		for i := 0; i < len(more); i += 2 {
			o[more[i].(string)] = more[i+1]
		}
		return o
	}
	good := data(option(edit, "proceed_once"))
	changed := map[string]any{"new_content": "mine\n"}
	file := map[string]any{"kind": "file", "file": map[string]any{"bytes": "AAEC"}}
	if c.v1 {
		file = map[string]any{"raw": "AAEC"}
	}
	to := func(parts ...map[string]any) map[string]any { return c.message(c.taskID, parts...) }
	settings := func(v any) map[string]any { return map[string]any{ExtensionURI: v} }
	tests := []badMessage{
		{"text", to(text("go on")), "the approval must be answered first: send a ToolCallConfirmation for " + edit + ", " + shell},
		{"text beside", to(good, text("go on")), "message.parts[1] is no data"},
		{"empty text beside", to(text(""), good), "message.parts[0] is no data"},
		{"file beside", to(good, file), "message.parts[1] is no data"},
		{"other data beside", to(good, data(map[string]any{"note": "x"})), `message.parts[1].data: ToolCallConfirmation: unknown field "note"`},
		{"other data alone", to(data(map[string]any{})), `ToolCallConfirmation.tool_call_id "": there is no such call`},
		{"a level for the oneof", to(data(option(edit, "proceed_once", "modified_details", map[string]any{"file_details": changed}))), `unknown field "modified_details"`},
		{"unknown field", to(data(option(edit, "proceed_once", "approved", true))), `unknown field "approved"`},
		{"wrong type", to(data(option(edit, "proceed_once", "file_details", "mine\n"))), "ToolCallConfirmation.file_details is a JSON string"},
		{"a name in camel case", to(data(map[string]any{"toolCallId": edit, "selected_option_id": "proceed_once"})), `unknown field "toolCallId"`},
		{"unknown call", to(data(option("x", "proceed_once"))), `tool_call_id "x": there is no such call that awaits one: send it for ` + edit + ", " + shell},
		{"one unknown call", to(good, data(option("x", "proceed_once"))), `message.parts[1].data: ToolCallConfirmation.tool_call_id "x"`},
		{"no call", to(data(map[string]any{"selected_option_id": "proceed_once"})), `tool_call_id ""`},
		{"twice", to(good, data(option(edit, "cancel"))), "message.parts[1].data: ToolCallConfirmation.tool_call_id"},
		{"unknown option", to(data(option(edit, "perhaps"))), `selected_option_id "perhaps" was not offered: there are proceed_once, proceed_always, cancel`},
		{"no option", to(data(map[string]any{"tool_call_id": edit})), `selected_option_id "" was not offered`},
		{"an option by its name", to(data(option(edit, "Allow once"))), `selected_option_id "Allow once" was not offered`},
		{"content for a command", to(data(option(shell, "proceed_once", "file_details", changed))), "file_details is there, but the call is not an edit"},
		{"content for a rejection", to(data(option(edit, "cancel", "file_details", changed))), `file_details is there, but "cancel" rejects the edit`},
		{"no context", with(to(good), "contextId", ""), "message.taskId or message.contextId is missing"},
		{"no task", with(to(good), "taskId", ""), "message.taskId or message.contextId is missing"},
		{"another context", with(to(good), "contextId", "elsewhere"), "belongs to context " + c.contextID + ", not to elsewhere"},
		{"bad settings", with(to(good), "metadata", settings(map[string]any{"workspace": other})), `AgentSettings: unknown field "workspace"`},
		{"other settings", with(to(data(option(edit, "perhaps"))), "metadata", settings(map[string]any{"workspace_path": other})), "was not offered"},
	}
	if c.v1 {
		tests = append(tests, badMessage{"no object", to(data([]any{good["data"]})), "message.parts[0].data: ToolCallConfirmation is a JSON array, want an object"})
	}
	return tests
}

// A refusal names the fault and changes nothing: the question stays open, and a legal
// answer is accepted after all refusals.
func TestARefusedAnswerChangesNothing(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	inEachVersion(t, Options{}, func(t *testing.T, c *client) {
		c.dir = dir
		c.prompt("many")
		edit, shell := c.calls[0], c.calls[1]
		good := data(confirmation(edit, "proceed_once"))
		for _, test := range badAnswers(c, edit, shell, other) {
			if _, err := c.call("message/stream", test.params); !strings.HasPrefix(err, "-32602 ") || !strings.Contains(err, test.want) {
				t.Errorf("%s: error %q, want -32602 and %q in it", test.name, err, test.want)
			}
			if got := c.state(); got != stateInputRequired {
				t.Errorf("%s: the task is %s", test.name, got)
			}
		}
		_, err := c.call("message/send", c.message(c.taskID, good))
		expectError(t, err, "-32602 invalid params: a ToolCallConfirmation is sent as a streaming message, not by ")
		_, err = c.as("").call("message/stream", c.message(c.taskID, good))
		expectError(t, err, "-32008")
		if len(c.ran) > 0 {
			t.Fatalf("it ran %v", c.ran)
		}

		c.open("message/stream", c.message(c.taskID, good, data(confirmation(shell, "cancel")))).rest()
		if len(c.ran) != 1 || !strings.HasSuffix(c.ran[0], fmt.Sprintf("to %q (proceed_once)", filepath.Join(dir, "hello.txt"))) {
			t.Errorf("it ran %q", c.ran)
		}
	})
}

// The first message of a session brings AgentSettings and no context of the
// client's; one that does not begins nothing.
func TestTheFirstMessage(t *testing.T) {
	inEachVersion(t, Options{}, func(t *testing.T, c *client) {
		hello := func() map[string]any { return c.message("", text("hello")) }
		settings := func(v any) map[string]any { return with(hello(), "metadata", map[string]any{ExtensionURI: v}) }
		tests := []badMessage{
			{"no metadata", with(hello(), "metadata", nil), "message.metadata has no AgentSettings: the first message of a session carries them under " + ExtensionURI},
			{"another key", with(hello(), "metadata", map[string]any{"development-tool": map[string]any{"workspace_path": c.dir}}), "message.metadata has no AgentSettings"},
			{"not under the key", with(hello(), "metadata", map[string]any{"workspace_path": c.dir}), "message.metadata has no AgentSettings"},
			{"empty", settings(map[string]any{}), "AgentSettings.workspace_path is missing"},
			{"null", settings(nil), "AgentSettings.workspace_path is missing"},
			{"relative", settings(map[string]any{"workspace_path": "."}), `AgentSettings.workspace_path "." is not absolute`},
			{"further settings", settings(map[string]any{"workspace_path": c.dir, "model": "x"}), `AgentSettings: unknown field "model"`},
			{"a context of the client's", with(hello(), "contextId", "mine"), `message.contextId "mine" is none of this agent's`},
			{"an answer", c.message("", data(confirmation("c1", "proceed_once"))), "message.taskId or message.contextId is missing"},
		}
		for _, test := range tests {
			if _, err := c.call("message/stream", test.params); !strings.HasPrefix(err, "-32602 ") || !strings.Contains(err, test.want) {
				t.Errorf("%s: error %q, want -32602 and %q in it", test.name, err, test.want)
			}
		}
		if len(c.agent.tasks) > 0 || len(c.agent.sessions) > 0 {
			t.Errorf("the refused messages began %d tasks, %d sessions", len(c.agent.tasks), len(c.agent.sessions))
		}

		c.prompt("hello")
		second := with(with(hello(), "metadata", nil), "contextId", c.contextID)
		expect(t, "the second message", c.open("message/stream", second).rest()[:1], "task submitted")
		c.refused(with(second, "metadata", map[string]any{ExtensionURI: map[string]any{"workspace_path": 1}}), "-32602", "want a string")
	})
}

// A confirmation is taken where a call awaits it, and nowhere else.
func TestConfirmationsThatNothingAwaits(t *testing.T) {
	inEachVersion(t, Options{}, func(t *testing.T, c *client) {
		answer := func() map[string]any { return c.message(c.taskID, data(confirmation("c1", "proceed_once"))) }
		const want = "awaits a ToolCallConfirmation"
		c.prompt("hello")
		c.refused(answer(), "-32602", want)
		c.prompt("ask")
		c.refused(answer(), "-32602", want)
		if got := c.state(); got != stateInputRequired {
			t.Errorf("the question in prose is %s", got)
		}
		c.prompt("shell")
		done := c.message(c.taskID, c.answers("proceed_once")...)
		c.open("message/stream", done).rest()
		c.refused(done, "-32602", want)
		if len(c.ran) != 1 {
			t.Errorf("it ran %v", c.ran)
		}

		r := c.open("message/stream", c.message("", text("slow")))
		r.next()
		c.refused(answer(), "-32602", want)
		c.refused(c.message(c.taskID, text("hurry")), "-32602", "is working")
	})
}
