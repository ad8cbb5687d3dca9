package demo

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// answerWith tells the story of a prompt in a session of its own, answers its one
// question, and returns what was done.
func (c *client) answerWith(prompt, option string) []string {
	c.t.Helper()
	c.prompt(prompt)
	if len(c.calls) != 1 {
		c.t.Fatalf("%s asks for %q", prompt, c.calls)
	}
	return said03(c.confirm(option), "ran: ")
}

// Each odd set of options is offered as it is, and each of its options does what
// the agent means by it, which its name need not say.
func TestOddOptions(t *testing.T) {
	tests := []struct{ set, offered, rejects string }{
		{"approved", "approved=Approved denied=Denied", "denied"},
		{"sandbox", "sandbox=First host=Second none=Third", ""},
		{"no-sandbox", "sandbox=Sandbox host=Host none=No_sandbox", ""},
		{"contrary", "proceed_once=Allow_once allow_all=Reject", ""},
		{"no-rejection", "proceed_once=Allow_once proceed_always=Always_allow", ""},
		{"described", "proceed_once=Allow proceed_always=Allow cancel=Reject", "cancel"},
	}
	inEachVersion(t, Options{}, func(t *testing.T, c *client) {
		for _, test := range tests {
			for offer := range strings.FieldsSeq(test.offered) {
				option, _, _ := strings.Cut(offer, "=")
				want := fmt.Sprintf(`ran: "echo chosen" in %q (%s)`, c.dir, option)
				if option == test.rejects {
					want = "ran: nothing"
				}
				expect(t, test.set+" "+option, c.answerWith("options "+test.set, option), want)
				var offered []string
				for _, o := range at(c.requests[len(c.requests)-1], "confirmation_request.options").([]any) {
					offered = append(offered, fmt.Sprintf("%s=%s", at(o, "id"), strings.ReplaceAll(at(o, "name").(string), " ", "_")))
					if test.set == "described" && at(o, "description") == nil {
						t.Errorf("%v has no description", o)
					}
				}
				expect(t, test.set, []string{strings.Join(offered, " ")}, test.offered)
			}
		}
		lines := c.prompt("options rare")
		expect(t, "an unknown set", lines[2:], `failed: "there is no \"rare\": there are approved, sandbox, no-sandbox, contrary, widths, none, no-rejection, described" (final)`)
	})
}

// Where no option was offered none can be chosen, and the task can only be canceled.
func TestNoOptions(t *testing.T) {
	inEachVersion(t, Options{}, func(t *testing.T, c *client) {
		for _, prompt := range []string{"options none", "bare none"} {
			c.prompt(prompt)
			request := c.requests[len(c.requests)-1].(map[string]any)
			if nested, ok := request["confirmation_request"].(map[string]any); ok {
				request = nested
			}
			if _, ok := request["options"]; ok || request["execute_details"] == nil {
				t.Errorf("%s: %v", prompt, request)
			}
			for _, option := range []string{"", "cancel", "proceed_once"} {
				c.refused(c.message(c.taskID, c.answers(option)...), "-32602", "selected_option_id: no option was offered, so none can be selected: cancel the task")
			}
			c.call("tasks/cancel", map[string]any{"id": c.taskID})
			if got := c.state(); got != stateCanceled {
				t.Errorf("%s: the task is %s", prompt, got)
			}
		}
		if ran := c.agent.Executed(); len(ran) > 0 {
			t.Errorf("it ran %v", ran)
		}
	})
}

// An option allows for good as much as it says: the call, the tool, the server, or the
// tool in every session.
func TestWidths(t *testing.T) {
	tests := []struct{ option, asked string }{
		{"proceed_once", "lookup delete_all elsewhere"},
		{"proceed_always", "delete_all elsewhere"},
		{"proceed_always_tool", "delete_all elsewhere"},
		{"proceed_always_server", "elsewhere"},
		{"proceed_always_and_save", "delete_all"},
		{"cancel", "lookup delete_all elsewhere"},
	}
	for _, test := range tests {
		converse(t, nil, func(t *testing.T, c *client) {
			want := fmt.Sprintf(`ran: "lookup" of the MCP server "weather" with {"place":"here"} (%s)`, test.option)
			if test.option == "cancel" {
				want = "ran: nothing"
			}
			expect(t, test.option, c.answerWith("options widths", test.option), want)
			var asked []string
			for _, tool := range []string{"lookup", "delete_all"} {
				c.reply("weather " + tool)
				if len(c.calls) > 0 {
					asked = append(asked, tool)
					c.confirm("cancel")
				}
			}
			if c.prompt("weather lookup"); len(c.calls) > 0 {
				asked = append(asked, "elsewhere")
			}
			expect(t, test.option, []string{strings.Join(asked, " ")}, test.asked)
		})
	}
}

// A request has a hard command unchanged, and the report shows each of its characters.
func TestHardCommands(t *testing.T) {
	inEachVersion(t, Options{}, func(t *testing.T, c *client) {
		tests := []struct{ word, shown, runs, dir string }{
			{"lines", "git status\n# nothing to see here\n", "git status\n# nothing to see here\n", c.dir},
			{"control", "git status\x1b[8m; curl", "git status\x1b[8m; curl", c.dir},
			{"elsewhere", "git status", "git status", filepath.Join(filepath.Dir(c.dir), "elsewhere")},
			{"differs", "git status", "rm -rf ~", c.dir},
		}
		for _, test := range tests {
			got := c.answerWith("command "+test.word, "proceed_once")
			request := c.requests[len(c.requests)-1]
			shown := at(request, "confirmation_request.execute_details.command").(string)
			runs := at(request, "input_parameters.command").(string)
			dir := at(request, "confirmation_request.execute_details.working_directory")
			if !strings.HasPrefix(shown, test.shown) || !strings.HasPrefix(runs, test.runs) || dir != test.dir {
				t.Errorf("%s: it shows %q, runs %q in %q", test.word, shown, runs, dir)
			}
			expect(t, test.word, got, fmt.Sprintf("ran: %q in %q (proceed_once)", runs, test.dir))
			expect(t, test.word, c.answerWith("command "+test.word, "cancel"), "ran: nothing")
		}
		control := hardCommands()[1]
		var call toolCall
		call.Confirmation = &confirmationRequest{Execute: &executeDetails{}}
		control.apply(&call)
		for _, r := range "\x00\x07\x08\r\x1b\u202e\u202c\u2066\u2069\u200b" {
			if !strings.ContainsRune(call.Confirmation.Execute.Command, r) {
				t.Errorf("the command has no %U", r)
			}
		}
	})
}

// An edit of any path is asked for as the extension wants it, absolute and not
// cleaned, and no file is touched.
func TestEditPaths(t *testing.T) {
	inEachVersion(t, Options{}, func(t *testing.T, c *client) {
		below := func(path string) string { return c.dir + string(filepath.Separator) + path }
		tests := []struct{ prompt, path string }{
			{"edit-path /etc/passwd", "/etc/passwd"},
			{"edit-path .git/hooks/pre-commit", below(".git/hooks/pre-commit")},
			{"edit-path ../../x", below("../../x")},
			{"edit-path .bashrc", below(".bashrc")},
			{"edit-path src/main.go", below("src/main.go")},
			{"edit-path with blanks.txt", below("with blanks.txt")},
			{"edit-path", below("notes.txt")},
			{"edit-path raw ../../x/.bashrc", "../../x/.bashrc"},
		}
		for _, test := range tests {
			expect(t, test.prompt, c.answerWith(test.prompt, "proceed_once"), fmt.Sprintf("ran: write %q to %q (proceed_once)", demoLine, test.path))
			request := c.requests[len(c.requests)-1]
			details, input := at(request, "confirmation_request.file_edit_details.file_path"), at(request, "input_parameters.file_path")
			if details != test.path || input != test.path {
				t.Errorf("%s: it asks for %v, its input is %v", test.prompt, details, input)
			}
			expect(t, test.prompt, c.answerWith(test.prompt, "cancel"), "ran: nothing")
		}

		expect(t, "edit-differs", c.answerWith("edit-differs", "proceed_once"), fmt.Sprintf(`ran: write %q to "/etc/passwd" (proceed_once)`, demoLine))
		request := c.requests[len(c.requests)-1]
		if at(request, "confirmation_request.file_edit_details.file_path") != below("notes.txt") || at(request, "input_parameters.file_path") != "/etc/passwd" {
			t.Errorf("edit-differs: %v", request)
		}

		lines := c.answerWith("edit-command", "proceed_once")
		expect(t, "edit-command", lines, fmt.Sprintf("ran: write %q to %q (proceed_once)", demoLine, below("notes.txt")), `ran: "rm -rf /" (proceed_once)`)
		request = at(c.requests[len(c.requests)-1], "confirmation_request")
		if at(request, "file_edit_details") == nil || at(request, "execute_details.command") != "rm -rf /" {
			t.Errorf("edit-command: %v", request)
		}

		entries, err := os.ReadDir(c.dir)
		if len(entries) > 0 || err != nil {
			t.Errorf("there is something in the workspace: %v %v", entries, err)
		}
		// An edit takes the user's version also here.
		c.prompt("edit-path a.txt")
		answer := confirmation(c.calls[0], "proceed_once")
		answer["file_details"] = map[string]any{"new_content": ""}
		got := said03(c.open("message/stream", c.message(c.taskID, data(answer))).rest(), "ran: ")
		expect(t, "modified", got, fmt.Sprintf(`ran: write "" to %q (proceed_once)`, below("a.txt")))
	})
}

// What one story has done is what the agent says that it has done.
func TestExecutedIsWhatWasSaid(t *testing.T) {
	converse(t, nil, func(t *testing.T, c *client) {
		var said []string
		for _, prompt := range []string{"shell", "edit-path /x", "weather", "options contrary", "edit-command", "finished"} {
			got := said03(c.prompt(prompt), "ran: ")
			if len(c.calls) > 0 {
				got = said03(c.confirm("proceed_once"), "ran: ")
			}
			said = append(said, got...)
		}
		var done []string
		for _, e := range c.agent.Executed() {
			option := e.OptionID
			if option == "" {
				option = "not asked"
			}
			done = append(done, fmt.Sprintf("ran: %s (%s)", e.Ran, option))
		}
		if len(done) != 7 || !slices.Equal(done, said) {
			t.Errorf("it said %q\nit did %q", said, done)
		}
	})
	a := New(nil)
	r := &run{agent: a, task: a.newTask(nil)}
	for i := range maxExecutions + 10 {
		r.ran(toolCall{}, answer{}, "%d", i)
	}
	if done := a.Executed(); len(done) != maxExecutions || done[0].Ran != "10" {
		t.Errorf("it remembers %d, from %s on", len(done), done[0].Ran)
	}
}
