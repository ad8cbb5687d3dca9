package demo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

func TestEdit(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "hello.txt")
	converseIn(t, dir, nil, func(t *testing.T, c *client) {
		expect(t, "asked", c.prompt("edit"),
			"task submitted", "working", "thought: Planning an edit", "Edit PENDING?", "input-required (final)")
		asked := c.seen[3]
		d := at(asked, "status.message.parts.0.data.confirmation_request.file_edit_details")
		if at(d, "file_path") != file || at(d, "old_content") != nil || at(d, "new_content") != demoLine {
			t.Errorf("details %v", d)
		}
		if want := "--- /dev/null\n+++ b/hello.txt\n@@ -0,0 +1 @@\n+" + demoLine; at(d, "formatted_diff") != want {
			t.Errorf("diff %q, want %q", at(d, "formatted_diff"), want)
		}
		if _, err := os.Stat(file); err == nil {
			t.Error("the file was written without approval")
		}
		expect(t, "approved", c.confirm("proceed_once"),
			"Edit EXECUTING", "Edit SUCCEEDED", `"I wrote "`, `"hello.txt"`, `".\n"`,
			ran("write %q to %q (proceed_once)", demoLine, file), "completed (final)")
		expectFile(t, file, demoLine)

		expect(t, "again", c.reply("edit"), "working", "thought: Planning an edit", "Edit PENDING?", "input-required (final)")
		expect(t, "cancelled", c.confirm("cancel"),
			"Edit CANCELLED", `"I leave "`, `"hello.txt"`, `" as it is.\n"`, ran("nothing"), "completed (final)")
		expectFile(t, file, demoLine)
		c.reply("edit")
		c.confirm("proceed_always")
		expect(t, "allowed for good", c.reply("edit sub/other.txt"),
			"working", "thought: Planning an edit", "Edit PENDING",
			"Edit EXECUTING", "Edit SUCCEEDED", `"I wrote "`, `"sub/other.txt"`, `".\n"`,
			ran("write %q to %q (allowed before)", demoLine, filepath.Join(dir, "sub", "other.txt")), "completed (final)")
		expectFile(t, file, demoLine+demoLine)
		expectFile(t, filepath.Join(dir, "sub", "other.txt"), demoLine)
	})
}

func expectFile(t *testing.T, name, want string) {
	t.Helper()
	got, err := os.ReadFile(name)
	if err != nil || string(got) != want {
		t.Errorf("%s: %q, %v; want %q", name, got, err, want)
	}
}

func TestMany(t *testing.T) {
	dir := t.TempDir()
	done := func(content string) []string {
		return []string{
			"Edit EXECUTING", "Edit SUCCEEDED", `"I wrote "`, `"hello.txt"`, `".\n"`,
			"ShellTool EXECUTING", `ShellTool EXECUTING "done\n"`, "ShellTool SUCCEEDED", `"The command"`, `" succeeded.\n"`,
			ran("write %q to %q (proceed_once)", content, filepath.Join(dir, "hello.txt")), ran("%q in %q (proceed_once)", "echo done", dir),
			"completed (final)",
		}
	}
	t.Run("in one message", func(t *testing.T) {
		converseIn(t, dir, nil, func(t *testing.T, c *client) {
			expect(t, "asked", c.prompt("many"), "task submitted", "working", "Edit PENDING?", "ShellTool PENDING?", "input-required (final)")
			expect(t, "approved", c.confirm("proceed_once"), done(demoLine)...)
		})
	})
	t.Run("one by one", func(t *testing.T) {
		converseIn(t, dir, nil, func(t *testing.T, c *client) {
			c.prompt("many")
			e, s := c.calls[0], c.calls[1]
			one := func(call, option string) []string {
				return c.open("message/stream", c.message(c.taskID, data(confirmation(call, option)))).rest()
			}
			expect(t, "command", one(s, "proceed_once"), "ShellTool PENDING", "input-required (final)")
			c.refused(c.message(c.taskID, data(confirmation(s, "cancel"))), "-32602", s, "there is no such call", "for "+e)
			expect(t, "edit", one(e, "proceed_once"), done(demoLine+demoLine)...)
		})
	})
}

func TestSlowIsCanceled(t *testing.T) {
	converse(t, nil, func(t *testing.T, c *client) {
		r := c.open("message/stream", c.message("", text("slow")))
		for range 5 {
			r.next()
		}
		if got, err := c.call("tasks/cancel", map[string]any{"id": c.taskID}); at(got, "status.state") != "canceled" {
			t.Errorf("cancel: %v %s", got, err)
		}
		lines := r.rest()
		expect(t, "the end", lines[len(lines)-1:], "canceled (final)")
		_, err := c.call("tasks/cancel", map[string]any{"id": c.taskID})
		expectError(t, err, "-32002")
		_, err = c.call("message/send", c.message(c.taskID, text("hello")))
		expectError(t, err, "terminal state: canceled")
	})
}

func TestCancelWhileAsking(t *testing.T) {
	converse(t, nil, func(t *testing.T, c *client) {
		c.prompt("shell")
		r := c.open("tasks/resubscribe", map[string]any{"id": c.taskID})
		expect(t, "snapshot", []string{line(r.next())}, "task input-required")
		c.call("tasks/cancel", map[string]any{"id": c.taskID})
		expect(t, "live", r.rest(), "ShellTool CANCELLED", "canceled (final)")
	})
}

// A slow reader delays neither the story nor another reader, and loses nothing.
func TestLongLosesNothing(t *testing.T) {
	converse(t, &Options{Pace: -1}, func(t *testing.T, c *client) {
		r := c.open("message/stream", c.message("", text("long")))
		r.next()
		synctest.Wait() // the story is over; its first reader has read one event
		got, _ := c.call("tasks/get", map[string]any{"id": c.taskID})
		var want strings.Builder
		for i := range longChunks {
			fmt.Fprintf(&want, "chunk %d\n", i+1)
		}
		if at(got, "status.state") != "completed" || at(got, "history.1.parts.0.text") != want.String() {
			t.Errorf("the story is %v, or its text is not whole", at(got, "status"))
		}
		var text strings.Builder
		for e := r.next(); e != nil; e = r.next() {
			if s, ok := at(e, "status.message.parts.0.text").(string); ok {
				text.WriteString(s)
			}
		}
		if text.String() != want.String() {
			t.Error("the stream's text is not whole")
		}
	})
}

// A client that leaves does not end its task. A returning one gets the rest once: what
// the snapshot has is not repeated.
func TestDisconnectAndResubscribe(t *testing.T) {
	converse(t, nil, func(t *testing.T, c *client) {
		ctx, cancel := context.WithCancel(t.Context())
		r := c.openContext(ctx, "message/stream", c.message("", text("slow")))
		for range 4 {
			r.next()
		}
		cancel()
		time.Sleep(10*time.Second + slowPace/2) // the client is away, in virtual time
		r = c.open("tasks/resubscribe", map[string]any{"id": c.taskID})
		snapshot := r.next()
		whole, _ := at(snapshot, "history.1.parts.0.text").(string)
		if n := strings.Count(whole, "\n"); n != 22 { // the second came at 0.5 s, the client is back at 10.75 s
			t.Errorf("the snapshot has %d lines of text", n)
		}
		for e := r.next(); e != nil; e = r.next() {
			if s, ok := at(e, "status.message.parts.0.text").(string); ok {
				whole += s
			}
		}
		for i := range slowChunks {
			if strings.Count(whole, fmt.Sprintf("tick %d of", i+1)) != 1 {
				t.Errorf("tick %d is not there once", i+1)
			}
		}
		expect(t, "terminal", c.open("tasks/resubscribe", map[string]any{"id": c.taskID}).rest(), "task completed")
	})
}

// TestWords: the first word of the prompt, or of any of its text parts, selects the
// story, also within tags. A mere mention selects none.
func TestWords(t *testing.T) {
	for prompt, want := range map[string]bool{
		"ask":                          true,
		"ask|me":                       true,
		"Some context.|ask":            true,
		"<user_query>ask</user_query>": true,
		"<context cwd=\"/\">\nhello there\n</context>\n<query>\nask me\n</query>": false, // the first that names one: hello
		"<context>\nfiles\n</context>\n<query>\nask me\n</query>":                 true,
		"what does <b>ask</b> do": false,
		"please ask":              false,
		"<ask":                    false,
		"":                        false,
	} {
		m := &message{}
		for text := range strings.SplitSeq(prompt, "|") {
			m.parts = append(m.parts, part{text: text})
		}
		agent := New(&Options{Pace: -1})
		task := newTask(agent.newSession())
		must.Do(t, agent.create(task, m.story(), m))
		must.Do(t, task.settled(t.Context(), agent.ctx, 0))
		if got := task.view(nil).state == stateInputRequired; got != want {
			t.Errorf("%q: asks %t, not %t", prompt, got, want)
		}
		agent.Close()
	}
}
