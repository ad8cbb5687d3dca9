package demo

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	user := func(m map[string]any) map[string]any {
		base := map[string]any{"kind": "message", "messageId": "m", "role": "user", "parts": []any{text("hello")},
			"metadata": map[string]any{ExtensionURI: map[string]any{"workspace_path": dir}}}
		for k, v := range m {
			base[k] = v
		}
		return map[string]any{"message": base}
	}
	tests := []struct{ name, body, want string }{
		{"not JSON", `{`, "-32700"},
		{"nothing", ``, "-32700"},
		{"not UTF-8", "\"\xff\"", "-32700"},
		{"batch", `[]`, "-32600 batches"},
		{"a string", `"x"`, "-32600"},
		{"old JSON-RPC", `{"jsonrpc":"1.0","id":1,"method":"tasks/get"}`, "-32600"},
		{"notification", `{"jsonrpc":"2.0","method":"tasks/get"}`, "-32600 a request needs an id"},
		{"object id", `{"jsonrpc":"2.0","id":{},"method":"tasks/get"}`, "-32600"},
		{"no method", `{"jsonrpc":"2.0","id":1}`, "-32600"},
		{"unknown method", envelope("tasks/dance", nil), "-32601 method not found: tasks/dance"},
		{"a method of 1.0", envelope("SendMessage", nil), "-32601"},
		{"no params", envelope("message/send", nil), "-32602"},
		{"params of another type", envelope("message/send", []int{1}), "-32602"},
		{"no message", envelope("message/send", map[string]any{}), "-32602 invalid params: message is missing"},
		{"no message ID", envelope("message/send", user(map[string]any{"messageId": ""})), "messageId"},
		{"role", envelope("message/send", user(map[string]any{"role": "agent"})), "-32602 invalid params: message.role"},
		{"no parts", envelope("message/stream", user(map[string]any{"parts": []any{}})), "parts is empty"},
		{"unknown part", envelope("message/stream", user(map[string]any{"parts": []any{map[string]any{"kind": "smell"}}})), "parts[0]"},
		{"part without content", envelope("message/stream", user(map[string]any{"parts": []any{map[string]any{"kind": "text"}}})), "parts[0]"},
		{"bad base64", envelope("message/stream", user(map[string]any{"parts": []any{map[string]any{"kind": "file", "file": map[string]any{"bytes": "*"}}}})), "base64"},
		{"unknown task", envelope("message/stream", user(map[string]any{"taskId": "nope"})), "-32001 task not found: nope"},
		{"get unknown", envelope("tasks/get", map[string]any{"id": "nope"}), "-32001"},
		{"cancel unknown", envelope("tasks/cancel", map[string]any{"id": "nope"}), "-32001"},
		{"resubscribe unknown", envelope("tasks/resubscribe", map[string]any{"id": "nope"}), "-32001"},
		{"get nothing", envelope("tasks/get", map[string]any{}), "-32602"},
		{"push", envelope("tasks/pushNotificationConfig/set", map[string]any{}), "-32003"},
		{"push list", envelope("tasks/pushNotificationConfig/list", map[string]any{}), "-32003"},
		{"extended card", envelope("agent/getAuthenticatedExtendedCard", nil), "-32007"},
		{"page size", envelope("tasks/list", map[string]any{"pageSize": 101}), "-32602"},
		{"no command", envelope("command/execute", map[string]any{}), "-32602"},
	}
	converse(t, nil, func(t *testing.T, c *client) {
		for _, test := range tests {
			if _, err := c.raw(test.body); !strings.Contains(err, test.want) {
				t.Errorf("%s: error %q, want %q in it", test.name, err, test.want)
			}
		}
		p := user(nil)
		p["configuration"] = map[string]any{"pushNotificationConfig": map[string]any{"url": "http://x.invalid/"}}
		_, err := c.call("message/send", p)
		expectError(t, err, "-32003")
	})
}

func TestSendAndGet(t *testing.T) {
	converse(t, nil, func(t *testing.T, c *client) {
		got, _ := c.call("message/send", c.message("", text("hello")))
		if got["kind"] != "task" || at(got, "status.state") != "completed" ||
			at(got, "history.2.parts.0.text") != "Hello from the a2astdio demo agent." {
			t.Errorf("blocking: %v", got)
		}
		id := got["id"]
		if got, _ = c.call("tasks/get", map[string]any{"id": id, "historyLength": 1}); at(got, "history.1") != nil || at(got, "history.0.role") != "agent" {
			t.Errorf("one of the history: %v", got)
		}
		p := c.message("", text("slow"))
		p["configuration"] = map[string]any{"blocking": false, "historyLength": 0}
		if got, _ = c.call("message/send", p); at(got, "status.state") != "working" || got["history"] != nil {
			t.Errorf("not blocking: %v", got)
		}
		got, _ = c.call("tasks/list", map[string]any{"pageSize": 1})
		if at(got, "totalSize") != 2.0 || at(got, "tasks.0.status.state") != "working" || at(got, "tasks.1") != nil {
			t.Errorf("list: %v", got)
		}
		got, _ = c.call("tasks/list", map[string]any{"pageToken": got["nextPageToken"], "status": "completed"})
		if at(got, "totalSize") != 1.0 || at(got, "nextPageToken") != "" {
			t.Errorf("list: %v", got)
		}
	})
}

func TestSettings(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must.Do(t, os.WriteFile(file, nil, 0o644))
	converse(t, nil, func(t *testing.T, c *client) {
		for path, want := range map[string]string{filepath.Join(dir, "missing"): "does not exist", file: "is not a directory"} {
			c.refused(c.inWorkspace("edit", map[string]any{"workspace_path": path}), "-32602 invalid params: message.metadata: AgentSettings.workspace_path", want)
		}
		// The settings are kept for the context.
		c.open("message/stream", c.inWorkspace("hello", map[string]any{"workspace_path": dir})).rest()
		p := with(c.message("", text("edit")), "metadata", nil)
		if got := c.open("message/stream", with(p, "contextId", c.contextID)).rest(); len(c.calls) != 1 {
			t.Errorf("the second task of the context: %q", got)
		}
		if got := at(c.seen[len(c.seen)-2], "status.message.parts.0.data.input_parameters.file_path"); got != filepath.Join(dir, "hello.txt") {
			t.Errorf("it would edit %v", got)
		}
	})
}

// Closing the agent ends its stories, also those that wait for an answer, and
// cuts the streams without an end that was not one.
func TestCloseEndsStories(t *testing.T) {
	converse(t, nil, func(t *testing.T, c *client) {
		c.prompt("shell")
		r := c.open("message/stream", c.message("", text("slow")))
		r.next()
		c.agent.Close()
		if lines := r.rest(); strings.Contains(strings.Join(lines, ""), "final") {
			t.Errorf("the stream says that it ended: %q", lines)
		}
		_, err := c.call("message/send", c.message("", text("hello")))
		expectError(t, err, "closed")
	}) // which closes it once more
}
