package agent

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// send takes a message.
func (a *Agent) send(q *request) {
	m := q.Params.Message
	if m == nil {
		q.refuse(-32602, "a message is missing")
		return
	}
	a.mu.Lock()
	t := a.tasks[m.TaskID]
	h := Heard{Method: a.v.method(q.Method), Task: m.TaskID, Answers: answersIn(m.Parts)}
	var fault *Fault
	switch {
	case t != nil && t.waiting || t != nil && len(h.Answers) > 0:
		fault = t.turn.fault(t.opened, anywhere, Lost, Unsent, Hang)
	case a.next(m) != nil:
		fault = a.next(m).fault(0, anywhere, Lost, Unsent, Hang)
	}
	if fault != nil && fault.Kind == Unsent {
		fault.Kind = used
		a.mu.Unlock()
		panic(http.ErrAbortHandler)
	}
	code, why := a.wrong(m, t, &h)
	if code != 0 {
		h.Refused = code
		a.note(h, t)
		a.mu.Unlock()
		q.refuse(code, why)
		return
	}
	t = a.take(q, t, &h)
	s := t.listen(q)
	if len(t.streams) > 1 && a.script.Tells == TellFirst {
		s.push(a.v.wrap("task", a.v.task(t.shown())), false)
		s.leave()
		s.end()
	}
	a.mu.Unlock()
	if fault != nil && fault.Kind == Lost {
		fault.Kind = used
		a.mu.Lock()
		s.leave()
		a.mu.Unlock()
		panic(http.ErrAbortHandler)
	}
	if fault != nil && fault.Kind == Hang && !a.wait(q.r, fault.For) {
		return
	}
	s.serve()
}

// next is the answer to a prompt, nil if there is none.
func (a *Agent) next(m *userMessage) *Turn {
	for _, t := range a.script.Turns {
		if t.Prompt != "" && slices.ContainsFunc(m.Parts, func(raw json.RawMessage) bool { return bytes.Contains(raw, []byte(strconv.Quote(t.Prompt))) }) {
			return t
		}
	}
	if a.prompts < len(a.script.Turns) && a.script.Turns[a.prompts].Prompt == "" {
		return a.script.Turns[a.prompts]
	}
	return nil
}

// used is the kind of a fault that has happened.
const used FaultKind = "used"

// anywhere stands for any number of events.
const anywhere = -1

// fault finds what happens to a stream of the turn, behind so many events.
func (t *Turn) fault(stream, events int, kinds ...FaultKind) *Fault {
	for i := range t.Faults {
		if f := &t.Faults[i]; f.Stream == stream && (events == anywhere || f.Events == events) && slices.Contains(kinds, f.Kind) {
			return f
		}
	}
	return nil
}

// wrong is the error of a message that cannot be taken.
func (a *Agent) wrong(m *userMessage, t *kept, h *Heard) (code int, why string) {
	switch {
	case a.seen[m.MessageID]:
		return -32602, "this message was taken before"
	case m.TaskID != "" && t == nil:
		return -32001, "task not found"
	case t != nil && t.State.Over():
		return -32600, "the task is over"
	case len(h.Answers) > 0:
		if t != nil {
			for _, id := range t.open() {
				if _, ok := h.Answers[id]; ok {
					return 0, ""
				}
			}
		}
		return -32602, "nothing waits for that"
	case t != nil && (t.busy || len(t.asks) > 0):
		return -32602, "the task is working, or waits for something else"
	case (t == nil || !t.waiting) && a.next(m) == nil:
		return -32602, "the script has no answer to this prompt"
	}
	return 0, ""
}

// open are the calls that ask, and are not answered.
func (t *kept) open() (ids []string) {
	asked := map[string]bool{}
	for _, s := range t.turn.Steps[:len(t.turn.Steps)-len(t.rest)] {
		if s.Call != nil {
			asked[s.Call.ID] = s.Call.Status == Pending && len(s.Call.Options) > 0
		}
	}
	for id, asks := range asked {
		if _, answered := t.answers[id]; asks && !answered && !t.gone {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// take takes a message, and plays what follows it.
func (a *Agent) take(q *request, t *kept, h *Heard) *kept {
	m := q.Params.Message
	user := &Message{ID: m.MessageID, User: true}
	for _, raw := range m.Parts {
		user.Parts = append(user.Parts, Part{Raw: raw})
	}
	a.seen[m.MessageID] = true
	if t == nil || !t.waiting && len(h.Answers) == 0 { // a prompt
		turn := a.next(m)
		a.prompts++
		if t == nil {
			t = a.newTask(turn, m.ContextID)
		}
		t.turn, t.rest, t.opened, t.streams, t.users = turn, turn.Steps, 0, nil, nil
		t.answers, t.rejected = map[string]string{}, map[string]bool{}
	}
	a.note(*h, t)
	t.users = append(t.users, m.MessageID)
	t.hear(user)
	t.note()
	maps.Copy(t.answers, h.Answers)
	if t.busy && !t.waiting {
		return t // it goes on as it does
	}
	for _, id := range t.asks {
		if _, ok := t.answers[id]; !ok {
			return t
		}
	}
	t.waiting, t.asks, t.busy = false, nil, true
	a.wg.Go(t.play) // ends with the steps, or with the agent
	return t
}

func (a *Agent) newTask(turn *Turn, context string) *kept {
	t := &kept{agent: a, Task: Task{ID: turn.Task, Context: turn.Context, State: Submitted}}
	if t.ID == "" {
		t.ID = a.number("task")
	}
	if t.Context == "" {
		t.Context = context
	}
	if t.Context == "" {
		t.Context = a.number("context")
	}
	for _, old := range a.order {
		t.earlier = append(t.earlier, old.History...)
		if old.Message != nil {
			t.earlier = append(t.earlier, old.Message)
		}
	}
	a.tasks[t.ID] = t
	a.order = append(a.order, t)
	t.note()
	return t
}

// play says the steps of a turn up to a wait.
func (t *kept) play() {
	a := t.agent
	for {
		a.mu.Lock()
		if len(t.rest) == 0 || t.gone {
			t.busy = false
			if !t.turn.Open {
				t.endStreams()
			}
			a.mu.Unlock()
			return
		}
		next := t.rest[0]
		a.mu.Unlock()
		pause := next.After
		if pause == 0 {
			pause = Pace
		}
		if !a.wait(&http.Request{}, pause) {
			return
		}
		a.mu.Lock()
		for goesOn := !t.gone; goesOn; goesOn = !t.gone && !t.waiting && len(t.rest) > 0 && t.rest[0].Joined {
			next, t.rest = t.rest[0], t.rest[1:]
			t.say(next)
		}
		stopped := t.waiting
		a.mu.Unlock()
		if stopped {
			return
		}
	}
}

// say performs a step.
func (t *kept) say(s *Step) {
	a := t.agent
	if s = t.rejectedOr(s); s == nil {
		return
	}
	t.held = s.Held
	t.keep(s)
	if s.Kind != Nothing {
		as := &t.Task
		if s.Kind == TaskEvent {
			as = t.shown()
		}
		t.newest = t.named(a.v.event(s, as))
		t.publish(t.newest, s.Joined)
	}
	if s.Ends {
		t.endStreams()
	}
	if a.script.OnSay != nil {
		a.script.OnSay(len(a.said))
	}
	if !s.Waits {
		return
	}
	t.asks = nil
	for _, id := range s.Asks {
		if _, ok := t.answers[id]; !ok {
			t.asks = append(t.asks, id)
		}
	}
	t.waiting = len(t.asks) > 0 || len(s.Asks) == 0
	t.busy = !t.waiting
}

// keep does to the task what a step says.
func (t *kept) keep(s *Step) {
	t.Take(s)
	t.note()
	t.agent.said = append(t.agent.said, Said{time.Now(), slices.Index(t.agent.script.Turns, t.turn), t.State, s})
}

// rejectedOr is the step, or what takes its place if the user has rejected its call.
func (t *kept) rejectedOr(s *Step) *Step {
	if s.Call == nil || s.Call.Status == Pending {
		return s
	}
	option, answered := t.answers[s.Call.ID]
	switch {
	case !answered || !rejects(option):
		return s
	case t.rejected[s.Call.ID]:
		return nil
	}
	t.rejected[s.Call.ID] = true
	c := *s.Call
	c.Status, c.Output, c.Live = Cancelled, "", ""
	return c.Step(t.State)
}

// publish gives an event to all streams. joined: with the one before.
func (t *kept) publish(event json.RawMessage, joined bool) {
	to := t.streams
	if n := len(to); n > 1 && t.agent.script.Tells == TellNewest {
		to = to[n-1:]
	}
	for _, s := range to {
		s.push(event, joined)
	}
}

func (t *kept) endStreams() {
	for _, s := range t.streams {
		s.end()
	}
	t.streams = nil
}

// stop cancels the task.
func (t *kept) stop() {
	t.gone, t.waiting, t.busy, t.asks = true, false, false, nil
	s := &Step{State: Canceled, Final: true}
	t.keep(s)
	t.publish(t.agent.v.event(s, &t.Task), false)
	t.endStreams()
}
