package demo

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

var update = flag.Bool("update", false, "write testdata anew")

// TestConversations has those of testdata/*.txt, whose format is at the top of edit.txt.
func TestConversations(t *testing.T) {
	for _, name := range []string{"edit", "many"} {
		dir, file := t.TempDir(), filepath.Join("testdata", name+".txt")
		converseIn(t, dir, nil, func(t *testing.T, c *client) {
			var told, asked []string
			for line := range strings.Lines(string(must.Get(os.ReadFile(file))(t))) {
				how, words, _ := strings.Cut(strings.TrimSpace(line), " ")
				if how == "" || !strings.Contains("#>+!1!2?2", how) {
					continue
				}
				told = append(told, strings.TrimSpace(line))
				switch how {
				case ">":
					told = append(told, c.prompt(words)...)
					asked = c.calls
				case "+":
					told = append(told, c.reply(words)...)
				case "!":
					told = append(told, c.confirm(words)...)
				case "!1", "!2":
					told = append(told, c.open("message/stream", c.message(c.taskID, data(confirmation(asked[how[1]-'1'], words)))).rest()...)
				case "?2":
					c.refused(c.message(c.taskID, data(confirmation(asked[1], words))), "-32602", asked[1], "there is no such call", "for "+asked[0])
				}
			}
			must.Golden(t, *update, file, strings.ReplaceAll(strings.Join(told, "\n")+"\n", dir, "DIR"))
		})
		expectFile(t, filepath.Join(dir, "hello.txt"), demoLine+demoLine)
		if name == "edit" {
			expectFile(t, filepath.Join(dir, "sub", "other.txt"), demoLine)
		}
	}
}

func expectFile(t *testing.T, name, want string) {
	t.Helper()
	got, err := os.ReadFile(name)
	if err != nil || string(got) != want {
		t.Errorf("%s: %q, %v; want %q", name, got, err, want)
	}
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
	for _, row := range must.Table[struct {
		In   string
		Want bool
	}](t, "testdata/prompts.txt") {
		prompt, want := row.In, row.Want
		m := &message{}
		for text := range strings.SplitSeq(prompt, "|") {
			m.Parts = append(m.Parts, part{Text: &text})
		}
		agent := New(&Options{Pace: -1})
		task := newTask(agent.newSession())
		must.Do(t, agent.create(task, m.story(), m))
		must.Do(t, task.settled(t.Context(), agent.ctx, 0))
		if got := task.view(nil).Status.State == stateInputRequired; got != want {
			t.Errorf("%q: asks %t, not %t", prompt, got, want)
		}
		agent.Close()
	}
}
