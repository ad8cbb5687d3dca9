package calls

import "slices"

// This file is about questions and their answers.

// Open returns the calls that wait for the user, in the order in which they asked: the
// agent's newest word on them is a question, and [Calls.Answered] has not been called since.
// All are of the task that asked first; those of another follow when these are answered.
func (c *Calls) Open() []*ToolCall {
	open := make([]*ToolCall, 0, len(c.open))
	for _, one := range c.open {
		if one.task == c.open[0].task {
			open = append(open, one.ToolCall)
		}
	}
	return open
}

// OpenTask is the task of the calls that Open returns; false if there is none.
func (c *Calls) OpenTask() (id string, ok bool) {
	if len(c.open) == 0 {
		return "", false
	}
	return c.open[0].task.id, true
}

// Waits reports whether there are such calls. Unlike Open it may be asked at each event.
func (c *Calls) Waits() bool { return len(c.open) > 0 }

// WaitsIn reports whether there are such calls in a task.
func (c *Calls) WaitsIn(task string) bool {
	return slices.ContainsFunc(c.open, func(one *kept) bool { return one.task.id == task })
}

// Asked counts the questions so far: that it has grown tells a new one.
func (c *Calls) Asked() int { return c.questions }

// Running reports whether a tool is at work.
func (c *Calls) Running() bool { return len(c.running) > 0 }

// Answered notes that an answer to a call is on its way: it is open no more, even if the
// agent repeats its question.
func (c *Calls) Answered(id string, allowed bool) {
	if one := c.task.calls[id]; one != nil {
		one.Answered, one.Rejected, one.sinceAnswer = true, !allowed, false
		c.relist(one)
	}
}

// counts reports whether a mention does: of the hints those of a question that waits for the user, which stays asked.
func (c *Calls) counts(old *kept, now *ToolCall, v Verb) bool {
	if v != Hint {
		return true
	}
	now.Asks = now.Asks || now.Status <= Pending
	return slices.ContainsFunc(c.open, func(one *kept) bool { // a bare one would have the answer to another
		return one.task == c.task && (one == old || one.Bare && now.Bare && !AsksTheSame(one.ToolCall, now))
	})
}

// HeldAnswer takes a data part of a user's message that the snapshot in hand holds: it may be
// the answer to a call.
func (c *Calls) HeldAnswer(data string) {
	c.data.members = readObject(c.data.members, data, nil)
	for _, r := range c.readers {
		id, ok := r.Answered(c.data.members)
		one := c.task.calls[id]
		if !ok || one == nil {
			continue
		}
		one.answerHeldIn = c.snapshots
		if !one.Answered && one.untaken == nil {
			one.Answered, one.sinceAnswer = true, false
			c.relist(one)
		}
	}
}

// Repeats reports whether a call asks again what was answered, under another name of the
// question: of this call, or of one of that name and input.
func (c *Calls) Repeats(now *ToolCall) bool {
	for _, one := range c.task.calls {
		if one.Answered && one.QuestionID != now.QuestionID && (one.ID == now.ID || one.Asks && one.Name == now.Name && one.Input == now.Input) {
			return true
		}
	}
	return false
}

// Taken notes that the agent has got all answers so far.
func (c *Calls) Taken() {
	for _, one := range c.task.calls {
		one.taken = one.Answered
	}
}

// Doubt notes that the agent may not have got the answers to calls of which it has said nothing
// since. One that was rejected may run, so that its end is not shown as a rejection.
func (c *Calls) Doubt() {
	for _, one := range c.task.calls {
		if one.undelivered() {
			one.Rejected = false
		}
	}
}

// Undelivered reports whether one of these calls, or of all if none is named, was answered and has
// not moved since: as far as is known, the agent has not got the answer.
func (c *Calls) Undelivered(ids ...string) bool {
	for _, one := range c.task.calls {
		if one.undelivered() && (len(ids) == 0 || slices.Contains(ids, one.ID)) {
			return true
		}
	}
	return false
}

// Unmoved is Undelivered of all calls that move when the agent has got the answer. Those that came
// without a call do not: agents say nothing more of them. Nor do rejected ones, once one of the
// calls that were answered together has moved: Gemini's server may not speak of them again.
func (c *Calls) Unmoved(together ...string) bool {
	taken := slices.ContainsFunc(together, func(id string) bool { return c.task.calls[id] != nil && !c.task.calls[id].undelivered() })
	for _, one := range c.task.calls {
		if one.undelivered() && !one.Bare && !(taken && one.Rejected) {
			return true
		}
	}
	return false
}

// undelivered: see [Calls.Undelivered].
func (one *kept) undelivered() bool { return one.Answered && one.Asks && !one.Status.Ended() }

// AskAgain opens the calls whose answers the agent has not got, as far as the last snapshot tells:
// the process that gave them has ended. waits: the task waits. Otherwise the snapshot has to hold
// the question without the answer.
func (c *Calls) AskAgain(waits bool) {
	for _, one := range c.task.calls {
		if one.undelivered() && !one.taken && one.answerHeldIn != c.snapshots && (waits || one.heldIn == c.snapshots) {
			one.Answered = false
			c.relist(one)
		}
	}
}

// AskNewest opens the calls whose newest mention asks, if nothing is open. It is called when the
// task in hand waits. C11: also one that was answered, if the mention came behind
// the answer, which may not have been understood; and one that came by a mention that was not
// trusted. Gemini's server says that its task waits while a call is executed, whose
// newest mention does not ask then. Off: 14, 2, and 16 more of the sequences that are cut at
// an agent that holds the newest mention only.
func (c *Calls) AskNewest(to []Step) []Step { // rule: C11
	if len(c.open) > 0 || c.task.over {
		return to
	}
	for _, one := range c.asking {
		switch {
		case one.task != c.task || one.Answered && !one.sinceAnswer || one.task.calls[one.ID] != one:
		case one.untaken != nil:
			now := one.untaken
			one.untaken, one.Moved = nil, true // else the question would count as an echo
			to = c.apply(one, now, nil, Live, to)
		case one.Asks && one.Answered && !one.Status.Ended():
			one.Answered, one.Rejected, one.taken = false, false, false
			one.Questions++
			c.relist(one)
		}
	}
	return to
}

// This part restores what an earlier process has shown, from a journal.

// Restore notes that a call of the task in hand was shown under a name. It returns the call, into
// which the caller writes what it was shown as last.
func (c *Calls) Restore(id, shown string) *ToolCall {
	if one := c.task.calls[id]; one != nil && one.Shown == shown {
		return one.ToolCall
	}
	c.names.take(shown)
	one := &kept{Call: Call{ToolCall: &ToolCall{ID: id, Shown: shown}}, task: c.task}
	c.task.restored = true
	c.task.calls[id] = one
	c.list = append(c.list, one)
	return one.ToolCall
}

// RestoreAnswered notes that a call has asked, and that its answer was sent.
func (c *Calls) RestoreAnswered(id string) {
	if one := c.task.calls[id]; one != nil {
		one.Questions, one.Answered = max(one.Questions, 1), true
	}
}
