package talk

import (
	"fmt"
	"strings"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
)

// tool shows a call: on the screen while it runs, as a line at its end.
func (o *TextOutput) tool(s *mapping.Step) {
	c := s.Tool
	if !s.New && s.Changed&mapping.ToolState == 0 {
		return
	}
	switch {
	case c.Status == mapping.ToolExecuting:
		o.screen.LineStart()
		o.screen.Now(ToolName(c))
	case c.Status.Ended():
		o.screen.Now(o.agent)
		lead, paint := "done", "32"
		switch {
		case c.Status == mapping.ToolFailed:
			lead, paint = "failed", "31"
		case c.EndUnknown():
			lead, paint = "unknown", "33"
		case c.Status == mapping.ToolCancelled:
			lead, paint = "not run", "33"
		}
		o.screen.Line(lead, paint, ToolName(c), toolResult(c))
	}
}

// toolResult sums up a call's result in a few words.
func toolResult(c *mapping.ToolCall) string {
	switch {
	case c.Error != nil:
		return c.Error.Said(mapping.ToolKind(c) == acp.KindExecute)
	case c.Output == nil && c.Status == mapping.ToolSucceeded:
		return firstLine(c.OutputSoFar)
	case c.Output == nil:
		return ""
	case c.Output.Diff != nil:
		added, removed := changed(c.Output.Diff)
		return fmt.Sprintf("+%d -%d lines", added, removed)
	case c.Output.Text != "":
		return firstLine(c.Output.Text)
	}
	return safe.Short(string(c.Output.Data), frame.MaxValue)
}

// firstLine returns a text's first line, and how many follow.
func firstLine(text string) string {
	text = strings.TrimSpace(text)
	first, rest, more := strings.Cut(text, "\n")
	if !more {
		return first
	}
	return fmt.Sprintf("%s (and %d lines more)", first, strings.Count(rest, "\n")+1)
}
