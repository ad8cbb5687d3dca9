package spell

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/ask"
	"github.com/a2astdio/a2astdio/mapping/calls"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file has what version 2 of ACP spells otherwise than version 1: messages that are
// replaced in place, the state of a session, and questions; one update creates and changes a tool
// call, a command's output is a terminal's, and a change of a file is a patch.

// Places says where version 2 shows a session's items, so that what replaces one takes its
// place: see [ACP.V2]. It outlives the ACP of a turn. The zero value is ready.
type Places struct {
	shown        map[itemKey][]string // the messages that show an item, in their order
	owner        map[string]itemKey   // the item that a message shows, the zero one if it shows several
	as           map[string]string    // by a message that took the place of another, the name of that
	wholeMessage bool                 // the content block that is spelled next is all of its message
	notes        int                  // how many messages the bridge itself has said

	terminals terminals
}

// maxPlaces bounds what a turn keeps: of more items, and more often, none is replaced.
const maxPlaces = 1 << 14

// Turn notes that a turn begins: what an earlier one has shown stays.
func (p *Places) Turn() {
	clear(p.shown)
	clear(p.owner)
	clear(p.as)
}

// close closes a content block's array, if it is in one, and returns the editor's name of its
// message, which version 2 always has.
func (p *Places) close(dst []byte, name string) ([]byte, string) {
	if p.wholeMessage {
		p.wholeMessage, dst = false, append(dst, ']')
	}
	return dst, p.name(name)
}

// name is how the editor knows the message that a step is shown in.
func (p *Places) name(shown string) string {
	if as, ok := p.as[shown]; ok {
		return as
	}
	return cmp.Or(shown, "~") // some agents leave a message without a name
}

// newNote returns a new name for a message that the bridge itself says; "" in version 1, which has
// no Places, and whose messages need none.
func (p *Places) newNote() string {
	if p == nil {
		return ""
	}
	p.notes++
	return "note~" + strconv.Itoa(p.notes)
}

// placeItem notes where a step of an item is shown. If the step replaces the item, it takes the place
// of all that was shown of it (further messages are emptied), unless these show other items, too.
func (e *ACP) placeItem(dst []byte, s *mapping.Step) []byte {
	p := e.V2
	if s.Shown == "" {
		return dst
	}
	item := itemKey{task: s.TaskID, kind: "message", id: s.MessageID}
	if s.ArtifactID != "" {
		item.kind, item.id = "artifact", s.ArtifactID
	}
	name, names := p.name(s.Shown), p.shown[item]
	alone := func(name string) bool { return p.owner[name] == item }
	if s.Replaces && len(names) > 0 && len(p.as) < maxPlaces && !slices.ContainsFunc(names, func(n string) bool { return !alone(n) }) {
		if p.as == nil {
			p.as = map[string]string{}
		}
		for _, other := range names[1:] {
			dst = append(e.open(dst, "agent_message"), `,"content":[],"messageId":`...)
			dst = e.close(rawjson.AppendString(dst, other))
		}
		p.as[strings.Clone(s.Shown)] = names[0]
		p.shown[item], p.wholeMessage = names[:1], true
		return dst
	}
	if slices.Contains(names, name) || len(p.owner) >= maxPlaces {
		return dst
	}
	if p.shown == nil {
		p.shown, p.owner = map[itemKey][]string{}, map[string]itemKey{}
	}
	item.task, item.id, name = strings.Clone(item.task), strings.Clone(item.id), strings.Clone(name)
	p.shown[item] = append(names, name)
	if _, shared := p.owner[name]; shared {
		item = itemKey{}
	}
	p.owner[name] = item
	return dst
}

// Said appends what the user says, as an editor of version 2 is told: his message appears where
// it takes its place in the conversation.
func (e *ACP) Said(dst []byte, prompt a2a.JSON, messageID string) []byte {
	e.V2.wholeMessage = true
	dst = e.UserMessage(dst, prompt, messageID)
	e.V2.wholeMessage = false
	return dst
}

// State appends what a session does, one of ACP's words.
func (e *ACP) State(dst []byte, state string) []byte {
	return e.close(append(e.open(dst, "state_update"), `,"state":"`+state+`"`...))
}

// permission2 returns the parameters of session/request_permission. What is asked is a command if
// the agent has said which, and where, and nothing else; else it is the call.
func (e *ACP) permission2(q mapping.Question) json.RawMessage {
	c := q.Call
	dst := rawjson.AppendString([]byte(`{"sessionId":`), e.Session)
	dst = rawjson.AppendString(append(dst, `,"title":`...), mapping.Title(c))
	e.options = q.Options
	if text := e.toolText(c); text.text != "" {
		dst = append(text.append(append(dst, `,"description":"`...)), '"')
	}
	if command, dir := ask.CommandOnly(c); command != "" && dir != "" {
		dst = rawjson.AppendString(append(dst, `,"subject":{"type":"command","command":`...), command)
		dst = rawjson.AppendString(append(dst, `,"cwd":`...), absolute(e.Cwd, dir))
		dst = rawjson.AppendString(append(dst, `,"toolCallId":`...), c.Shown)
		if e.V2.terminals[c.Shown] != nil {
			dst = rawjson.AppendString(append(dst, `,"terminalId":`...), c.Shown)
		}
	} else {
		dst = rawjson.AppendString(append(dst, `,"subject":{"type":"tool_call","toolCall":{"toolCallId":`...), c.Shown)
		dst = append(e.toolFields(dst, c, mapping.ToolHead|mapping.ToolState|mapping.ToolContent), '}')
	}
	e.options = nil
	return appendOptions(append(dst, '}'), q.Options)
}

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

// terminal2 appends what a step changes of its call's terminal, and returns that; nil: it has none.
func (e *ACP) terminal2(dst []byte, s *mapping.Step) ([]byte, *terminal) {
	c, p := s.Tool, e.V2
	t := p.terminals.of(s)
	switch {
	case t == nil:
		return dst, nil
	case s.New:
		dst = e.openTerminal(dst, c)
	}
	added, ok := t.added(c)
	isText := c.Output == nil && c.OutputSoFar != "" || c.Output != nil && c.Output.Text != ""
	if s.Changed&mapping.ToolCleared != 0 && !c.Status.Ended() || !ok && isText {
		t.written = "" // in version 2 what was written can be replaced
		added, _ = t.added(c)
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
	name := gitQuoted(path)
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

// gitQuoted is a path as Git reads it in a patch: in quotes where it has a quote, a backslash, or
// anything that is no printed ASCII.
func gitQuoted(path string) string {
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
