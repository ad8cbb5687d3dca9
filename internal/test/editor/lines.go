package editor

import (
	"fmt"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// promptLines runs a turn over A2A lines: a leg, and one more for each time that calls wait.
func (e *Editor) promptLines(t *Turn, text string, ready chan<- struct{}) {
	e.mu.Lock()
	params := fmt.Sprintf(`{"text":%s,"workspace":"/"`, quote(text))
	if e.context != "" {
		params += fmt.Sprintf(`,"contextId":%q`, e.context)
	}
	if e.task != "" {
		params += fmt.Sprintf(`,"taskId":%q`, e.task)
	}
	e.mu.Unlock()
	id, reply := e.request("message/stream", params+"}")
	t.request = id
	close(ready)
	for {
		m, ok := e.wait(reply)
		if !ok {
			t.Err = Ended
			return
		}
		pending := e.legDone(t, m)
		if len(pending) == 0 || t.cancelled {
			return
		}
		if params = e.answers(pending); params == "" {
			return
		}
		id, reply = e.request("toolCall/confirm", params)
		e.mu.Lock()
		t.request = id
		e.mu.Unlock()
	}
}

// legDone takes a leg's result. It returns the calls that wait.
func (e *Editor) legDone(t *Turn, m gjson.Result) (pending []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := m.Get("result")
	t.Stop, t.Err = r.Get("state").Str, r.Get("error").Str
	if x := m.Get("error"); x.Exists() {
		t.Stop, t.Err, e.task = "", x.Get("message").Str, ""
		return nil
	}
	if v := r.Get("contextId").Str; v != "" {
		e.context = v
	}
	for _, id := range r.Get("pending").Array() {
		pending = append(pending, id.Str)
	}
	if e.task = ""; t.Stop == "input-required" || len(pending) > 0 {
		e.task = r.Get("taskId").Str
	}
	return pending
}

// answers lets the user answer the calls that wait. It returns the params of the
// confirmation, "" if the bridge ends before.
func (e *Editor) answers(pending []string) string {
	e.mu.Lock()
	var picks []string
	var longest time.Duration
	for _, id := range pending {
		s := &Shown{Kind: Question, ID: id}
		for _, o := range e.asked[id].Get("confirmation_request.options").Array() {
			s.Options = append(s.Options, o.Get("id").Str)
		}
		if len(s.Options) == 0 {
			continue
		}
		var after time.Duration
		s.Picked, after = e.answer(s)
		if s.Picked == "" { // A2A lines have no answer that is none
			s.Picked = s.Options[len(s.Options)-1]
		}
		longest = max(longest, after)
		e.show(s)
		picks = append(picks, fmt.Sprintf(`{"toolCallId":%q,"optionId":%q}`, id, s.Picked))
	}
	task := e.task
	e.mu.Unlock()
	timer := time.NewTimer(longest)
	defer timer.Stop()
	select {
	case <-timer.C:
		return fmt.Sprintf(`{"taskId":%q,"confirmations":[%s]}`, task, strings.Join(picks, ","))
	case <-e.gone:
		return ""
	}
}

// event takes an event of A2A lines. The lock is held.
func (e *Editor) event(method string, p gjson.Result) {
	if v := p.Get("contextId").Str; v != "" {
		e.context = v
	}
	if method == "event/toolCall" {
		e.asked[p.Get("toolCall.tool_call_id").Str] = p.Get("toolCall")
	}
	if s := Event(method, p); s != nil {
		e.show(s)
	}
}

// Event is what an event of A2A lines shows, nil for nothing.
func Event(method string, p gjson.Result) *Shown {
	s := &Shown{ID: p.Get("messageId").Str, Text: p.Get("text").Str, Repeats: p.Get("repeats").Bool()}
	if part := p.Get("part"); part.Exists() {
		s.Kind, s.Text = Part, part.Raw
	}
	switch method {
	case "event/text", "event/message":
	case "event/artifact":
		s.ID = p.Get("artifactId").Str
	case "event/thought":
		s.Kind, s.Text = Thought, p.Get("subject").Str
	case "event/toolCall":
		call := p.Get("toolCall")
		s.Kind, s.ID, s.Text, s.Content = Call, call.Get("tool_call_id").Str, call.Get("status").Str, call.Raw
	case "event/notice":
		s.Kind, s.Text = Notice, p.Get("message").Str
	case "event/connection":
		if !p.Get("gap").Bool() {
			return nil
		}
		s.Kind = Gap
	default:
		return nil
	}
	return s
}
