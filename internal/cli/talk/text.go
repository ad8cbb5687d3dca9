package talk

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// TextOutput writes the agent's text to stdout as it comes. All else goes to stderr, so
// that stdout can be piped.
type TextOutput struct {
	Out io.Writer
	// Plain: Out is a terminal, so control characters are replaced.
	Plain   bool
	verbose bool
	Say     func(format string, args ...any)
	screen  *frame.Screen // nil: stderr is no terminal
	agent   string        // who the screen waits for

	from    string // the message or artifact of the last text
	written bool
	newline bool // the last text ended with a newline
	outage  mapping.Outage
	model   string
	buf     []byte
}

func (o *TextOutput) show(steps []mapping.Step) error {
	o.buf = o.buf[:0]
	for i := range steps {
		s := &steps[i]
		if s.Repeats {
			continue // it was shown before
		}
		described := o.verbose && s.Description != "" && !s.Append
		if s.Kind != mapping.StepText || described {
			if err := o.flush(); err != nil { // what was said before it comes first
				return err
			}
		}
		switch s.Kind {
		case mapping.StepText:
			if described {
				o.Say("artifact %s: %s", cmp.Or(s.Name, s.ArtifactID), s.Description)
			}
			o.text(s)
			continue
		case mapping.StepPart:
			what, _ := PartSays(s.Part)
			o.Say("the agent sent %s: -o json has it", what)
		case mapping.StepError, mapping.StepNotice:
			sayAside(o.Say, s)
		case mapping.StepConnection:
			o.connection(s)
		}
		if s.Kind == mapping.StepTool && o.screen != nil {
			o.tool(s)
		} else if o.verbose {
			o.tell(s)
		}
	}
	return o.flush()
}

// connection tells what became of the connection to the agent. On a terminal a loss is told
// at once: the user waits there. Elsewhere it is told if the first attempt did not help.
func (o *TextOutput) connection(s *mapping.Step) {
	c, attempt := &s.Connection, 2
	if o.screen != nil {
		attempt = 1
	}
	tell := o.outage.Tell(c, attempt)
	switch {
	case c.Gap:
		sayAside(o.Say, s)
	case c.Phase == mapping.PhaseWaiting:
		o.Say("the agent no longer accepts connections: waiting for it")
	case tell:
		o.Say("the connection to the agent is lost: trying again")
	case o.verbose && c.Silent == 0: // the screen shows silence itself
		o.Say("connection: %s", c.Phase)
	}
}

func (o *TextOutput) flush() error {
	if len(o.buf) == 0 {
		return nil
	}
	_, err := o.Out.Write(o.buf)
	o.buf = o.buf[:0]
	return err
}

// lineEnded reports whether the next text begins a line: the last text ended with a
// newline, or something else was written to the terminal since.
func (o *TextOutput) lineEnded() bool {
	return !o.written || o.newline || o.Plain && o.screen != nil && len(o.buf) == 0 && !o.screen.InLine()
}

// text writes text. Another message begins a new line.
func (o *TextOutput) text(s *mapping.Step) {
	text := s.Text
	if text == "" {
		return
	}
	from := s.Shown
	if from != o.from && !o.lineEnded() {
		o.buf = append(o.buf, '\n')
	}
	if o.Plain {
		text = safe.Plain(strings.ReplaceAll(text, "\r\n", "\n"))
	}
	o.buf = append(o.buf, text...)
	if from != o.from {
		o.from = strings.Clone(from)
	}
	o.written, o.newline = true, text[len(text)-1] == '\n'
}

// tell reports in a line what the agent thinks or does.
func (o *TextOutput) tell(s *mapping.Step) {
	if model := s.Model; model != "" && model != o.model {
		o.model = strings.Clone(model)
		if s.UserTier != "" {
			model += " (" + s.UserTier + ")"
		}
		o.Say("model: %s", model)
	}
	switch s.Kind {
	case mapping.StepThought:
		if s.Append {
			return // only the beginning of a thought is told
		}
		o.Say("thinks: %s", strings.ReplaceAll(Thought(s.Subject, s.Description), "\n", "\n  "))
	case mapping.StepTool:
		if s.New || s.Changed&mapping.ToolState != 0 {
			status := strings.ToLower(s.Tool.Status.String())
			if s.Tool.Error != nil {
				status += ": " + s.Tool.Error.Said(mapping.ToolKind(s.Tool) == acp.KindExecute)
			}
			o.Say("tool %s: %s", ToolName(s.Tool), status)
		}
	}
}

func Thought(subject, description string) string {
	subject, description = strings.TrimSpace(subject), strings.TrimSpace(description)
	if subject != "" && description != "" {
		subject += ": "
	}
	return subject + description
}

// PartSays tells what a part is that is no text, and what is in it, unless that is a file.
func PartSays(p *a2a.Part) (what, content string) {
	switch p.Kind {
	case a2a.PartData:
		return "data", string(p.Data)
	case a2a.PartFile:
	default:
		return "something of an unknown kind", string(p.Raw)
	}
	f := p.File
	about := slices.DeleteFunc([]string{"a file", f.Name, f.MediaType, f.URI}, func(s string) bool { return s == "" })
	if b, err := f.Content(); f.URI == "" && err == nil {
		about = append(about, frame.Size(int64(len(b))))
	}
	return strings.Join(about, ", "), ""
}

func ToolName(c *mapping.ToolCall) string {
	name := cmp.Or(c.DisplayName, c.Name)
	if description, _, _ := strings.Cut(c.Description, "\n"); description != "" && description != name {
		name = fmt.Sprintf("%s (%s)", name, description)
	}
	return name
}

func (o *TextOutput) End(bridge.Result, string) error { return o.endLine() }

func (o *TextOutput) endLine() error {
	if o.lineEnded() {
		return nil
	}
	o.newline = true
	_, err := io.WriteString(o.Out, "\n")
	return err
}

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
