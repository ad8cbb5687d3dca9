package spell

import (
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/ask"
	"github.com/a2astdio/a2astdio/mapping/calls"
)

// This file shows the output of commands as a terminal's, to editors that ask for it (a
// convention of ACP's clients, in _meta: terminal_info with the call, terminal_output
// with what is added, terminal_exit at the end). What was written to a terminal stays
// there: where an agent replaces its output, the call's content becomes text again.

// A TerminalMember is the member of _meta in which a client takes a command's output.
type TerminalMember string

// The members that clients ask for, each by its own name among the capabilities.
const (
	TerminalOutput TerminalMember = "terminal_output"
	TerminalDelta  TerminalMember = "terminal_output_delta"
)

// A terminal is what the editor shows of one command's output.
type terminal struct {
	written string // a view of the call's output, which only grows
	alone   bool   // the call's content is the terminal and nothing else
}

// terminals are those of commands, by the name that the editor knows the call by.
type terminals map[string]*terminal

// of returns the terminal of a step's call, nil if it has none. A new command gets one.
func (all *terminals) of(s *mapping.Step) *terminal {
	if c := s.Tool; s.New && mapping.ToolKind(c) == acp.KindExecute && !c.Bare {
		if *all == nil {
			*all = terminals{}
		}
		(*all)[c.Shown] = &terminal{}
	}
	return (*all)[s.Tool.Shown]
}

// terminalCall spells a step of a call that is shown in a terminal; false: it is
// shown as any other, though the terminal's end may go along.
func (e *ACP) terminalCall(dst []byte, s *mapping.Step) ([]byte, bool) {
	c := s.Tool
	t := e.terminals.of(s)
	switch {
	case t == nil:
		return dst, false
	case s.New:
		e.metaMember("terminal_info", c, appendOptional(nil, "cwd", absolute(e.Cwd, workingDirectory(c))))
	}
	if c.Status.Ended() {
		delete(e.terminals, c.Shown)
	}
	added, ok := t.added(c)
	if s.Changed&mapping.ToolCleared != 0 && !c.Status.Ended() || !ok {
		delete(e.terminals, c.Shown)
		e.exit(c)
		return dst, false
	}
	pieces, update := pieces(added), "tool_call_update"
	if s.New {
		update = "tool_call" // without content, which clients read as no output
	} else {
		pieces = e.write(c, pieces)
	}
	dst = e.open(dst, update)
	dst = rawjson.AppendString(append(dst, `,"toolCallId":`...), c.Shown)
	dst = e.close(e.terminalChange(dst, t, s))
	for more := s.New && c.Status.Ended(); more || len(pieces) > 0; more = false {
		pieces = e.write(c, pieces)
		dst = e.open(dst, "tool_call_update")
		dst = append(dst, `,"toolCallId":`...)
		dst = e.close(rawjson.AppendString(dst, c.Shown))
	}
	return dst, true
}

// write has the next update write the first piece to a call's terminal, and end the terminal if
// that is all and the call is over. It returns the other pieces.
func (e *ACP) write(c *mapping.ToolCall, pieces []string) (rest []string) {
	if len(pieces) > 0 {
		e.metaMember(string(e.Terminal), c, rawjson.AppendField(nil, "data", pieces[0]))
		pieces = pieces[1:]
	}
	if len(pieces) == 0 && c.Status.Ended() {
		e.exit(c)
	}
	return pieces
}

// added returns what a call's output has beyond what was written to the terminal, and counts it
// as written; false if the output does not begin with that, or is no text.
func (t *terminal) added(c *mapping.ToolCall) (added string, ok bool) {
	text := c.OutputSoFar
	switch {
	case c.Error != nil || c.Status == mapping.ToolCancelled: // told beside the terminal
		return "", true
	case isBeside(c.Output):
		return "", false
	case c.Output != nil && c.Output.Text != "":
		text = c.Output.Text
	}
	// Colours are lost, and with them what else a sequence can ask of a terminal.
	switch text = ask.WithoutEscapes(text); {
	case strings.HasPrefix(text, t.written):
		added, t.written = text[len(t.written):], text
		return added, true
	case text == "" || c.Status.Ended() && strings.TrimSpace(text) == strings.TrimSpace(t.written):
		return "", true // agents repeat it in the end, trimmed
	}
	return "", false
}

// isBeside reports whether a result is no text, so that it is shown beside the terminal.
func isBeside(o *mapping.ToolOutput) bool {
	return o != nil && (o.Diff != nil || o.Text == "" && o.Data != "")
}

// pieces splits text to be written into what one update carries.
func pieces(text string) (all []string) {
	for text = ask.AtLast(text, textMax); text != ""; {
		var piece string
		piece, text = ask.Split(text, textMax)
		all = append(all, piece)
	}
	return all
}

// terminalChange appends what a step changes of a call that has a terminal.
func (e *ACP) terminalChange(dst []byte, t *terminal, s *mapping.Step) []byte {
	dst = e.terminalContent(e.toolHead(dst, s.Tool, s.Changed), t, s)
	if s.Tool.Status.Ended() {
		dst = appendToolRawOutput(dst, s.Tool)
	}
	return dst
}

// terminalContent appends the content of such a call, if it has changed: questions and notes about
// the call stand before the terminal.
func (e *ACP) terminalContent(dst []byte, t *terminal, s *mapping.Step) []byte {
	var content []byte
	c := s.Tool
	if c.Asks || c.Error != nil || c.Status == mapping.ToolCancelled || isBeside(c.Output) || s.New && c.OutputSoFar == "" && c.Output == nil {
		content = e.toolContent(nil, c)
	}
	if content == nil && t.alone {
		return dst
	}
	if t.alone = content == nil; t.alone {
		dst = append(dst, `,"content":[`...)
	} else {
		dst = append(append(dst, content[:len(content)-1]...), ',')
	}
	dst = append(dst, `{"type":"terminal","terminalId":`...)
	return append(rawjson.AppendString(dst, c.Shown), "}]"...)
}

// exit adds the end of a call's terminal to the next update, with the exit code if the call
// has one.
func (e *ACP) exit(c *mapping.ToolCall) {
	var members []byte
	if code, ok := exitCode(c); ok {
		members = rawjson.AppendJSON(nil, "exit_code", strconv.FormatInt(code, 10))
	}
	e.metaMember("terminal_exit", c, members)
}

// metaMember adds a member that names a call's terminal, with members behind that, to the next
// update's _meta.
func (e *ACP) metaMember(name string, c *mapping.ToolCall, members []byte) {
	o := append(rawjson.AppendString([]byte(`{"terminal_id":`), c.Shown), members...)
	e.meta.members = rawjson.AppendMember(e.meta.members, name, rawjson.View(append(o, '}')))
}

// exitCode is a command's. Where the agent has said only how the call has ended, it is 0 or
// 1: without one, editors show the command as running, or as ended they do not know how.
func exitCode(c *mapping.ToolCall) (int64, bool) {
	if c.Error != nil && c.Error.StatusCode != 0 {
		return int64(c.Error.StatusCode), true
	}
	if c.Output != nil && c.Output.Data != "" {
		code := gjson.Parse(calls.ReadObject(nil, string(c.Output.Data)).Get("exit_code", "exitCode"))
		if code.Type == gjson.Number {
			return code.Int(), true
		}
	}
	if c.Status == mapping.ToolFailed {
		return 1, true
	}
	return 0, c.Status == mapping.ToolSucceeded
}

// workingDirectory is where a command runs, where the agent has said it.
func workingDirectory(c *mapping.ToolCall) string {
	if c.Confirmation != nil && c.Confirmation.Execute != nil {
		return c.Confirmation.Execute.WorkingDirectory
	}
	return ""
}
