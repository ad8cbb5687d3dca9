package world

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
)

// update takes an ACP session/update. The lock is held.
func (e *editor) update(params gjson.Result) {
	a, u := e.play.agent, params.Get("update")
	c := e.conversationOf(params.Get("sessionId").Str)
	text := u.Get("content.text").Str
	switch u.Get("sessionUpdate").Str {
	case "agent_message_chunk":
		s := &Shown{Kind: ShownText, ID: u.Get("messageId").Str, Text: text}
		switch {
		case strings.Contains(text, gapWords), strings.Contains(text, "cannot be asked what it has said"):
			s.Kind = ShownGap
		case strings.HasPrefix(strings.TrimSpace(text), bracket):
			s.Kind = ShownNotice
		case u.Get("content.type").Str != "text":
			s.Text = u.Get("content").Raw
		}
		c.show(a, s)
	case "agent_thought_chunk":
		c.show(a, &Shown{Kind: ShownThought, ID: u.Get("messageId").Str, Text: text})
	case "user_message_chunk":
		c.show(a, &Shown{Kind: ShownUser, Text: text})
	case "tool_call", "tool_call_update":
		e.toolUpdate(c, u)
	}
}

// toolUpdate takes a tool call or an update. Missing members keep their values.
func (e *editor) toolUpdate(c *conversation, u gjson.Result) {
	id := u.Get("toolCallId").Str
	s := &Shown{Kind: ShownTool, ID: id, New: u.Get("sessionUpdate").Str == "tool_call", Status: u.Get("status").Str}
	s.Name = toolName(u.Get("title").Str + " " + u.Get("rawInput").Raw + " " + u.Get("content").Raw)
	if c != nil {
		if s.Name != "" {
			c.titles[id] = s.Name
		}
		s.Name = c.titles[id]
	}
	if content := u.Get("content"); content.Exists() {
		s.HasContent, s.Content = true, content.Raw
	}
	c.show(e.play.agent, s)
}

// question takes session/request_permission, and lets the user answer.
func (e *editor) question(m gjson.Result) {
	a, params := e.play.agent, m.Get("params")
	c := e.conversationOf(params.Get("sessionId").Str)
	s := &Shown{Kind: ShownQuestion, ID: params.Get("toolCall.toolCallId").Str, Name: toolName(params.Get("toolCall").Raw)}
	params.Get("options").ForEach(func(_, o gjson.Result) bool {
		s.Options = append(s.Options, Offered{o.Get("optionId").Str, o.Get("name").Str, o.Get("kind").Str, o.Get("description").Str})
		return true
	})
	c.show(a, s)
	call := e.play.plan.callNamed(s.Name)
	if call == nil {
		call = &Call{Pick: Pick{How: PickDismiss}}
	}
	how, option := call.choose(s.Options)
	result := map[PickHow]string{
		PickDismiss: `"result":{"outcome":{"outcome":"cancelled"}}`,
		PickError:   `"error":{"code":-32603,"message":"the dialog crashed"}`,
		PickUnknown: `"result":{"outcome":{"outcome":"selected","optionId":"nobody-offered-this"}}`,
	}[how]
	if result == "" {
		result = fmt.Sprintf(`"result":{"outcome":{"outcome":"selected","optionId":%q}}`, option)
	}
	a.after(call.Pick.After, e.stopped, func() {
		s.Answer, s.Picked = a.now(), option
		a.wg.Go(func() { e.send(`{"jsonrpc":"2.0","id":%s,%s}`, m.Get("id").Raw, result) }) // ends when the bridge has read it, or ends
	})
}

// prompt sends a turn's prompt over ACP.
func (e *editor) promptACP(c *conversation, t *Turn) (id int, reply <-chan gjson.Result) {
	return e.request(c, "session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":%q}]}`, c.session, t.Prompt()))
}

// replied notes how a turn ended over ACP.
func (r *TurnRecord) replied(m gjson.Result) {
	r.Stop = m.Get("result.stopReason").Str
	if e := m.Get("error"); e.Exists() {
		r.Err = e.Get("message").Str + ": " + e.Get("data.details").Str
	}
}
