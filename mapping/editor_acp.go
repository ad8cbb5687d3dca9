package mapping

import (
	"encoding/json"
	"strings"

	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/ask"
)

// textMax is the most text, in bytes, that one update carries: longer messages
// are split, of longer output of tools a part is left out, with a note. ACP clients die of lines
// from 10 MiB on (coder/acp-go-sdk), older ones sooner; escaping can make a text
// six times as long.
const textMax = 1 << 20

// ACP spells steps as session/update notifications of the Agent Client Protocol,
// version 1, for one session.
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
	// Made, if set, is told by Append which steps became which lines.
	Made func(steps []Step, lines []byte)

	options   []Option // of the question that is being spelled
	meta      acpMeta
	terminals map[string]*terminal // by the name that the editor knows the call by
	outage    Outage
}

// Append appends a line for each update that the steps make. Adjacent text of
// one message becomes one update: editors drown in thousands of small ones.
func (e *ACP) Append(dst []byte, steps []Step) []byte {
	for i := 0; i < len(steps); {
		s, n, from := &steps[i], 1, len(dst)
		if s.Repeats { // a view leaves out what was shown
			i++
			continue
		}
		e.meta.note(s)
		if s.Kind == StepText {
			for i+n < len(steps) && steps[i+n].Kind == StepText && steps[i+n].Shown == s.Shown && !steps[i+n].Repeats && !e.meta.begins(&steps[i+n]) {
				n++
			}
			dst = e.text(dst, steps[i:i+n])
		} else {
			dst = e.step(dst, s)
		}
		if e.Made != nil {
			e.Made(steps[i:i+n], dst[from:])
		}
		i += n
	}
	return dst
}

// Piece splits off the steps that are spelled at once: all of them, but of a
// text longer than one update no more than one update's worth. What was taken
// is removed from the text.
func Piece(steps []Step) (piece, rest []Step) {
	for i := range steps {
		s := &steps[i]
		if s.Kind != StepText || s.size() <= textMax {
			continue
		}
		if i > 0 {
			return steps[:i], steps[i:]
		}
		head := *s
		if !s.Plain {
			head.Text, s.Text = ask.Split(s.Text, textMax)
			head.TextJSON, s.TextJSON = "", ""
			return []Step{head}, steps
		}
		if !s.piece {
			s.piece, s.TextJSON = true, s.TextJSON[1:len(s.TextJSON)-1]
		}
		n := splitJSON(string(s.TextJSON), textMax)
		head.piece, head.TextJSON = true, s.TextJSON[:n]
		s.TextJSON = s.TextJSON[n:]
		return []Step{head}, steps
	}
	return steps, nil
}

// size is how long a text is, at most.
func (s *Step) size() int {
	if s.piece {
		return len(s.TextJSON)
	}
	return max(len(s.Text), len(s.TextJSON))
}

func (e *ACP) step(dst []byte, s *Step) []byte {
	switch s.Kind {
	case StepThought:
		text := s.Description
		if s.Subject != "" {
			text = "**" + s.Subject + "**\n" + s.Description
		}
		return e.chunks(dst, "agent_thought_chunk", text, s.Shown)
	case StepError:
		if s.State.Terminal() {
			return dst // it is the reason why the turn fails, and the reply has it
		}
		return e.chunks(dst, "agent_message_chunk", "\n[The agent reports an error: "+strings.TrimSpace(s.Text)+"]\n", "")
	case StepNotice:
		if e.Notices {
			return e.notice(dst, severity(s), s.Text)
		}
		return e.chunks(dst, "agent_message_chunk", s.Text, "")
	case StepConnection:
		return e.connection(dst, &s.Connection)
	case StepPart:
		return e.part(dst, s)
	case StepTool:
		return e.tool(dst, s)
	}
	return dst
}

func (e *ACP) open(dst []byte, update string) []byte {
	dst = appendString(append(dst, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":`...), e.Session)
	dst = append(dst, `,"update":{"sessionUpdate":"`...)
	dst = append(dst, update...)
	return e.meta.append(append(dst, '"'))
}

func (e *ACP) close(dst []byte) []byte { return append(dst, "}}}\n"...) }

func (e *ACP) closeChunk(dst []byte, messageID string) []byte {
	dst = append(dst, '}')
	if messageID != "" {
		dst = appendString(append(dst, `,"messageId":`...), messageID)
	}
	return e.close(dst)
}

// text appends a run of text of one message.
func (e *ACP) text(dst []byte, run []Step) []byte {
	size := 0 // of the open line's text; 0: none is open
	for i := range run {
		s := &run[i]
		if s.size() > textMax {
			if size > 0 {
				dst, size = e.closeChunk(append(dst, '"'), s.Shown), 0
			}
			dst = e.chunks(dst, "agent_message_chunk", s.Text, s.Shown)
			continue
		}
		if size > 0 && size+s.size() > textMax {
			dst, size = e.closeChunk(append(dst, '"'), s.Shown), 0
		}
		if size == 0 {
			dst = e.open(dst, "agent_message_chunk")
			dst = append(dst, `,"content":{"type":"text","text":`...)
			dst = appendText(dst, s)
		} else {
			dst = joinText(append(dst, '"'), s)
		}
		dst = dst[:len(dst)-1] // nor the closing one: more may follow
		size += max(s.size(), 1)
	}
	if size > 0 {
		dst = e.closeChunk(append(dst, '"'), run[0].Shown)
	}
	return dst
}

// chunks appends text of any length as the chunks that it takes.
func (e *ACP) chunks(dst []byte, update, text, messageID string) []byte {
	for {
		var piece string
		piece, text = ask.Split(text, textMax)
		dst = e.open(dst, update)
		dst = appendString(append(dst, `,"content":{"type":"text","text":`...), piece)
		dst = e.closeChunk(dst, messageID)
		if text == "" {
			return dst
		}
	}
}

// splitJSON returns where to divide a longer JSON string, given without quotes: at
// most n bytes in, not inside a character or an escape, nor between the escapes of
// one character.
func splitJSON(s string, n int) int {
	const unit = len(`\ud83d`)
	head, _ := ask.Split(s, n)
	n = len(head)
	from := max(0, n-2*unit)
	last := strings.LastIndexByte(s[from:n], '\\')
	if last < 0 {
		return n
	}
	last += from
	if before := strings.TrimRight(s[:last], `\`); (last-len(before))%2 != 0 {
		return n // it is the second of two
	}
	if e := s[last:]; e[1] == 'u' && e[2]|0x20 == 'd' && e[3]|0x20 >= 'c' {
		return last - unit // the first half of the pair
	}
	return last
}

// Permission returns the parameters of session/request_permission: the whole
// call again, because some clients show the question before they have shown the
// call, with the diff first, because some look at nothing else. Descriptions of
// options are part of the text: ACP has no member for them.
func (e *ACP) Permission(q Question) json.RawMessage {
	dst := append([]byte(nil), `{"sessionId":`...)
	dst = appendString(dst, e.Session)
	dst = appendString(append(dst, `,"toolCall":{"toolCallId":`...), q.Call.Shown)
	e.options = q.Options
	dst = e.toolFields(dst, q.Call, ToolHead|ToolState|ToolContent)
	e.options = nil
	dst = append(dst, `},"options":[`...)
	for i, o := range q.Options {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(append(dst, `{"optionId":`...), o.ID)
		dst = appendString(append(dst, `,"name":`...), ask.OneLine(o.Name))
		dst = append(dst, `,"kind":"`+o.Kind+`"}`...)
	}
	return append(dst, "]}"...)
}

// Mode appends a current_mode_update.
func (e *ACP) Mode(dst []byte, mode string) []byte {
	dst = e.open(dst, "current_mode_update")
	dst = appendString(append(dst, `,"currentModeId":`...), mode)
	return e.close(dst)
}

// Config appends a config_option_update: all options, as they are now.
func (e *ACP) Config(dst []byte, options []acp.ConfigOption) []byte {
	list, err := marshal(options)
	if err != nil {
		return dst // never: they are strings
	}
	dst = e.open(dst, "config_option_update")
	dst = append(append(dst, `,"configOptions":`...), list...)
	return e.close(dst)
}

// Info appends a session_info_update: the session's title, and when it was last
// used, in RFC 3339.
func (e *ACP) Info(dst []byte, title, updatedAt string) []byte {
	dst = e.open(dst, "session_info_update")
	dst = appendString(append(dst, `,"title":`...), title)
	dst = appendString(append(dst, `,"updatedAt":`...), updatedAt)
	return e.close(dst)
}

// Commands appends an available_commands_update.
func (e *ACP) Commands(dst []byte, commands []Command) []byte {
	dst = e.open(dst, "available_commands_update")
	dst = append(dst, `,"availableCommands":[`...)
	for i, c := range commands {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(append(dst, `{"name":`...), c.Name)
		dst = appendString(append(dst, `,"description":`...), c.Description)
		if c.Hint != "" {
			dst = appendString(append(dst, `,"input":{"hint":`...), c.Hint)
			dst = append(dst, '}')
		}
		dst = append(dst, '}')
	}
	return e.close(append(dst, ']'))
}

// part appends a file, or data that only the agent understands.
func (e *ACP) part(dst []byte, s *Step) []byte {
	content, note := acpContent(s)
	if content == nil {
		return e.chunks(dst, "agent_message_chunk", note, s.Shown)
	}
	dst = e.open(dst, "agent_message_chunk")
	dst = append(dst, `,"content":`...)
	dst = append(dst, content...)
	if s.Shown != "" {
		dst = appendString(append(dst, `,"messageId":`...), s.Shown)
	}
	return e.close(dst)
}

// toolStatus is ACP's word for a tool call's state. Version 1 has none for
// cancelled.
func toolStatus(c *ToolCall) string {
	switch c.Status {
	case ToolExecuting:
		return acp.ToolInProgress
	case ToolSucceeded:
		return acp.ToolCompleted
	case ToolFailed, ToolCancelled:
		return acp.ToolFailed
	}
	return acp.ToolPending
}
