package world

import (
	"fmt"
	"slices"

	"github.com/tidwall/gjson"
)

// answersIn returns a message's answers to questions: call and option.
func answersIn(m gjson.Result) (list [][2]string) {
	m.Get("parts").ForEach(func(_, p gjson.Result) bool {
		if d := p.Get("data"); d.Get("selected_option_id").Exists() {
			list = append(list, [2]string{d.Get("tool_call_id").Str, d.Get("selected_option_id").Str})
		}
		return true
	})
	return list
}

// answers accepts the user's answers.
func (a *agent) answers(q *request, t *task, h *Heard, answers [][2]string) *reply {
	h.Kind = HeardAnswer
	if t == nil {
		h.Refused = -32001
		a.heard(h)
		return a.refuseStream(q, -32001, "task not found")
	}
	r := t.run
	h.Turn = r.turn.N
	fault := r.faultAt(LostHead, Undelivered)
	if fault != nil {
		a.happened(r, fault)
		if fault.Kind == Undelivered {
			r.leg = r.streams // the bridge has left the stream before
			r.streams++
			return &reply{err: errReset}
		}
	}
	before, taken := r.pause, false
	if before != nil {
		t.past = append(t.past, answerMessage(h.Message, answers))
	}
	s := r.newStream(q)
	r.leg = s.number
	t.attach(s, a.plan.Agent.FollowUpTask, t.held(), nil)
	if a.tasks[t.id] != t { // it was restarted at the stream's first event
		return &reply{stream: s}
	}
	for _, answer := range answers {
		one := *h
		one.Option = answer[1]
		var c *callState
		if i := slices.IndexFunc(t.order, func(c *callState) bool { return c.id == answer[0] }); i >= 0 {
			c = t.order[i]
			one.Call = c.call
		}
		one.Waited = !r.stopped && r.answer(c, answer[1])
		taken = taken || one.Waited
		a.heard(&one)
	}
	answer := &reply{stream: s}
	switch {
	case !taken:
		answer.lose()
		return a.refuseStream(q, -32602, "nothing waits for that")
	case fault != nil:
		answer.lose()
		return &reply{err: errReset}
	case !a.plan.Agent.Streams:
		answer.lose()
		return result(q, a.spell.wrapped(a.spell.task(t, t.held(), allMessages)))
	}
	return answer
}

func answerMessage(id string, answers [][2]string) *message {
	m := &message{id: id, user: true}
	for _, x := range answers {
		m.parts = append(m.parts, part{data: fmt.Sprintf(`{"tool_call_id":%q,"selected_option_id":%q}`, x[0], x[1])})
	}
	return m
}
