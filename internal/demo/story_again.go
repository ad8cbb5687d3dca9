package demo

import (
	"context"
	"strings"
)

// Stories that repeat a request, equal or nearly equal. The questions show what an
// "always" allows.

// weather asks for a tool of an MCP server. The next turn can ask for another.
func weather(args []string) story {
	return func(ctx context.Context, r *run) error {
		tool := "lookup"
		if len(args) > 0 {
			tool = strings.Join(args, " ")
		}
		return r.callMCP(ctx, "weather", tool, optionsForMCP())
	}
}

// nameless asks for MCP tools without a usable name.
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
		ID: r.task.callID(), Name: "mcp", Description: "Ask about the weather", Input: map[string]any{"place": "here"},
		Confirmation: &confirmationRequest{Options: options, MCP: &mcpDetails{ServerName: server, ToolName: tool}},
	}, toolOutput{Text: &text})
}

// twice asks for something of no special kind, twice, with equal or other details.
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
				ID: r.task.callID(), Name: "window", Description: "Use the window", Input: map[string]any{"place": "here"},
				Confirmation: &confirmationRequest{Options: optionsForCall(), Generic: &genericDetails{Description: details}},
			}, toolOutput{Text: &text}); err != nil {
				return err
			}
		}
		return nil
	}
}

// repeats are ways to repeat a request for a command: the first is equal, the others
// are nearly equal.
func repeats() []change {
	return []change{
		{"same", func(*toolCall) {}},
		{"directory", elsewhere},
		{"argument", shows("git status --short", "git status --short")},
		{"blank", shows("git status ", "git status ")},
	}
}

// always asks for a command, and repeats it as its words say, each in a pause of its
// own. An "always" allows exactly this command in this directory.
func always(args []string) story { return repeating(args, false) }

// forgetful asks each time, like agents that leave the memory to the client.
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
			c.ID = r.task.callID()
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
