package editor

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// The bridge's own messages are in brackets. These words tell of a gap.
var gapWords = []string{"may not hold all that it said", "cannot be asked what it has said"}

func isGap(text string) bool {
	for _, words := range gapWords {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
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
