package world

import (
	"fmt"
	"strings"
	"time"
)

// send answers message/stream and message/send.
func (a *agent) send(q *request) *reply {
	m := q.params.Get("message")
	t := a.tasks[m.Get("taskId").Str]
	h := &Heard{Message: m.Get("messageId").Str, Task: m.Get("taskId").Str, Context: m.Get("contextId").Str, Turn: -1}
	h.Settings = m.Get("metadata").Get(escape(uri)).Get("workspace_path").Exists()
	if answers := answersIn(m); len(answers) > 0 {
		return a.answers(q, t, h, answers)
	}
	r := a.turnOf(q.params)
	h.Kind = HeardPrompt
	if r == nil {
		h.Kind, h.What = HeardStranger, m.Raw
		a.heard(h)
		return errorReply(q, -32602, "what is that?")
	}
	h.Turn = r.turn.N
	fault := r.faultAt(LostHead, Undelivered)
	if fault != nil && fault.Kind == Undelivered && r.taken == 0 {
		r.streams++
		a.happened(r, fault)
		return &reply{err: errReset}
	}
	if h.Refused = a.wrong(r, t, h); h.Refused != 0 {
		a.heard(h)
		return a.refuseStream(q, h.Refused, map[int]string{-32001: "task not found"}[h.Refused]+" refused")
	}
	a.heard(h)
	lost := fault != nil && fault.Kind == LostHead
	if r.known = r.known || t != nil; lost {
		a.happened(r, fault)
	}
	known := r.known
	answer := a.take(q, r, t, h)
	if lost {
		r.known, r.told = known, false
		answer.lose()
		return &reply{err: errReset}
	}
	return answer
}

// lose breaks a stream before the bridge gets it.
func (r *reply) lose() {
	if r.stream == nil {
		return
	}
	r.stream.fail(errReset)
	if !r.stream.body.done {
		r.stream.body.done = true
		r.stream.agent.open--
	}
}

// wrong is the error for a message that this agent refuses, 0 if it accepts it.
func (a *agent) wrong(r *run, t *task, h *Heard) int {
	habits := &a.plan.Agent
	switch {
	case h.Task != "" && t == nil:
		return -32001
	case t != nil && h.Context != "" && h.Context != t.context:
		return -32602
	case t != nil && t.state == Completed && habits.RefusesCompleted != 0:
		return habits.RefusesCompleted
	case t != nil && t.state.Over() && t.state != Completed:
		return map[bool]int{true: -32004, false: -32602}[habits.V1]
	case t != nil && !t.idle:
		return -32602 // it is working
	case habits.OwnContexts && h.Context != "" && !a.contexts[h.Context]:
		return -32602
	}
	return 0
}

// take begins a turn.
func (a *agent) take(q *request, r *run, t *task, h *Heard) *reply {
	habits := &a.plan.Agent
	r.taken++
	if r.begun { // sent twice: done once
		r = &run{agent: a, turn: &Turn{N: r.turn.N, Session: r.turn.Session, End: Ending{State: Completed}}, moments: map[int]chan struct{}{}}
	}
	r.begun, r.stop = true, make(chan struct{})
	context := h.Context
	if context == "" || habits.NewContexts && t == nil {
		context = fmt.Sprintf("context-%d", a.count("context"))
	}
	user := &message{id: h.Message, user: true, parts: []part{{text: r.turn.Prompt()}}}
	if r.turn.Direct {
		return a.takeDirect(q, r, context)
	}
	fresh := t == nil
	if fresh {
		t = a.newTask(context)
		a.contexts[context] = true
	} else if t.newest != nil {
		t.past, t.newest = append(t.past, t.newest), nil
	}
	t.past = append(t.past, user)
	t.run, r.task, t.idle, t.state = r, t, false, Submitted
	t.takePush(q.params.Get("configuration"))
	r.context = t.context
	t.counts["turns"]++
	if !fresh {
		r.known = true
	}
	if !habits.Streams {
		r.known = true
		a.tellOf(r)
		return result(q, a.spell.wrapped(a.spell.task(t, t.held(), allMessages)))
	}
	s := r.newStream(q)
	r.leg = s.number
	a.openStream(r, t, s, fresh)
	a.tellOf(r)
	r.reach()
	return &reply{stream: s}
}

// openStream begins the stream of a prompt.
func (a *agent) openStream(r *run, t *task, s *stream, fresh bool) {
	habits := &a.plan.Agent
	switch {
	case fresh && r.opensSaying():
		act := r.turn.Acts[0]
		m := &message{id: t.answerID(act), parts: habits.textParts(act.Text)}
		said := &Said{At: a.now(), Turn: r.turn.N, Act: act, Answer: act.Answer, Carrier: InStatus, ID: m.id, Text: act.Text, Task: t.id}
		a.record.Said = append(a.record.Said, said)
		t.setStatus(Working, m)
		payload := a.spell.wrapped(a.spell.task(t, m, allMessages))
		t.events, t.newestSay = append(t.events, logged{payload: payload, said: said}), said
		a.tell("agent<", "%s", payload)
		t.streams, s.task = append(t.streams, s), t
		s.event(t.events[len(t.events)-1])
	case fresh && habits.Opens != OpensWithStatus || !fresh && habits.FollowUpTask:
		payload := a.spell.wrapped(a.spell.task(t, t.held(), allMessages))
		t.events = append(t.events, logged{payload: payload})
		a.tell("agent<", "%s", payload)
		t.streams, s.task = append(t.streams, s), t
		s.event(t.events[len(t.events)-1])
	default:
		t.attach(s, false, nil, nil)
		t.say(Working, nil, false, &Said{})
	}
}

// tellOf starts the story of a turn.
func (a *agent) tellOf(r *run) { a.wg.Go(r.tell) } // ends with the story, or with the world

// takeDirect answers with a message.
func (a *agent) takeDirect(q *request, r *run, context string) *reply {
	habits := &a.plan.Agent
	act := &Act{Label: "none", Carrier: InMessage}
	if len(r.turn.Acts) > 0 {
		act = r.turn.Acts[0]
	}
	if habits.NamesNoContext {
		context = ""
	} else {
		a.contexts[context] = true
	}
	r.context = context
	m := &message{id: fmt.Sprintf("direct-%d", a.count("direct")), parts: habits.textParts(act.Text)}
	said := &Said{At: a.now(), Turn: r.turn.N, Act: act, Answer: act.Answer, Carrier: InMessage, ID: m.id, Text: act.Text, Ends: true}
	payload := a.spell.direct(m, context)
	a.record.Said = append(a.record.Said, said)
	a.tell("agent<", "%s", payload)
	if !habits.Streams {
		r.told, r.known = true, true
		return result(q, payload)
	}
	s := r.newStream(q)
	a.after(act.Wait+time.Millisecond, nil, func() {
		said.At = a.now()
		s.event(logged{payload: payload, ends: true, said: said})
		s.end()
		r.said++
		r.reach()
	})
	r.reach()
	return &reply{stream: s}
}

// escape makes a key literal for gjson.
func escape(key string) string {
	return strings.NewReplacer(".", `\.`, "*", `\*`, "?", `\?`).Replace(key)
}
