package editor

import (
	"encoding/base64"
	"strings"

	"github.com/tidwall/gjson"
)

// A place is where a message, or a thought, was first shown: there it stays, whatever comes
// of it later.
type place struct {
	turn  *Turn
	index int
}

// update2 takes a session/update of ACP's version 2. The lock is held.
func (e *Editor) update2(u gjson.Result) {
	if e.turn == nil {
		return // of a session in which nothing was said yet
	}
	switch what := u.Get("sessionUpdate").Str; what {
	case "agent_message_chunk", "agent_message":
		e.message2(u, Text)
	case "agent_thought_chunk", "agent_thought":
		e.message2(u, Thought)
	case "user_message_chunk", "user_message":
		e.message2(u, User)
	case "state_update":
		e.state2(u)
	case "notice":
		s := &Shown{Kind: Notice, Text: u.Get("title").Str + " " + u.Get("description").Str}
		if isGap(s.Text) {
			s.Kind = Gap
		}
		e.show(s)
	case "tool_call_update":
		id := u.Get("toolCallId").Str
		if c := u.Get("content"); c.Exists() {
			e.calls[id] = c.Raw
		}
		s := &Shown{Kind: Call, ID: id, Text: u.Get("status").Str, Content: e.calls[id]}
		for _, t := range gjson.Get(s.Content, "#.terminalId").Array() {
			s.Content += e.terminals[t.Str]
		}
		e.show(s)
	case "terminal_update", "terminal_output_chunk":
		id := u.Get("terminalId").Str
		if u.Get("output").Exists() {
			e.terminals[id] = ""
		}
		written, _ := base64.StdEncoding.DecodeString(u.Get("output.data").Str + u.Get("data").Str) // the schema's matter
		e.terminals[id] += string(written)
	case "plan_update", "usage_update", "available_commands_update", "config_option_update", "session_info_update":
	default:
		e.turn.Err = "the editor does not know " + what
	}
}

// message2 takes a message's chunk, or the whole of one. The lock is held.
func (e *Editor) message2(u gjson.Result, kind Kind) {
	id, text := u.Get("messageId").Str, ""
	for _, block := range u.Get("content").Array() {
		if text += block.Get("text").Str; block.Get("type").Str != "text" {
			e.show(&Shown{Kind: Part, ID: id, Text: block.Raw})
		}
	}
	s := e.item(kind, id)
	if !strings.HasSuffix(u.Get("sessionUpdate").Str, "_chunk") && u.Get("content").Exists() {
		s.Text = "" // it is replaced, where it stands
	}
	s.Text += text
	if kind == Text && strings.HasPrefix(strings.TrimSpace(s.Text), "[") {
		if s.Kind = Notice; isGap(s.Text) {
			s.Kind = Gap
		}
	}
}

// item is a message or a thought as it is now. The lock is held.
func (e *Editor) item(kind Kind, id string) *Shown {
	name := string('0'+rune(kind)) + id
	at, ok := e.items[name]
	if !ok {
		e.show(&Shown{Kind: kind, ID: id})
		at = place{e.turn, len(e.turn.Shown) - 1}
		e.items[name] = at
	}
	return &at.turn.Shown[at.index]
}

// state2 takes a state of the session. The lock is held.
func (e *Editor) state2(u gjson.Result) {
	t := e.turn
	if u.Get("state").Str != "idle" {
		t.busy = true
		return
	}
	if !t.busy || t.idle == nil {
		return
	}
	select {
	case t.idle <- u:
	default: // a task that goes on behind the turn is idle once more
	}
}
