package editor

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// The bridge's own messages are in brackets. These words tell of a gap.
var gapWords = []string{"may not hold all that it said", "cannot be asked what it has said"}

func isGap(text string) bool {
	return slices.ContainsFunc(gapWords, func(words string) bool { return strings.Contains(text, words) })
}

// promptACP runs a turn over ACP.
func (e *Editor) promptACP(t *Turn, text string, ready chan<- struct{}) {
	id, reply := e.request("session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":%s}]}`, e.session, quote(text)))
	t.request = id
	close(ready)
	m, ok := e.wait(reply)
	if e.opts.Protocol == ACP2 && m.Get("result.messageId").Str != "" { // it was accepted, no more
		m, ok = e.wait(t.idle)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	t.Stop = m.Get("result.stopReason").Str + m.Get("stopReason").Str
	if x := m.Get("error"); x.Exists() {
		t.Stop, t.Err = "", x.Get("message").Str+": "+x.Get("data.details").Str
	}
	if !ok {
		t.Err = Ended
	}
}

// update takes a session/update. The lock is held.
func (e *Editor) update(u gjson.Result) {
	text := u.Get("content.text").Str
	s := &Shown{ID: u.Get("messageId").Str, Text: text}
	switch u.Get("sessionUpdate").Str {
	case "agent_message_chunk":
		switch {
		case u.Get("content.type").Str != "text":
			s.Kind, s.Text = Part, u.Get("content").Raw
		case isGap(text):
			s.Kind = Gap
		case strings.HasPrefix(strings.TrimSpace(text), "["):
			s.Kind = Notice
		}
	case "agent_thought_chunk":
		s.Kind = Thought
	case "user_message_chunk":
		s.Kind = User
	case "tool_call", "tool_call_update":
		s.Kind, s.ID, s.Text, s.Content = Call, u.Get("toolCallId").Str, u.Get("status").Str, u.Get("content").Raw
	default:
		return
	}
	e.show(s)
}

// permission takes session/request_permission. The lock is held.
func (e *Editor) permission(m gjson.Result) {
	p := m.Get("params")
	s := &Shown{Kind: Question, ID: cmp.Or(p.Get("toolCall.toolCallId").Str, p.Get("subject.toolCall.toolCallId").Str, p.Get("subject.toolCallId").Str)}
	for _, o := range p.Get("options").Array() {
		s.Options, s.Kinds = append(s.Options, o.Get("optionId").Str), append(s.Kinds, o.Get("kind").Str)
	}
	var after time.Duration
	s.Picked, after = e.answer(s)
	e.show(s)
	result := `{"outcome":{"outcome":"cancelled"}}`
	if s.Picked != "" {
		result = fmt.Sprintf(`{"outcome":{"outcome":"selected","optionId":%q}}`, s.Picked)
	}
	e.wg.Go(func() { // ends when the user has answered, or the bridge ends
		timer := time.NewTimer(after)
		defer timer.Stop()
		select {
		case <-timer.C:
			e.send(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.Get("id").Raw, result)
		case <-e.gone:
		}
	})
}

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
