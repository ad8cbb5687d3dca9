package world

import (
	"fmt"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// event takes an event of A2A lines (docs/protocol-a2a-lines.md). The lock is
// held.
func (e *editor) event(method string, p gjson.Result) {
	request := int(p.Get("request").Int())
	c := e.owners[request]
	if v := p.Get("contextId").Str; v != "" && c != nil {
		c.context = v
	}
	s := &Shown{Request: request}
	// IDs are the agent's, which are unique within their task.
	task := p.Get("taskId").Str + "/"
	switch method {
	case "event/text":
		s.Kind, s.ID, s.Text = ShownText, task+p.Get("messageId").Str, p.Get("text").Str
	case "event/artifact":
		s.Kind, s.ID, s.Text = ShownText, c.generation(task+p.Get("artifactId").Str, p.Get("append").Bool()), p.Get("text").Str
		if !p.Get("text").Exists() {
			s.Data, s.Text = true, p.Get("part").Raw
		}
	case "event/message":
		s.Kind, s.ID, s.Data, s.Text = ShownText, task+p.Get("messageId").Str, true, p.Get("part").Raw
	case "event/thought":
		s.Kind, s.ID, s.Text = ShownThought, task+p.Get("messageId").Str, p.Get("subject").Str
	case "event/toolCall":
		e.lineCall(c, s, task, p.Get("toolCall"))
	case "event/notice":
		s.Kind, s.Text = ShownNotice, p.Get("message").Str
	case "event/connection":
		if !p.Get("gap").Bool() {
			return
		}
		s.Kind = ShownGap
	default:
		return
	}
	c.show(e.play.agent, s)
}

// lineCall takes a tool call, which is always complete.
func (e *editor) lineCall(c *conversation, s *Shown, task string, call gjson.Result) {
	s.Kind, s.ID, s.Name, s.Status = ShownTool, task+call.Get("tool_call_id").Str, call.Get("tool_name").Str, call.Get("status").Str
	s.HasContent = true
	for _, name := range []string{"live_content", "output", "error"} {
		if v := call.Get(name); v.Exists() {
			s.Content += v.Raw
		}
	}
	if c != nil {
		_, known := c.calls[s.ID]
		s.New = !known
		c.calls[s.ID] = call
	}
}

// promptLines sends a turn's prompt over A2A lines.
func (e *editor) promptLines(c *conversation, t *Turn) (id int, reply <-chan gjson.Result) {
	params := fmt.Sprintf(`{"text":%q,"workspace":"/"`, t.Prompt())
	if c.context != "" {
		params += fmt.Sprintf(`,"contextId":%q`, c.context)
	}
	if c.task != "" {
		params += fmt.Sprintf(`,"taskId":%q`, c.task)
	}
	return e.request(c, "message/stream", params+"}")
}

// legDone takes a leg's result, and what the next leg needs of it. It returns the
// waiting calls. The lock is held.
func (e *editor) legDone(c *conversation, r *TurnRecord, m gjson.Result) (pending []string) {
	result := m.Get("result")
	r.Stop, r.Err = result.Get("state").Str, result.Get("error").Str
	if x := m.Get("error"); x.Exists() {
		r.Stop, r.Err = "", x.Get("message").Str
		if len(r.Results) > 0 || !strings.Contains(r.Err, "is the agent running") && !strings.Contains(r.Err, "not delivered") {
			c.task = "" // else the task still waits for the prompt
		}
		return nil
	}
	r.Results = append(r.Results, result.Get("text").Str)
	if v := result.Get("contextId").Str; v != "" {
		c.context = v
	}
	result.Get("pending").ForEach(func(_, id gjson.Result) bool {
		pending = append(pending, id.Str)
		return true
	})
	if c.task = ""; State(r.Stop) == InputRequired || len(pending) > 0 {
		c.task = result.Get("taskId").Str
	}
	return pending
}

// answerLines lets the user answer the waiting calls, and sends the answers.
func (e *editor) answerLines(c *conversation, pending []string, cancelled <-chan time.Time) (id int, reply <-chan gjson.Result) {
	a := e.play.agent
	var asked []*Shown
	var picks []string
	var wait time.Duration
	a.mu.Lock()
	for _, id := range pending {
		known := c.calls[c.task+"/"+id]
		s := &Shown{Kind: ShownQuestion, ID: c.task + "/" + id, Name: known.Get("tool_name").Str}
		known.Get("confirmation_request.options").ForEach(func(_, o gjson.Result) bool {
			s.Options = append(s.Options, Offered{ID: o.Get("id").Str, Name: o.Get("name").Str, Description: o.Get("description").Str})
			return true
		})
		c.show(a, s)
		call := e.play.plan.callNamed(s.Name)
		if call == nil {
			call = &Call{}
		}
		if call.Pick.How != PickOwn {
			call = &Call{Options: call.Options, Pick: Pick{N: call.Pick.N, After: call.Pick.After}}
		}
		_, option := call.choose(s.Options)
		asked, wait = append(asked, s), max(wait, call.Pick.After)
		picks = append(picks, fmt.Sprintf(`{"toolCallId":%q,"optionId":%q}`, id, option))
		s.Picked = option
	}
	task := c.task
	a.mu.Unlock()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-cancelled:
		return 0, nil
	case <-e.stopped:
		return 0, nil
	}
	a.mu.Lock()
	for _, s := range asked {
		s.Answer = a.now()
	}
	a.mu.Unlock()
	return e.request(c, "toolCall/confirm", fmt.Sprintf(`{"taskId":%q,"confirmations":[%s]}`, task, strings.Join(picks, ",")))
}

// generation tells an artifact's new content from its replaced content: append is false
// where it begins or is replaced.
func (c *conversation) generation(id string, follows bool) string {
	if c == nil {
		return id
	}
	if !follows {
		c.generations[id]++
	}
	return fmt.Sprint(id, "#", c.generations[id])
}
