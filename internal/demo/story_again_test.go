package demo

import (
	"fmt"
	"path/filepath"
	"testing"
)

// The tools of one MCP server are asked for one by one, in one session.
func TestWeather(t *testing.T) {
	inEachVersion(t, Options{}, func(t *testing.T, c *client) {
		const did = `ran: %q of the MCP server "weather" with {"place":"here"} (%s)`
		expect(t, "lookup", c.answerWith("weather lookup", "proceed_always_tool"), fmt.Sprintf(did, "lookup", "proceed_always_tool"))
		expect(t, "again", said03(c.reply("weather lookup"), "ran: "), fmt.Sprintf(did, "lookup", "allowed before"))
		c.reply("weather delete_all")
		if got := at(c.requests[len(c.requests)-1], "confirmation_request.mcp_details"); at(got, "server_name") != "weather" || at(got, "tool_name") != "delete_all" {
			t.Errorf("it asks for %v", got)
		}
		expect(t, "delete_all", said03(c.confirm("cancel"), "ran: "), "ran: nothing")
	})
}

// A server or tool without a name is asked for by what there is, and allowing one
// nameless tool allows no other.
func TestNameless(t *testing.T) {
	inEachVersion(t, Options{}, func(t *testing.T, c *client) {
		const did = `ran: %q of the MCP server %q with {"place":"here"} (%s)`
		expect(t, "both", c.answerWith("nameless", "proceed_always_tool"), fmt.Sprintf(did, "", "", "proceed_always_tool"))
		expect(t, "both", said03(c.reply("nameless both"), "ran: "), fmt.Sprintf(did, "", "", "allowed before"))
		for which, names := range map[string][2]string{"server": {"lookup", ""}, "tool": {"", "weather"}} {
			c.reply("nameless " + which)
			got := at(c.requests[len(c.requests)-1], "confirmation_request.mcp_details")
			if len(c.calls) != 1 || at(got, "tool_name") != names[0] || at(got, "server_name") != names[1] {
				t.Errorf("nameless %s: it asks for %v", which, got)
			}
			expect(t, which, said03(c.confirm("proceed_once"), "ran: "), fmt.Sprintf(did, names[0], names[1], "proceed_once"))
		}
	})
}

// Generic details are the same, or they are asked for.
func TestTwice(t *testing.T) {
	const did = `ran: window with {"place":"here"} (%s)`
	inEachVersion(t, Options{}, func(t *testing.T, c *client) {
		expect(t, "same", c.answerWith("twice", "proceed_always"), fmt.Sprintf(did, "proceed_always"), fmt.Sprintf(did, "allowed before"))
		c.prompt("twice other")
		if c.confirm("proceed_always"); len(c.calls) != 1 {
			t.Fatalf("other details were not asked for")
		}
		if got := at(c.requests[len(c.requests)-1], "confirmation_request.generic_details.description"); got != "Jump out of the window" {
			t.Errorf("it asks for %v", got)
		}
		expect(t, "other", said03(c.confirm("cancel"), "ran: "), fmt.Sprintf(did, "proceed_always"))
	})
}

// An always of a command is for the very same command: its near misses are asked,
// and by a forgetful agent the same is, too.
func TestAlways(t *testing.T) {
	tests := []struct {
		prompt string
		asked  []string // commands, in the order in which they are asked
	}{
		{"always same same", []string{"git status"}},
		{"always directory", []string{"git status", "git status"}},
		{"always argument", []string{"git status", "git status --short"}},
		{"always blank", []string{"git status", "git status "}},
		{"always", []string{"git status", "git status", "git status --short", "git status "}},
		{"forgetful same", []string{"git status", "git status"}},
		{"forgetful", []string{"git status", "git status", "git status", "git status --short", "git status "}},
	}
	inEachVersion(t, Options{}, func(t *testing.T, c *client) {
		for _, test := range tests {
			c.requests = nil
			for c.prompt(test.prompt); len(c.calls) > 0; {
				c.confirm("proceed_always")
			}
			var asked []string
			for _, r := range c.requests {
				asked = append(asked, at(r, "confirmation_request.execute_details.command").(string))
			}
			expect(t, test.prompt, asked, test.asked...)
		}
		elsewhere := filepath.Join(filepath.Dir(c.dir), "elsewhere")
		c.prompt("always same directory")
		c.confirm("proceed_always")
		expect(t, "what was done", said03(c.confirm("cancel"), "ran: "),
			fmt.Sprintf(`ran: "git status" in %q (proceed_always)`, c.dir), fmt.Sprintf(`ran: "git status" in %q (allowed before)`, c.dir))
		if got := at(c.requests[len(c.requests)-1], "confirmation_request.execute_details.working_directory"); got != elsewhere {
			t.Errorf("the other directory is %v", got)
		}
	})
}
