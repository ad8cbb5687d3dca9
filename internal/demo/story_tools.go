package demo

import (
	"context"
	"fmt"
)

// simple asks for a call, and finishes it with an output.
func (r *run) simple(ctx context.Context, c toolCall, output toolOutput) error {
	answers, err := r.approve(ctx, c)
	if err != nil {
		return err
	}
	if !answers[c.ID].approved() {
		return r.say(ctx, "Then I do not.\n")
	}
	what := c.Name
	if d := c.Confirmation.MCP; d != nil {
		what = fmt.Sprintf("%q of the MCP server %q", d.ToolName, d.ServerName)
	}
	r.ran(answers[c.ID], "%s with %s", what, part{data: c.Input}.json())
	c.Status, c.Confirmation = callExecuting, nil
	if err := r.update(ctx, c); err != nil {
		return err
	}
	c.Status, c.Output = callSucceeded, &output
	if err := r.update(ctx, c); err != nil {
		return err
	}
	return r.say(ctx, "The tool", " answered.\n")
}

func mcp(ctx context.Context, r *run) error {
	text := "issue 7: the demo agent needs no model"
	return r.simple(ctx, toolCall{
		ID: r.task.newID(), Name: "get_issue", Description: "Read an issue", Input: map[string]any{"number": 7},
		Confirmation: &confirmationRequest{Options: options(), MCP: &mcpDetails{ServerName: "demo-tracker", ToolName: "get_issue"}},
	}, toolOutput{Text: &text})
}

func generic(ctx context.Context, r *run) error {
	return r.simple(ctx, toolCall{
		ID: r.task.newID(), Name: "weather", Description: "Look at the sky", Input: map[string]any{"place": "here"},
		Confirmation: &confirmationRequest{Options: options(), Generic: &genericDetails{Description: "Look out of the window"}},
	}, toolOutput{Structured: map[string]any{"sky": "clear", "degrees": 21, "wind": map[string]any{"from": "west", "knots": 4}}})
}

// toolError fails a tool, not the task.
func toolError(ctx context.Context, r *run) error {
	c := toolCall{
		ID: r.task.newID(), Name: "web_fetch", Description: "Fetch a page", Status: callPending,
		Input: map[string]any{"url": "https://demo.invalid/missing"},
	}
	if err := r.update(ctx, c); err != nil {
		return err
	}
	c.Status = callExecuting
	if err := r.update(ctx, c); err != nil {
		return err
	}
	status := int32(404)
	return r.failCall(ctx, c, errorDetails{Message: "the page does not exist", Type: "web_fetch_error", StatusCode: &status})
}

type todo struct {
	Description string `json:"description"`
	Status      string `json:"status"`
}

// todos is a tool call with a changing input: the list is replaced as a whole.
func todos(ctx context.Context, r *run) error {
	c := toolCall{ID: r.task.newID(), Name: "write_todos", Description: "Update the todo list", Status: callExecuting}
	steps := []string{"read the code", "write a test", "rewrite it in another language", "make it pass"}
	for _, statuses := range [][]string{
		{"in_progress", "pending", "pending", "pending"},
		{"completed", "in_progress", "cancelled", "pending"},
		{"completed", "completed", "cancelled", "in_progress"},
	} {
		list := make([]todo, len(steps))
		for i := range steps {
			list[i] = todo{steps[i], statuses[i]}
		}
		c.Input = map[string]any{"todos": list}
		if err := r.update(ctx, c); err != nil {
			return err
		}
	}
	text := "the list has 4 todos"
	c.Status, c.Output = callSucceeded, &toolOutput{Text: &text}
	if err := r.update(ctx, c); err != nil {
		return err
	}
	return r.say(ctx, "That is", " the plan.\n")
}
