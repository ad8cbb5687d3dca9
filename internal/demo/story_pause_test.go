package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A bare ConfirmationRequest is the message of input-required. Its answer names no
// call, because there is none.
func TestBare(t *testing.T) {
	inEachVersion(t, Options{}, func(t *testing.T, c *client) {
		did := fmt.Sprintf(`ran: "echo bare" in %q`, c.dir)
		expect(t, "asked", c.prompt("bare"), "task submitted", "working", "input-required: bare? (final)")
		last, path := c.seen[len(c.seen)-1], "metadata"
		if c.v1 {
			path = "statusUpdate.metadata"
		}
		if event, _ := at(last, path).(map[string]any); at(event[ExtensionURI], "kind") != "TOOL_CALL_CONFIRMATION" {
			t.Errorf("the event's metadata: %v", event)
		}
		for _, id := range []string{"x", c.taskID} {
			c.refused(c.message(c.taskID, data(confirmation(id, "proceed_once"))), "-32602", "there is no such call that awaits one: send it without a tool_call_id")
		}
		expect(t, "approved", c.open("message/stream", c.message(c.taskID, data(map[string]any{"selected_option_id": "proceed_once"}))).rest(),
			`"The command"`, `" succeeded.\n"`, ran("%s", strings.TrimPrefix(did, "ran: ")+" (proceed_once)"), "completed (final)")
		c.prompt("bare options")
		expect(t, "rejected", c.confirm("cancel"), `"I do not run "`, `"echo bare"`, `".\n"`, ran("nothing"), "completed (final)")
		expect(t, "always", c.answerWith("bare", "proceed_always"), did+" (proceed_always)")
	})
}

// Of two edits in one pause, a rejected one is never mentioned again: by no event,
// in no words, and to whoever asks it is pending.
func TestTwoEdits(t *testing.T) {
	for _, approved := range []int{0, 1} {
		for _, order := range [][]int{{0, 1}, {1, 0}, nil} {
			t.Run(fmt.Sprint(approved, order), func(t *testing.T) {
				inEachVersion(t, Options{}, func(t *testing.T, c *client) {
					expect(t, "asked", c.prompt("two-edits"), "task submitted", "working", "Edit PENDING?", "Edit PENDING?", "input-required (final)")
					calls := c.calls
					yes, no := calls[approved], calls[1-approved]
					c.seen = nil
					answers := []map[string]any{}
					for i, call := range calls {
						answers = append(answers, data(confirmation(call, map[bool]string{true: "proceed_once", false: "cancel"}[i == approved])))
					}
					var lines []string
					if order == nil {
						lines = c.open("message/stream", c.message(c.taskID, answers...)).rest()
					}
					for _, i := range order {
						lines = c.open("message/stream", c.message(c.taskID, answers[i])).rest()
					}
					name := []string{"one.txt", "two.txt"}
					file := filepath.Join(c.dir, name[approved])
					expect(t, "what was done", said03(lines, "ran: "), fmt.Sprintf("ran: write %q to %q (proceed_once)", demoLine, file))
					expectFile(t, file, demoLine)
					raw, _ := json.Marshal(c.seen)
					if strings.Contains(string(raw), no) || strings.Contains(string(raw), name[1-approved]) || !strings.Contains(string(raw), yes) {
						t.Errorf("after the answer it says %s", raw)
					}
					got, _ := c.call("tasks/get", map[string]any{"id": c.taskID})
					status := map[any]any{}
					for _, m := range got["history"].([]any) {
						if call := at(m, "parts.0.data"); at(call, "tool_name") != nil {
							status[at(call, "tool_call_id")] = at(call, "status")
						}
					}
					if status[no] != callPending || status[yes] != callSucceeded {
						t.Errorf("the task says %v", status)
					}
				})
			})
		}
	}
}

// Between two questions there is text, and the stream stays open; after both it is
// open for as long again, and then it pauses as the extension has it.
func TestBetween(t *testing.T) {
	inEachVersion(t, Options{Pace: -1}, func(t *testing.T, c *client) {
		began := time.Now()
		expect(t, "asked", c.prompt("between"), "task submitted", "working", "ShellTool PENDING?", `"And"`, `" another"`, `" one.\n"`,
			"ShellTool PENDING?", "input-required (final)")
		if took := time.Since(began); took != 2*betweenDefault {
			t.Errorf("it took %v", took)
		}
		done := []string{
			"ShellTool EXECUTING", `ShellTool EXECUTING "first\n"`, "ShellTool SUCCEEDED", `"The command"`, `" succeeded.\n"`,
			"ShellTool EXECUTING", `ShellTool EXECUTING "second\n"`, "ShellTool SUCCEEDED", `"The command"`, `" succeeded.\n"`,
			ran(`"echo first" in %q (proceed_once)`, c.dir), ran(`"echo second" in %q (proceed_once)`, c.dir), "completed (final)",
		}
		expect(t, "approved", c.confirm("proceed_once"), done...)

		// Both at once, while the stream of the prompt is open: it tells the rest, too.
		r := c.open("message/stream", c.message("", text("between 100")))
		for range 7 {
			r.next()
		}
		began = time.Now()
		answers := c.message(c.taskID, c.answers("proceed_once")...)
		expect(t, "approved early", c.open("message/stream", answers).rest(), done...)
		if took := time.Since(began); took != 0 {
			t.Errorf("an early answer had to wait %v", took)
		}
		expect(t, "the first stream", r.rest(), done...)
	})
}

// A stream that is cut between two questions: the first is answered, the second is
// asked by the answer's stream, and what was approved runs once.
func TestBetweenIsCut(t *testing.T) {
	inEachVersion(t, Options{Pace: -1}, func(t *testing.T, c *client) {
		for _, option := range []string{"proceed_once", "cancel"} {
			ctx, cut := context.WithCancel(t.Context())
			r := c.openContext(ctx, "message/stream", c.message("", text("between 400")))
			for range 3 {
				r.next()
			}
			cut()
			first := c.calls[0]
			c.refused(c.message(c.taskID, text("go on")), "-32602", "the approval must be answered first: send a ToolCallConfirmation for "+first)
			closed := map[string]string{"proceed_once": "ShellTool PENDING", "cancel": "ShellTool CANCELLED"}[option]
			expect(t, "the second is asked", c.open("message/stream", c.message(c.taskID, data(confirmation(first, option)))).rest(),
				closed, `"And"`, `" another"`, `" one.\n"`, "ShellTool PENDING?", "input-required (final)")
			if len(c.calls) != 1 || c.calls[0] == first {
				t.Fatalf("it asks for %q again", c.calls)
			}
			c.refused(c.message(c.taskID, data(confirmation(first, option))), "-32602", "there is no such call")
			want := []string{fmt.Sprintf(`ran: "echo second" in %q (proceed_once)`, c.dir)}
			if option == "proceed_once" {
				want = slices.Insert(want, 0, fmt.Sprintf(`ran: "echo first" in %q (proceed_once)`, c.dir))
			}
			expect(t, option, said03(c.confirm("proceed_once"), "ran: "), want...)
		}
	})
}

// Between two questions, when the first has been answered, nothing can be said.
func TestBetweenIsWorking(t *testing.T) {
	converse(t, &Options{Pace: -1}, func(t *testing.T, c *client) {
		r := c.open("message/stream", c.message("", text("between 400")))
		for range 3 {
			r.next()
		}
		answer := c.message(c.taskID, c.answers("proceed_once")...)
		s := c.open("message/stream", answer)
		s.next()
		c.refused(answer, "-32602", "awaits a ToolCallConfirmation")
		c.refused(c.message(c.taskID, text("hurry")), "-32602", "is working")
		s.rest()
		c.call("tasks/cancel", map[string]any{"id": c.taskID})
		synctest.Wait()
		if got := c.state(); got != stateCanceled {
			t.Errorf("the task is %s", got)
		}
	})
	converse(t, nil, func(t *testing.T, c *client) {
		lines := c.prompt("between soon")
		expect(t, "no number", lines[2:], `failed: "\"soon\" is no number of milliseconds up to 65535" (final)`)
	})
}

// A call can be over when it is first heard of.
func TestFinished(t *testing.T) {
	inEachVersion(t, Options{}, func(t *testing.T, c *client) {
		input, _ := json.Marshal(c.dir)
		expect(t, "finished", c.prompt("finished"), "task submitted", "working", "ls SUCCEEDED", `"There are"`, `" 3 files.\n"`,
			ran(`ls with {"path":%s} (not asked)`, input), "completed (final)")
	})
}

// On demand, IDs of messages and calls begin anew in each task, and those of tasks
// and contexts do not.
func TestIDsBeginAnew(t *testing.T) {
	tests := []struct {
		opts   Options
		prompt string
	}{
		{Options{IDsPerTask: true}, "many"},
		{Options{}, "anew many"},
	}
	for _, test := range tests {
		inEachVersion(t, test.opts, func(t *testing.T, c *client) {
			tasks := map[string]bool{}
			for range 2 {
				c.seen = nil
				c.prompt(test.prompt)
				expect(t, "calls", c.calls, "c1", "c2")
				c.confirm("proceed_once")
				c.reply("edit")
				expect(t, "calls of the same task", c.calls, "c3")
				c.confirm("cancel")
				tasks[c.taskID], tasks[c.contextID] = true, true
				var ids []string
				for _, e := range c.seen {
					for _, path := range []string{"status.message.messageId", "statusUpdate.status.message.messageId"} {
						if id, ok := at(e, path).(string); ok && !slices.Contains(ids, id) {
							ids = append(ids, id)
						}
					}
				}
				for i, id := range ids {
					if !strings.HasPrefix(id, "m") || i == 0 && id != "m1" {
						t.Errorf("the IDs of messages are %q", ids)
					}
				}
			}
			if len(tasks) != 4 {
				t.Errorf("two tasks in two contexts have the IDs %v", tasks)
			}
		})
	}
	converse(t, nil, func(t *testing.T, c *client) {
		c.prompt("shell")
		if strings.HasPrefix(c.calls[0], "c1") {
			t.Errorf("the call's ID is %s", c.calls[0])
		}
	})
}
