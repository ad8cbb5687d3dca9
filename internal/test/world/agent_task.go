package world

import (
	"fmt"
	"slices"
	"time"
)

// A task is the agent's state of a task.
type task struct {
	agent     *agent
	id        string
	context   string
	state     State
	newest    *message   // of the status
	past      []*message // the earlier messages, the user's among them
	artifacts []*artifact
	idle      bool // it waits for a prompt, or is over
	run       *run // the turn that it works on, or did last
	streams   []*stream
	events    []logged // all events, for replays
	newestSay *Said
	calls     map[*Call]*callState
	order     []*callState // calls, by first mention
	counts    map[string]int
	answers   map[string]string // the IDs of answers
	hook      string            // the address for pushes
}

// logged is an event as it was sent.
type logged struct {
	payload []byte
	ends    bool // streams end with it
	said    *Said
	bare    bool // it shows that said was, but not its content
	opens   bool // a stream begins with it, and may go on
}

// callState is the state of a tool call.
type callState struct {
	call            *Call
	id              string
	asked, settled  bool
	runs            bool // the decision
	ended, chattery bool
	status          string
}

func (a *agent) newTask(context string) *task {
	t := &task{agent: a, id: fmt.Sprintf("task-%d", a.count("task")), context: context, state: Submitted,
		calls: map[*Call]*callState{}, counts: map[string]int{}, answers: map[string]string{}}
	a.tasks[t.id] = t
	return t
}

// newID makes the ID of a message, an artifact or a call. By the specifications it is
// unique within the task; label makes it unique beyond, for agents that do so.
func (t *task) newID(kind, label string) string {
	if t.agent.plan.Agent.AnewIDs {
		t.counts[kind]++
		return fmt.Sprintf("%s%d", kind, t.counts[kind])
	}
	return kind + "-" + label
}

// answerID is the ID of an answer: of its artifact, or of all its messages if they
// share one.
func (t *task) answerID(a *Act) string {
	h := &t.agent.plan.Agent
	switch {
	case a.Carrier == InArtifact && h.ConstantID:
		return "response"
	case a.Carrier == InStatus && !h.SharedID:
		return t.newID("m", a.Label)
	}
	key := fmt.Sprint(a.Answer, a.Carrier)
	if t.answers[key] == "" {
		t.answers[key] = t.newID(map[Carrier]string{InStatus: "m", InArtifact: "a"}[a.Carrier], a.Answer)
	}
	return t.answers[key]
}

// callOf returns the state of a call, and makes it at the first mention.
func (t *task) callOf(c *Call) *callState {
	s := t.calls[c]
	if s == nil {
		s = &callState{call: c, id: t.newID("c", c.Label)}
		t.calls[c], t.order = s, append(t.order, s)
	}
	return s
}

// history is what the agent holds of the messages before the status.
func (t *task) history() []*message {
	h := &t.agent.plan.Agent
	switch {
	case h.Holds == HoldsLast:
		return t.past[max(0, len(t.past)-2):]
	case h.Holds != HoldsAll:
		return nil
	case h.HistoryHasStatus && t.newest != nil:
		return append(slices.Clip(t.past), t.newest)
	}
	return t.past
}

// held is the message in the task's status for a reader.
func (t *task) held() *message {
	if t.agent.plan.Agent.Holds == HoldsNothing {
		return nil
	}
	return t.newest
}

// setStatus stores a status. Its earlier message goes into the history; chunks of one
// message are joined.
func (t *task) setStatus(state State, m *message) {
	t.state = state
	old := t.newest
	if old != nil {
		t.past = append(t.past, old)
	}
	h := t.agent.plan.Agent.Holds
	if t.newest = m; m == nil || h != HoldsAll && h != HoldsLast {
		return
	}
	for i, p := range t.past {
		if p.id == m.id && !p.user {
			t.newest = &message{id: m.id, parts: append(slices.Clip(p.parts), m.parts...), metadata: m.metadata}
			t.past = slices.Delete(t.past, i, i+1)
			return
		}
	}
}

// say sends a status update. ends: it ends the streams. The lock is held, as in all
// below.
func (t *task) say(state State, m *message, ends bool, said *Said) {
	t.setStatus(state, m)
	t.emit(t.agent.spell.statusUpdate(t, state, m, ends), ends, said)
}

// change sends an artifact update. follows: append is set.
func (t *task) change(a *artifact, follows, last bool, said *Said) {
	at := slices.IndexFunc(t.artifacts, func(o *artifact) bool { return o.id == a.id })
	switch {
	case at < 0:
		t.artifacts = append(t.artifacts, &artifact{a.id, a.name, a.parts})
	case !follows:
		t.artifacts[at] = &artifact{a.id, a.name, a.parts}
	case t.agent.plan.Agent.MergesParts:
		old := t.artifacts[at]
		t.artifacts[at] = &artifact{a.id, a.name, []part{{text: textOf(old.parts) + textOf(a.parts)}}}
	default:
		old := t.artifacts[at]
		t.artifacts[at] = &artifact{a.id, a.name, append(slices.Clip(old.parts), a.parts...)}
	}
	t.emit(t.agent.spell.artifactUpdate(t, a, follows, last), false, said)
}

func textOf(parts []part) (text string) {
	for _, p := range parts {
		text += p.text
	}
	return text
}

// emit notes an event and sends it to the listeners.
func (t *task) emit(payload []byte, ends bool, said *Said) {
	a, r := t.agent, t.run
	said.At, said.Turn, said.Task, said.State, said.Closes = a.now(), r.turn.N, t.id, t.state, ends
	a.record.Said = append(a.record.Said, said)
	l := logged{payload: payload, ends: ends, said: said}
	t.events, t.newestSay = append(t.events, l), said
	a.tell("agent<", "%s", payload)
	for _, s := range slices.Clone(t.streams) {
		s.event(l)
		if ends {
			t.agent.endLater(s)
		}
	}
	t.push(l)
	r.said++
	r.reach()
}

// attach adds a stream to the task. If task is set it begins with the task, which is no
// new event, with m as its status message.
func (t *task) attach(s *stream, task bool, m *message, said *Said) {
	if task {
		s.again(logged{payload: t.agent.spell.wrapped(t.agent.spell.task(t, m, allMessages)), said: said, bare: m == nil, opens: true})
	}
	if known := t.agent.tasks[t.id]; known != nil && known != t || known == nil && len(t.events) > 0 {
		s.fail(errReset) // it was restarted at the stream's first event
		return
	}
	t.streams = append(t.streams, s)
	s.task = t
}

// allMessages exceeds any history.
const allMessages = 1 << 20

// lingering is how long a stream stays open behind its last event.
const lingering = 5 * time.Second

// endLater ends a stream when this agent's habit does.
func (a *agent) endLater(s *stream) {
	if !a.plan.Agent.Lingers {
		s.end()
		return
	}
	if s.task != nil {
		s.task.detach(s)
	}
	a.after(lingering, nil, s.end)
}

func (t *task) detach(s *stream) {
	t.streams = slices.DeleteFunc(t.streams, func(o *stream) bool { return o == s })
}

// cancel does tasks/cancel.
func (t *task) cancel() {
	if t.run != nil {
		t.run.halt()
	}
	for _, c := range t.order {
		if !c.ended && !c.call.Forgotten {
			t.use(c, statusCancelled, nil)
		}
	}
	t.idle = true
	t.say(Canceled, nil, true, &Said{Ends: true})
}

// after runs f with the lock held after a while, unless the world is over.
func (a *agent) after(d time.Duration, stop <-chan struct{}, f func()) {
	a.wg.Go(func() { // ends with the time, the story or the world
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			a.mu.Lock()
			defer a.mu.Unlock()
			f()
		case <-stop:
		case <-a.done:
		}
	})
}
