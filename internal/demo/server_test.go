package demo

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// TestErrors: what is no request, or none that is taken, is refused, and its error says what is wrong.
func TestErrors(t *testing.T) {
	converse(t, nil, func(t *testing.T, c *client) {
		c.refuses("testdata/refused-requests.txt", func(body string) string {
			if said, err := strconv.Unquote(body); err == nil {
				body = said
			}
			_, err := c.raw(body)
			return err
		}, "$DIR", c.dir)
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
