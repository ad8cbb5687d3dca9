package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/mapping"
)

// textOutput shows the agent's words as they come. Whatever else there is to say
// goes to stderr, so that stdout can be piped on.
type textOutput struct {
	out io.Writer
	// plain: out is a terminal, which the agent's text must not control.
	plain   bool
	verbose bool
	say     func(format string, args ...any)

	from    string // the message or artifact of the last text
	written bool
	newline bool // the last text ended with one
	buf     []byte
}

func (o *textOutput) show(steps []mapping.Step) error {
	o.buf = o.buf[:0]
	for i := range steps {
		s := &steps[i]
		switch s.Kind {
		case mapping.StepText:
			o.text(s)
			continue
		case mapping.StepPart:
			if what := partName(s); what != "" {
				o.say("the agent sent %s: -o json has it", what)
			}
		case mapping.StepError, mapping.StepNotice:
			o.say("%s", strings.TrimSpace(s.Text))
		case mapping.StepConnection:
			if s.Connection.Gap {
				o.say("the connection was lost, and the agent does not hold all that it said meanwhile")
			} else if o.verbose {
				o.say("connection: %s", s.Connection.Phase)
			}
		}
		if o.verbose {
			o.tell(s)
		}
	}
	if len(o.buf) == 0 {
		return nil
	}
	_, err := o.out.Write(o.buf)
	return err
}

// text adds text. Another message begins on a new line.
func (o *textOutput) text(s *mapping.Step) {
	text := s.Text
	if text == "" {
		return
	}
	from := s.MessageID + "\x00" + s.ArtifactID
	if o.written && from != o.from && !o.newline {
		o.buf = append(o.buf, '\n')
	}
	if o.plain {
		text = plainText(strings.ReplaceAll(text, "\r\n", "\n"))
	}
	o.buf = append(o.buf, text...)
	if from != o.from {
		o.from = strings.Clone(from)
	}
	o.written, o.newline = true, text[len(text)-1] == '\n'
}

// tell says in a line what the agent thinks or does.
func (o *textOutput) tell(s *mapping.Step) {
	switch s.Kind {
	case mapping.StepThought:
		subject, _, _ := strings.Cut(s.Subject, "\n")
		if subject == "" {
			subject, _, _ = strings.Cut(strings.TrimSpace(s.Description), "\n")
		}
		o.say("thinks: %s", subject)
	case mapping.StepTool:
		if s.New || s.Changed&mapping.ToolState != 0 {
			o.say("tool %s: %s", toolName(s.Tool), strings.ToLower(s.Tool.Status.String()))
		}
	}
}

// partName says what a part is that text cannot show.
func partName(s *mapping.Step) string {
	f := s.Part.File
	switch {
	case f.Name != "":
		return "a file, " + f.Name
	case f.URI != "":
		return "a file, " + f.URI
	case f.Bytes != "":
		return strings.TrimSpace("a file " + f.MediaType)
	case s.Part.Data != "":
		return "data"
	}
	return ""
}

// toolName is what a call is called in a line.
func toolName(c *mapping.ToolCall) string {
	name := c.DisplayName
	if name == "" {
		name = c.Name
	}
	if description, _, _ := strings.Cut(c.Description, "\n"); description != "" && description != name {
		name = fmt.Sprintf("%s (%s)", name, description)
	}
	return name
}

func (o *textOutput) end(bridge.Result, string) error {
	if !o.written || o.newline {
		return nil
	}
	_, err := io.WriteString(o.out, "\n")
	return err
}
