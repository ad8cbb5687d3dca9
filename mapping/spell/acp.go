package spell

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/ask"
)

// ACP spells steps as session/update notifications of the Agent Client Protocol, for one
// session: in version 1, or in version 2, whose own parts are in acp2.go.
type ACP struct {
	// Session is the session's ID, Cwd its directory: paths are shown absolute.
	Session string
	Cwd     string
	// Notices says that the editor takes notices. Without it, what the bridge itself
	// has to say is spelled as a message of the agent.
	Notices bool
	// Terminal is the member of _meta in which the output of commands goes; "": it is
	// content of the tool call.
	Terminal TerminalMember
	// RunsTogether says that the editor does not look at messageId: without a paragraph between
	// them the words of two messages run together.
	RunsTogether bool
	// V2, if set, has version 2 spelled, and remembers where its items are shown.
	V2 *Places
	// Made, if set, is told by Append which steps became which lines.
	Made func(steps []mapping.Step, lines []byte)

	options   []mapping.Option // of the question that is being spelled
	thought   []byte           // room for the text of one
	meta      acpMeta
	terminals terminals
	outage    mapping.Outage
	recent    [16]string // the last messages with text: one that goes on after another is not new
	isText    bool       // what the editor got last is text
	silenceID string     // in version 2, the message that tells of the silence; "" if none does
}

// Append appends a line for each update that the steps make. Adjacent text of
// one message becomes one update: editors drown in thousands of small ones.
func (e *ACP) Append(dst []byte, steps []mapping.Step) []byte {
	for i := 0; i < len(steps); {
		s, n, from := &steps[i], 1, len(dst)
		if s.Repeats { // a view leaves out what was shown
			i++
			continue
		}
		if s.Kind == mapping.StepText && e.RunsTogether && e.V2 == nil {
			dst = e.paragraph(dst, s.Shown)
		}
		if e.meta.observe(s); e.V2 != nil && (s.Kind == mapping.StepText || s.Kind == mapping.StepPart) {
			dst = e.placeItem(dst, s)
		}
		if s.Kind == mapping.StepText {
			for size := len(s.Text); i+n < len(steps); n++ {
				next := &steps[i+n]
				if size += len(next.Text); size > textMax || next.Kind != mapping.StepText || next.Shown != s.Shown || next.Repeats || e.meta.begins(next) {
					break
				}
			}
			dst = e.text(dst, steps[i:i+n])
			e.isText = true
		} else if dst = e.step(dst, s); len(dst) > from {
			e.isText = false
		}
		if e.Made != nil {
			e.Made(steps[i:i+n], dst[from:])
		}
		i += n
	}
	return dst
}

// step appends the lines of a step that is no text; none if the editor is not shown it.
func (e *ACP) step(dst []byte, s *mapping.Step) []byte {
	switch s.Kind {
	case mapping.StepThought:
		text := s.Description
		if s.Subject != "" {
			if cap(e.thought) > textMax {
				e.thought = nil
			}
			e.thought = append(append(append(append(e.thought[:0], "**"...), s.Subject...), "**\n"...), s.Description...)
			text = rawjson.View(e.thought)
		}
		return e.chunks(dst, "agent_thought_chunk", text, s.Shown)
	case mapping.StepError:
		if s.State.Terminal() {
			return dst // it is the reason why the turn fails, and the reply has it
		}
		text := "\n[The agent reports an error: " + strings.TrimSpace(s.Text) + "]\n"
		if e.V2 != nil {
			return e.tell(dst, "error", text)
		}
		return e.chunks(dst, "agent_message_chunk", text, "")
	case mapping.StepNotice:
		return e.tell(dst, severity(s), s.Text)
	case mapping.StepConnection:
		return e.connectionChange(dst, &s.Connection)
	case mapping.StepPart:
		return e.part(dst, s)
	case mapping.StepTool:
		return e.tool(dst, s)
	}
	return dst
}

// open appends the beginning of an update, up to its kind and _meta; [ACP.close] appends the end.
func (e *ACP) open(dst []byte, update string) []byte {
	dst = rawjson.AppendString(append(dst, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":`...), e.Session)
	dst = append(dst, `,"update":{"sessionUpdate":"`...)
	dst = append(dst, update...)
	return e.meta.append(append(dst, '"'))
}

func (e *ACP) close(dst []byte) []byte { return append(dst, "}}}\n"...) }

// openContent opens an update of a message, up to its content block, which follows.
func (e *ACP) openContent(dst []byte, update string) []byte {
	if e.V2 != nil && e.V2.wholeMessage {
		return append(e.open(dst, strings.TrimSuffix(update, "_chunk")), `,"content":[`...)
	}
	return append(e.open(dst, update), `,"content":`...)
}

// closeContent closes it behind the block.
func (e *ACP) closeContent(dst []byte, messageID string) []byte {
	if e.V2 != nil {
		dst, messageID = e.V2.close(dst, messageID)
	}
	if messageID != "" {
		dst = rawjson.AppendString(append(dst, `,"messageId":`...), messageID)
	}
	return e.close(dst)
}

// paragraph begins a paragraph where the text of a new message, or artifact, follows other text:
// see RunsTogether.
func (e *ACP) paragraph(dst []byte, shown string) []byte {
	if !slices.Contains(e.recent[:], shown) {
		if e.isText {
			dst = e.chunks(dst, "agent_message_chunk", "\n\n", shown)
		}
		copy(e.recent[1:], e.recent[:])
		e.recent[0] = strings.Clone(shown)
	}
	return dst
}

// text appends a run of text of one message.
func (e *ACP) text(dst []byte, run []mapping.Step) []byte {
	if len(run[0].Text) > textMax {
		return e.chunks(dst, "agent_message_chunk", run[0].Text, run[0].Shown)
	}
	dst = append(e.openContent(dst, "agent_message_chunk"), `{"type":"text","text":`...)
	dst = appendText(dst, &run[0])
	for i := range run[1:] {
		dst = joinText(dst, &run[1+i])
	}
	return e.closeContent(append(dst, '}'), run[0].Shown)
}

// chunks appends text of any length as the chunks that it takes.
func (e *ACP) chunks(dst []byte, update, text, messageID string) []byte {
	for {
		var piece string
		piece, text = ask.Split(text, textMax)
		dst = e.openContent(dst, update)
		dst = rawjson.AppendString(append(dst, `{"type":"text","text":`...), piece)
		dst = e.closeContent(append(dst, '}'), messageID)
		if text == "" {
			return dst
		}
	}
}

// Permission returns the parameters of session/request_permission: the whole
// call again, because some clients show the question before they have shown the
// call, with the diff first, because some look at nothing else. Descriptions of
// options are part of the text: ACP has no member for them.
func (e *ACP) Permission(q mapping.Question) json.RawMessage {
	if e.V2 != nil {
		return e.permission2(q)
	}
	dst := append([]byte(nil), `{"sessionId":`...)
	dst = rawjson.AppendString(dst, e.Session)
	dst = rawjson.AppendString(append(dst, `,"toolCall":{"toolCallId":`...), q.Call.Shown)
	e.options = q.Options
	dst = e.toolFields(dst, q.Call, mapping.ToolHead|mapping.ToolState|mapping.ToolContent)
	e.options = nil
	return appendOptions(append(dst, '}'), q.Options)
}

// appendOptions appends what the user can answer, and the end of the question.
func appendOptions(dst []byte, options []mapping.Option) []byte {
	dst = append(dst, `,"options":[`...)
	for _, o := range options {
		dst = rawjson.AppendString(append(comma(dst), `{"optionId":`...), o.ID)
		dst = rawjson.AppendString(append(dst, `,"name":`...), ask.OneLine(o.Name))
		dst = append(dst, `,"kind":"`+o.Kind+`"}`...)
	}
	return append(dst, "]}"...)
}

// Mode appends a current_mode_update.
func (e *ACP) Mode(dst []byte, mode string) []byte {
	return e.close(rawjson.AppendField(e.open(dst, "current_mode_update"), "currentModeId", mode))
}

// Config appends a config_option_update: all options, as they are now.
func (e *ACP) Config(dst []byte, options []acp.ConfigOption) []byte {
	list, _ := rawjson.Marshal(options) // strings, all of them
	return e.close(rawjson.AppendJSON(e.open(dst, "config_option_update"), "configOptions", string(list)))
}

// Info appends a session_info_update: the session's title, and when it was last
// used, in RFC 3339.
func (e *ACP) Info(dst []byte, title, updatedAt string) []byte {
	return e.close(appendFields(e.open(dst, "session_info_update"), "title", title, "updatedAt", updatedAt))
}

// Commands appends an available_commands_update.
func (e *ACP) Commands(dst []byte, commands []acp.Command) []byte {
	dst = append(e.open(dst, "available_commands_update"), `,"availableCommands":[`...)
	command, text := `{"name":`, `,"input":{"hint":`
	if e.V2 != nil {
		command, text = `{"type":"command","name":`, `,"input":{"type":"text","hint":`
	}
	for _, c := range commands {
		dst = rawjson.AppendString(append(comma(dst), command...), c.Name)
		dst = rawjson.AppendString(append(dst, `,"description":`...), c.Description)
		if c.Hint != "" {
			dst = rawjson.AppendString(append(dst, text...), c.Hint)
			dst = append(dst, '}')
		}
		dst = append(dst, '}')
	}
	return e.close(append(dst, ']'))
}

// part appends a file, or data that only the agent understands.
func (e *ACP) part(dst []byte, s *mapping.Step) []byte {
	content, note := acpContent(s)
	if content == nil {
		if e.isText && s.Append {
			note = "\n" + note // a block of code begins a line
		}
		return e.chunks(dst, "agent_message_chunk", note, s.Shown)
	}
	dst = append(e.openContent(dst, "agent_message_chunk"), content...)
	return e.closeContent(dst, s.Shown)
}

// toolStatus is ACP's word for a tool call's state. Version 1 has none for
// cancelled. A call whose end is not known was not.
func (e *ACP) toolStatus(c *mapping.ToolCall) string {
	if e.V2 != nil && c.Status == mapping.ToolCancelled && !c.EndUnknown() {
		return acp.ToolCancelled
	}
	switch c.Status {
	case mapping.ToolExecuting:
		return acp.ToolInProgress
	case mapping.ToolSucceeded:
		return acp.ToolCompleted
	case mapping.ToolFailed, mapping.ToolCancelled:
		return acp.ToolFailed
	}
	return acp.ToolPending
}
