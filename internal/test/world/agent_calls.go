package world

import (
	"fmt"
	"time"
)

// authTime is the duration of an authentication that happens elsewhere.
const authTime = 5 * time.Second

// use sends an update of a tool call. live is nil if the update has no live output.
func (t *task) use(c *callState, status string, live *string) {
	h := &t.agent.plan.Agent
	said := &Said{Call: c.call, Status: status, ID: c.id}
	if live != nil {
		said.Live = *live
	}
	c.status = status
	c.ended = status == statusSucceeded || status == statusFailed || status == statusCancelled
	state := Working
	if t.run != nil {
		state = t.run.state()
	}
	t.counts["update"]++
	t.say(state, &message{id: t.newID("m", fmt.Sprint(c.call.Label, "u", t.counts["update"])),
		parts: []part{{data: c.call.spell(c.id, status, live)}}, metadata: h.metadata(kindUpdate)}, false, said)
}

// useCall is a step in the life of a call.
func (r *run) useCall(act *Act) {
	c := r.task.callOf(act.Call)
	if c.ended || act.Call.Options != nil && !c.settled {
		return
	}
	asks := act.Call.Options != nil
	switch {
	case act.Step == CallPending:
		r.task.use(c, statusPending, nil)
	case act.Step == CallRepeat && (c.runs || !act.Call.Forgotten) && c.status == statusPending:
		r.task.use(c, statusPending, nil)
	case asks && !c.runs:
		if act.Step == CallEnds && !act.Call.Forgotten {
			r.task.use(c, statusCancelled, nil)
		}
	case act.Step == CallRuns:
		var live *string
		if act.Live != "" || c.chattery {
			live = &act.Live // "" clears the earlier output
		}
		c.chattery = c.chattery || act.Live != ""
		r.task.use(c, statusExecuting, live)
	case act.Step == CallEnds:
		r.task.use(c, act.Call.final(), nil)
	}
}

// ask announces the calls that wait for approval, and then the task's pause.
func (r *run) ask(act *Act) bool {
	p := &pausing{over: make(chan struct{}), state: Working}
	ok := r.locked(func() {
		r.pause = p
		for _, c := range act.Calls {
			s := r.task.callOf(c)
			s.asked, s.status = true, statusPending
			p.calls = append(p.calls, s)
		}
	})
	if !act.Pause.Together {
		for i, c := range p.calls {
			if i > 0 && !r.wait(act.Pause.Apart) {
				return false
			}
			ok = ok && r.locked(func() { r.task.use(c, statusPending, nil); r.elsewhere(c) })
		}
	}
	return ok && r.locked(func() { r.sayPause(act, p) })
}

// sayPause announces the pause and, if the questions are together, asks them.
func (r *run) sayPause(act *Act, p *pausing) {
	t, h := r.task, &r.agent.plan.Agent
	if !act.Pause.Working {
		p.state = InputRequired
	}
	ends := !act.Pause.Open && !act.Pause.Working
	if act.Pause.Together {
		m := &message{id: t.newID("m", act.Label), metadata: h.metadata(kindConfirmation)}
		for _, c := range p.calls {
			m.parts = append(m.parts, part{data: c.call.spell(c.id, statusPending, nil)})
		}
		t.say(p.state, m, ends, &Said{Act: act})
		for _, c := range p.calls {
			r.elsewhere(c)
		}
		return
	}
	if !act.Pause.Working {
		t.say(p.state, nil, ends, &Said{Act: act})
	}
}

// elsewhere continues a call without an answer, as if somebody else had approved it.
func (r *run) elsewhere(c *callState) {
	if c.call.Elsewhere == 0 {
		return
	}
	r.agent.after(c.call.Elsewhere, r.stop, func() {
		if c.settled || r.stopped {
			return
		}
		c.settled, c.runs = true, true
		r.agent.tell("world", "%s is approved elsewhere", c.call.Name)
		r.task.use(c, statusExecuting, nil)
		r.pause.settle()
	})
}

// waitForAnswers waits until no question is open.
func (r *run) waitForAnswers() bool {
	select {
	case <-r.pause.over:
	case <-r.stop:
		return false
	case <-r.agent.done:
		return false
	}
	return r.locked(func() {
		waited := r.pause.state
		if r.pause = nil; waited == InputRequired {
			r.task.say(Working, nil, false, &Said{})
		}
	})
}

// answer accepts an answer to a question; false: nothing waits for it.
func (r *run) answer(c *callState, option string) bool {
	if r == nil || c == nil || !c.asked || c.settled {
		return false
	}
	for _, o := range c.call.Options {
		if o.ID == option {
			c.settled, c.runs = true, o.Runs
		}
	}
	if c.settled && r.pause.settle() && !r.agent.plan.Agent.Streams {
		r.task.state = Working // the answer to the message shows it
	}
	return c.settled
}
