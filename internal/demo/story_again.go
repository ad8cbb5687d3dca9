package demo

import (
	"context"
	"strings"
)

// The stories of this file ask again, for the same or for nearly the same: what an
// "always" allows shows in what is asked.

// weather asks for a tool of one MCP server. The next turn can ask for another.
func weather(args []string) story {
	return func(ctx context.Context, r *run) error {
		tool := "lookup"
		if len(args) > 0 {
			tool = strings.Join(args, " ")
		}
		return r.callMCP(ctx, "weather", tool, optionsForMCP())
	}
}

// nameless asks for MCP tools of which nobody can say what they are.
func nameless(args []string) story {
	return func(ctx context.Context, r *run) error {
		which, err := word(args, "both", "server", "tool")
		if err != nil {
			return err
		}
		server, tool := "weather", "lookup"
		if which != "tool" {
			server = ""
		}
		if which != "server" {
			tool = ""
		}
		return r.callMCP(ctx, server, tool, optionsForMCP())
	}
}

func (r *run) callMCP(ctx context.Context, server, tool string, options []confirmationOption) error {
	text := "done"
	return r.simple(ctx, toolCall{
		ID: r.callID(), Name: "mcp", Description: "Ask about the weather", Input: map[string]any{"place": "here"},
		Confirmation: &confirmationRequest{Options: options, MCP: &mcpDetails{ServerName: server, ToolName: tool}},
	}, toolOutput{Text: &text})
}

// twice asks for something of no special kind, and then with the same or with
// other details.
func twice(args []string) story {
	return func(ctx context.Context, r *run) error {
		which, err := word(args, "same", "other")
		if err != nil {
			return err
		}
		for _, details := range []string{"Look out of the window", map[string]string{
			"same": "Look out of the window", "other": "Jump out of the window",
		}[which]} {
			text := "the sky is clear"
			if err := r.simple(ctx, toolCall{
				ID: r.callID(), Name: "window", Description: "Use the window", Input: map[string]any{"place": "here"},
				Confirmation: &confirmationRequest{Options: optionsForCall(), Generic: &genericDetails{Description: details}},
			}, toolOutput{Text: &text}); err != nil {
				return err
			}
		}
		return nil
	}
}

// repeats are ways to ask for a command again: the first asks for the same, the
// others for what is nearly the same.
func repeats() []change {
	return []change{
		{"same", func(*toolCall) {}},
		{"directory", elsewhere},
		{"argument", shows("git status --short", "git status --short")},
		{"blank", shows("git status ", "git status ")},
	}
}

// always asks for a command, and then as its words say, each in a pause of its
// own. An always allows the very same command in the very same directory.
func always(args []string) story { return repeating(args, false) }

// forgetful asks each time, as agents do that leave it to the client to remember.
func forgetful(args []string) story { return repeating(args, true) }

func repeating(args []string, forgets bool) story {
	return func(ctx context.Context, r *run) error {
		r.forgets = forgets
		if len(args) == 0 {
			args = words(repeats())
		}
		first := r.command("git status", "Look at the repository")
		first.Confirmation.Options = optionsForCall()
		calls := []toolCall{first}
		for _, arg := range args {
			which, err := word([]string{arg}, words(repeats())...)
			if err != nil {
				return err
			}
			c := apply(first, repeats(), which)
			c.ID = r.callID()
			calls = append(calls, c)
		}
		for _, c := range calls {
			if err := r.askAndExecute(ctx, c, "nothing to commit\n"); err != nil {
				return err
			}
		}
		return nil
	}
}
