package spell

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/ask"
	"github.com/a2astdio/a2astdio/mapping/calls"
)

// This file spells tool calls for version 2 of ACP: one update creates and changes them, a
// command's output is a terminal's, and a change of a file is a patch.

// tool2 appends what has changed of a call, behind what has changed of its terminal.
func (e *ACP) tool2(dst []byte, s *mapping.Step) []byte {
	c := s.Tool
	dst, t := e.terminal2(dst, s)
	if t != nil && !s.New && !c.Status.Ended() && s.Changed == mapping.ToolContent && !c.Asks && t.alone {
		return dst // the terminal has it
	}
	dst = rawjson.AppendString(append(e.open(dst, "tool_call_update"), `,"toolCallId":`...), c.Shown)
	if c.Name != "" && s.Changed&mapping.ToolHead != 0 {
		dst = rawjson.AppendString(append(dst, `,"name":`...), c.Name)
	}
	if t == nil {
		return e.close(e.toolChange(dst, s))
	}
	return e.close(e.terminalChange(dst, t, s))
}

// terminal2 appends what a step of a command changes of its terminal; nil: it has none.
func (e *ACP) terminal2(dst []byte, s *mapping.Step) ([]byte, *terminal) {
	c, p := s.Tool, e.V2
	t := p.terminals.of(s)
	switch {
	case t == nil:
		return dst, nil
	case s.New:
		dst = e.openTerminal(dst, c)
	}
	added, ok := t.take(c)
	isText := c.Output == nil && c.OutputSoFar != "" || c.Output != nil && c.Output.Text != ""
	if s.Changed&mapping.ToolCleared != 0 && !c.Status.Ended() || !ok && isText {
		t.written = "" // in version 2 what was written can be replaced
		added, _ = t.take(c)
		head, rest := ask.Split(ask.AtLast(added, textMax), textMax)
		dst = append(e.terminalUpdate(dst, c), `,"output":{"data":`...)
		dst, added = e.close(append(appendBase64(dst, head), '}')), rest
	}
	for _, piece := range pieces(added) {
		dst = rawjson.AppendString(append(e.open(dst, "terminal_output_chunk"), `,"terminalId":`...), c.Shown)
		dst = e.close(appendBase64(append(dst, `,"data":`...), piece))
	}
	if c.Status.Ended() {
		delete(p.terminals, c.Shown)
		dst = append(e.terminalUpdate(dst, c), `,"exitStatus":{`...)
		if code, ok := exitCode(c); ok {
			dst = strconv.AppendInt(append(dst, `"exitCode":`...), code, 10)
		}
		dst = e.close(append(dst, '}'))
	}
	return dst, t
}

// terminalUpdate opens an update of a call's terminal.
func (e *ACP) terminalUpdate(dst []byte, c *mapping.ToolCall) []byte {
	return rawjson.AppendString(append(e.open(dst, "terminal_update"), `,"terminalId":`...), c.Shown)
}

// openTerminal appends what is known of the command that a new terminal runs.
func (e *ACP) openTerminal(dst []byte, c *mapping.ToolCall) []byte {
	command := calls.StringOf(rawjson.Member(string(c.Input), "command"))
	if q := c.Confirmation; q != nil && q.Execute != nil {
		command = cmp.Or(q.Execute.Command, command)
	}
	command = ask.Visible(command)
	dst = e.terminalUpdate(dst, c)
	if command != "" {
		dst = rawjson.AppendField(dst, "command", command)
	}
	if dir := workingDirectory(c); dir != "" {
		dst = rawjson.AppendField(dst, "cwd", absolute(e.Cwd, dir))
	}
	return e.close(dst)
}

func appendBase64(dst []byte, data string) []byte {
	return append(base64.StdEncoding.AppendEncode(append(dst, '"'), []byte(data)), '"')
}

// diff2 appends a change as a patch, or without one, if a text is too long. over is how many bytes
// are not shown then.
func (e *ACP) diff2(dst []byte, diff *mapping.FileDiff) (_ []byte, over int) {
	path, old, was, operation := absolute(e.Cwd, diff.FilePath), "", "/dev/null", "add"
	if diff.OldContent != nil {
		old, operation = *diff.OldContent, "modify"
	}
	dst = append(dst, `{"type":"diff","changes":[{"operation":"`+operation+`","fileType":"text","path":`...)
	dst = append(rawjson.AppendString(dst, path), `}]`...)
	if max(len(old), len(diff.NewContent)) > ask.ChangeMax {
		return append(dst, '}'), len(old) + len(diff.NewContent)
	}
	name := quoted(path)
	head := "diff --git " + name + " " + name + "\n"
	if operation == "modify" {
		was = name
	} else {
		head += "new file mode 100644\n"
	}
	hunks := udiff.Unified(was, name, old, diff.NewContent)
	dst = append(dst, `,"patch":{"format":"git_patch","text":`...)
	return append(rawjson.AppendString(dst, head+hunks), `}}`...), 0
}

// quoted is a path as Git reads it in a patch: in quotes where it has a quote, a backslash, or
// anything that is no printed ASCII.
func quoted(path string) string {
	var b strings.Builder
	for _, c := range []byte(path) {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			fmt.Fprintf(&b, `\%03o`, c)
		} else {
			b.WriteByte(c)
		}
	}
	if b.Len() == len(path) {
		return path
	}
	return `"` + b.String() + `"`
}
