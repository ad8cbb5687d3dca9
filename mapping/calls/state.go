package calls

import (
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// Calls are the tool calls of a conversation, as far as they were shown. IDs are known
// within their task. It is not safe for concurrent use.
type Calls struct {
	readers []reader
	names   names
	tasks   map[string]*task
	order   []*task
	task    *task   // the one in hand
	list    []*kept // the oldest first
	// heard are the mentions that were heard, and the messages that they came in, with
	// the turn.
	heard map[uint64]int
	turn  int

	asking    []*kept            // the calls of which the newest mention asks
	open      []*kept            // in the order of asking
	questions int                // how many there were
	running   map[*kept]struct{} // those that are executed, as far as is known
	size      int                // what is kept of calls, in bytes: see maxBytes

	snapshots int  // how many there were
	within    bool // one is being read
	trust     Verb // how its mentions count
	data      callData
}

// task are the calls of one task.
type task struct {
	id    string
	calls map[string]*kept
	// shown is the turn in which a call was shown last; restored: an earlier process has
	// shown calls. over: the task has ended.
	shown          int
	restored, over bool
}

// kept is a call with what is needed beside its life.
type kept struct {
	Call
	task    *task
	growing *growingText // while it runs, if it has put out something
	// data is the hash of the data part that it was read from last, said that of what it said.
	data, said uint64
	// newest is the newest mention, if that asks and was not taken; since: it came behind the
	// newest answer, as far as that is known.
	newest *ToolCall
	since  bool
	taken  bool // the agent has the answer, as a journal says

	held       int // the last snapshot that told of it
	answerHeld int // the last one that had the user's answer
	size       int // in bytes
}

// A Step is what is new of a call. The zero value is nothing.
type Step struct {
	Call    *ToolCall
	Task    string
	New     bool // it is shown for the first time
	Changed Change
}

// New returns the calls of a conversation that has had none.
func New() *Calls {
	c := &Calls{tasks: map[string]*task{}, names: names{}, heard: map[uint64]int{}}
	c.Enter("")
	return c
}

// Enter goes on with a task.
func (c *Calls) Enter(id string) {
	if c.task != nil && c.task.id == id {
		return
	}
	known := c.tasks[id]
	if known == nil {
		known = &task{id: strings.Clone(id), calls: map[string]*kept{}, shown: -1}
		c.tasks[known.id] = known
		if c.order = append(c.order, known); len(c.order) > maxTasks {
			oldest := c.order[0]
			delete(c.tasks, oldest.id)
			c.open = slices.DeleteFunc(c.open, func(one *kept) bool { return one.task == oldest })
			oldest.calls = nil // so that its calls count as left: see bound
			c.order = c.order[1:]
		}
	}
	c.task = known
}

// Begin begins a turn. What was open, or ran, is the turn's before: what became of it may
// never be told.
func (c *Calls) Begin() {
	for _, t := range c.order {
		t.over = false
	}
	c.turn++
	c.open, c.running = nil, nil
	if none := c.tasks[""]; none != nil {
		none.calls = map[string]*kept{}
	}
}

// State notes a state of the task in hand. C7: a task that has ended asks nothing, whatever
// its calls have said; it is told behind all that an event holds. Two recordings of Gemini's
// server end a canceled task with a call that asks.
func (c *Calls) State(state a2a.State) {
	if state == "" || c.task.over == state.Terminal() {
		return
	}
	if c.task.over = state.Terminal(); c.task.over {
		c.running = nil // whatever ran ran in the task
	}
	for _, one := range c.list {
		if one.task == c.task {
			c.note(one)
		}
	}
}

// Snapshot begins to read the task in hand as it is. C5: a mention that was heard is no news;
// the others are newer, since the stream had no gap before the cut, and come in their order.
// If the agent writes its history with IDs that no event of this turn had, though the turn
// has shown a call, mentions only go forward. Off: 1,807 of the sequences that are cut, and 110.
// carriers are the IDs of the task's messages and artifacts.
func (c *Calls) Snapshot(carriers iter.Seq[string]) {
	c.snapshots++
	c.within, c.trust = true, Replayed
	if c.task.shown != c.turn && !c.task.restored {
		return
	}
	for id := range carriers {
		if turn, ok := c.heard[c.carrier(id)]; ok && turn == c.turn {
			return
		}
	}
	c.trust = Forward
}

// EndSnapshot ends what Snapshot has begun.
func (c *Calls) EndSnapshot() { c.within = false }

// Holds notes that the snapshot in hand holds a call; false if that is not known.
func (c *Calls) Holds(id string) bool {
	one := c.task.calls[id]
	if one != nil {
		one.held = c.snapshots
	}
	return one != nil
}

// Say takes a mention of a call, in the message or artifact of that ID. What it says may
// point into an event. Steps are what is new of the call, and of others that are left to
// bound what is kept.
func (c *Calls) Say(now *ToolCall, message string, v Verb, to []Step) []Step {
	if now.Asks && now.Confirmation == nil {
		now.Confirmation = &Confirmation{} // its dialect does not say what it asks
	}
	said := saidSum(now)
	old := c.task.calls[now.ID]
	if c.within {
		c.Holds(now.ID)
		v = max(v, c.trust)
	}
	if v == Replayed && c.task.restored {
		v = Forward // what an earlier process has heard is not known
	}
	if v != Live { // rule: C5
		if _, heard := c.heard[c.mention(message, said)]; heard {
			return to
		}
	}
	c.hear(message, said)
	if v == Live && c.isPast(old, now) {
		v = Replayed // ADK for Go says again, as a whole, what a model has said and run
	}
	asks := now.Asks
	growing := now.readOutput(old)
	step := c.take(old, now, growing, v)
	one := c.task.calls[now.ID]
	one.since, one.newest, one.said = v != Forward, nil, said
	switch at := slices.Index(c.asking, one); {
	case asks && at < 0:
		c.asking = append(c.asking, one)
	case !asks && at >= 0:
		c.asking = slices.Delete(c.asking, at, at+1)
	}
	if asks && !one.Asks {
		now.Asks, now.Status = true, Pending
		one.newest = now.clone(nil)
	}
	if step.Call != nil {
		to = append(to, step)
	}
	if c.note(one); one.Open() && !slices.Contains(c.open, one) && !c.task.over {
		to = append(to, c.close(one, false)) // more questions than anybody answers
	}
	return c.bound(one, to)
}

// hear notes a mention.
func (c *Calls) hear(message string, said uint64) {
	if len(c.heard) >= maxHeard {
		clear(c.heard)
	}
	c.heard[c.mention(message, said)] = c.turn
	c.heard[c.carrier(message)] = c.turn
}

// carrier is the hash of a message. (That of a mention with a fixed number may be that of a call: see begun.)
func (c *Calls) carrier(message string) uint64 {
	var s sum
	s.text(c.task.id)
	s.text(message)
	return uint64(s)
}

// begun is the hash of a call's ID and its input.
func (c *Calls) begun(one *ToolCall) uint64 { return c.mention(one.ID, digest(one.Input)) }

// isPast reports whether a call of that input has left its ID in this turn to another one, old, which has
// ended.
func (c *Calls) isPast(old *kept, now *ToolCall) bool {
	if old == nil || !old.Status.Ended() {
		return false
	}
	turn, past := c.heard[c.begun(now)]
	return past && turn == c.turn
}

// saidSum is the hash of what a mention says. Members that say nothing to us count only where the user
// is shown them, in a question: a history may have others than the events.
func saidSum(now *ToolCall) uint64 {
	var s sum
	for _, v := range [...]string{now.ID, now.Status.String(), now.Name, now.Description, now.DisplayName, now.QuestionID, now.OutputSoFar, now.sent.Text, string(now.sent.JSON)} {
		s.long(v)
	}
	s.number(digest(now.Input))
	if q := now.Question(); q != nil {
		all, _ := json.Marshal(q) // strings, all of them
		s.text(string(all))
		s.text(string(now.Extra))
	}
	return uint64(s)
}

// mention is the hash of a mention: what it says, and in which message.
func (c *Calls) mention(message string, said uint64) uint64 {
	var s sum
	s.text(c.task.id)
	s.text(message)
	s.number(said)
	return uint64(s)
}

// take makes a call what [Next] says that it is.
func (c *Calls) take(old *kept, now *ToolCall, growing *growingText, v Verb) Step {
	var was *Call
	if old != nil {
		was = &old.Call
	}
	next, changed, another := Next(was, now, v, c.turn)
	if next == nil {
		return Step{}
	}
	one := old
	if another {
		c.heard[c.begun(old.ToolCall)] = c.turn
	}
	if old == nil || another {
		one = &kept{task: c.task}
		if c.within {
			one.held = c.snapshots
		}
		next.Shown = c.names.take(next.ID)
		c.list = append(c.list, one)
		was = &Call{}
	}
	questions := one.Questions
	if growing == nil && old != nil && now.known == old.known {
		growing = old.growing
	}
	one.Life, one.growing, one.ToolCall = next.Life, growing, now.clone(was.ToolCall)
	c.task.calls[one.ID] = one
	if v != Forward {
		c.task.shown = c.turn
	}
	if one.Questions > questions {
		one.taken = false
	}
	c.note(one)
	step := Step{Call: one.ToolCall, Task: c.task.id, New: old == nil || another, Changed: changed}
	if one.Status.Ended() {
		c.strip(one)
	} else {
		c.charge(one)
	}
	if changed == 0 {
		return Step{}
	}
	return step
}

// note keeps the lists of the calls that run, and that are open.
func (c *Calls) note(one *kept) {
	if one.Status == Executing && !c.task.over {
		if c.running == nil {
			c.running = map[*kept]struct{}{}
		}
		c.running[one] = struct{}{}
	} else {
		delete(c.running, one)
	}
	open := one.Open()
	open = open && !one.task.over // rule: C7
	switch at := slices.Index(c.open, one); {
	case open == (at >= 0):
	case open && (len(c.open) == maxOpen || len(c.open) > 0 && c.size > maxBytes):
	case open:
		c.open = append(c.open, one)
		c.questions++
	default:
		c.open = slices.Delete(c.open, at, at+1)
	}
}

// EndTurn ends the calls of the task in hand that the turn leaves without an end, so that no
// call is shown as running for ever: the agent will say nothing more of it, or nobody listens
// any more. C8: at the end of a task all of them; where the task waits, those that were asked
// about, and those that have not begun (Gemini's server drops the second of two edits when
// the first is rejected), since what runs may go on. failed: the turn ends with an error.
// Off: 2,384, 1,619.
func (c *Calls) EndTurn(all, failed bool, to []Step) []Step { // rule: C8
	for _, one := range c.list {
		if one.task.calls[one.ID] == one && one.task == c.task && !one.Status.Ended() && (all || one.Questions > 0 || one.Status <= Pending) {
			to = append(to, c.close(one, failed))
		}
	}
	return to
}

// close ends a call of which the agent has not said that. failed: see endStatus.
func (c *Calls) close(one *kept, failed bool) Step {
	end := *one.ToolCall
	end.Asks, end.OutputSoFar, end.known = false, "", ""
	end.Status, end.Error = one.endStatus(failed)
	one.ToolCall, one.Closed, one.growing = &end, true, nil
	c.note(one)
	c.strip(one)
	return Step{Call: &end, Task: one.task.id, Changed: State | Content}
}

// endStatus is the final state of a call that the agent has left without one. failed: the
// turn has failed, so that it is not known whether the agent has taken the answer.
func (one *kept) endStatus(failed bool) (Status, *ErrorDetails) {
	switch {
	case one.Answered && one.Bare && !one.Rejected && !failed:
		return Succeeded, nil // nothing is known of it but that it was allowed
	case one.Rejected:
		return Cancelled, &ErrorDetails{Message: "Not run: it was rejected."}
	case one.Answered || one.Questions == 0 || one.Status > Pending && !one.Asks: // it may have begun by itself
		return Cancelled, &ErrorDetails{Message: unsaidEnd}
	}
	return Cancelled, &ErrorDetails{Message: "Not allowed: it was not answered."}
}
