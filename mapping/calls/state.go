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
	list    []*kept // all that are kept, the oldest first
	// heard has the turn of each mention, of each message with mentions, and of each input that has
	// left its ID to another: by mentionSum, carrierSum and inputSum.
	heard map[uint64]int
	turn  int

	asking    []*kept            // the calls of which the newest mention asks
	open      []*kept            // see [Calls.Open]; in the order of asking, of all tasks
	questions int                // that there were
	running   map[*kept]struct{} // those that are executed, as far as is known
	size      int                // what is kept of calls, in bytes: see maxBytes

	ahead      []*kept // those that were shown before their place among texts: see Ahead
	snapshots  int     // how many there were
	inSnapshot bool    // one is being read
	trust      Verb    // how its mentions count
	data       callData
}

// A task has the calls of one task.
type task struct {
	id    string
	calls map[string]*kept // by their IDs
	// shownIn is the turn in which a call was shown last, -1 for none.
	shownIn  int
	restored bool // an earlier process has shown calls
	over     bool // the task has ended
}

// A kept is a call with what is needed beside its life.
type kept struct {
	Call
	task    *task
	growing *growingText // while it runs, if it has put out something
	// dataSum is the hash of the data part that its newest mention was read from, saidSum
	// that of what the mention said.
	dataSum, saidSum uint64
	// untaken is the newest mention, if that asks and [Next] took it for an old one; else nil.
	untaken     *ToolCall
	sinceAnswer bool // the newest mention came behind the newest answer, as far as is known
	taken       bool // the agent has got the newest answer: see [Calls.Taken]

	heldIn       int // the last snapshot that told of it
	answerHeldIn int // the last one that had the user's answer
	size         int // in bytes: see charge
}

// A Step is what is new of a call. The zero value is nothing. Without a change it is the place
// of a call that was shown before: see [Calls.Ahead].
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

// Enter takes a task in hand: what follows is about its calls. It may forget the oldest.
func (c *Calls) Enter(id string) {
	if c.task != nil && c.task.id == id {
		return
	}
	t := c.tasks[id]
	if t == nil {
		t = &task{id: strings.Clone(id), calls: map[string]*kept{}, shownIn: -1}
		c.tasks[t.id] = t
		if c.order = append(c.order, t); len(c.order) > maxTasks {
			oldest := c.order[0]
			delete(c.tasks, oldest.id)
			c.open = slices.DeleteFunc(c.open, func(one *kept) bool { return one.task == oldest })
			oldest.calls = nil // so that its calls count as left: see bound
			c.order = c.order[1:]
		}
	}
	c.task = t
}

// Begin begins a turn. What was open, or ran, is the turn's before: what became of it may
// never be told.
func (c *Calls) Begin() {
	for _, t := range c.order {
		t.over = false
	}
	c.turn++
	c.open, c.running, c.ahead = nil, nil, nil
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
			c.relist(one)
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
	c.inSnapshot, c.trust = true, Replayed
	if c.task.shownIn != c.turn && !c.task.restored {
		return
	}
	for id := range carriers {
		if turn, ok := c.heard[c.carrierSum(id)]; ok && turn == c.turn {
			return
		}
	}
	c.trust = Forward
}

// EndSnapshot ends the reading of the task as it is.
func (c *Calls) EndSnapshot() { c.inSnapshot = false }

// Holds notes that the snapshot in hand holds a call; false if that is not known.
func (c *Calls) Holds(id string) bool {
	one := c.task.calls[id]
	if one != nil {
		one.heldIn = c.snapshots
	}
	return one != nil
}

// Ahead notes that a call was shown before its place among texts: that is where it is mentioned next.
func (c *Calls) Ahead(id string) {
	if one := c.task.calls[id]; one != nil && len(c.ahead) < maxCalls {
		c.ahead = append(c.ahead, one)
	}
}

// place adds a step for the place of a call that was shown before.
func (c *Calls) place(one *kept, to []Step) []Step {
	at := slices.Index(c.ahead, one)
	if one == nil || at < 0 {
		return to
	}
	c.ahead = slices.Delete(c.ahead, at, at+1)
	return append(to, Step{Call: one.ToolCall, Task: one.task.id})
}

// Say takes a mention of a call, in the message or artifact of that ID, and changes it. What it
// says may point into an event. Steps show what is new of the call, and the end of others that are
// left to bound what is kept.
func (c *Calls) Say(now *ToolCall, message string, v Verb, to []Step) []Step {
	if now.Asks && now.Confirmation == nil {
		now.Confirmation = &Confirmation{} // its dialect does not say what it asks
	}
	said := saidSum(now)
	old := c.task.calls[now.ID]
	if !c.counts(old, now, v) {
		return to
	}
	to = c.place(old, to)
	if c.inSnapshot {
		c.Holds(now.ID)
		v = max(v, c.trust)
	}
	if v == Replayed && c.task.restored {
		v = Forward // what an earlier process has heard is not known
	}
	if v != Live { // rule: C5
		if _, heard := c.heard[c.mentionSum(message, said)]; heard {
			return to
		}
	}
	c.noteHeard(message, said)
	if v == Live && c.isOfEarlierCall(old, now) {
		v = Replayed // ADK for Go says again, as a whole, what a model has said and run
	}
	asks := now.Asks
	growing := now.readOutput(old)
	to = c.apply(old, now, growing, v, to)
	one := c.task.calls[now.ID]
	one.sinceAnswer, one.untaken, one.saidSum, one.dataSum = v != Forward, nil, said, 0
	switch at := slices.Index(c.asking, one); {
	case asks && at < 0:
		c.asking = append(c.asking, one)
	case !asks && at >= 0:
		c.asking = slices.Delete(c.asking, at, at+1)
	}
	if asks && !one.Asks {
		now.Asks, now.Status = true, Pending
		one.untaken = now.clone(nil)
	}
	if c.relist(one); one.Open() && !slices.Contains(c.open, one) && !c.task.over {
		to = append(to, c.close(one, false)) // more questions than anybody answers
	}
	return c.bound(one, to)
}

// noteHeard notes that a mention was heard in this turn, in that message.
func (c *Calls) noteHeard(message string, said uint64) {
	if len(c.heard) >= maxHeard {
		clear(c.heard)
	}
	c.heard[c.mentionSum(message, said)] = c.turn
	c.heard[c.carrierSum(message)] = c.turn
}

// carrierSum is the hash of a message, or artifact, of the task in hand. (Rejected: mentionSum with a
// fixed number, which may be an inputSum.)
func (c *Calls) carrierSum(message string) uint64 {
	var s sum
	s.text(c.task.id)
	s.text(message)
	return uint64(s)
}

// inputSum is the hash of a call's ID and its input.
func (c *Calls) inputSum(one *ToolCall) uint64 { return c.mentionSum(one.ID, digest(one.Input)) }

// isOfEarlierCall reports whether a mention is of an earlier call of its ID: one of its input has left the ID in
// this turn to old, which has ended.
func (c *Calls) isOfEarlierCall(old *kept, now *ToolCall) bool {
	if old == nil || !old.Status.Ended() {
		return false
	}
	turn, ok := c.heard[c.inputSum(now)]
	return ok && turn == c.turn
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

// mentionSum is the hash of a mention: of what it says, and in which message.
func (c *Calls) mentionSum(message string, said uint64) uint64 {
	var s sum
	s.text(c.task.id)
	s.text(message)
	s.number(said)
	return uint64(s)
}

// apply makes a call what [Next] says that it is after a mention, and adds the step that shows
// it. old is nil for an ID that is new; growing is the mention's output, nil for none.
func (c *Calls) apply(old *kept, now *ToolCall, growing *growingText, v Verb, to []Step) []Step {
	var was *Call
	if old != nil {
		was = &old.Call
	}
	next, changed, another := Next(was, now, v, c.turn)
	if next == nil {
		return to
	}
	one := old
	if another {
		c.heard[c.inputSum(old.ToolCall)] = c.turn
	}
	if old == nil || another {
		one = &kept{task: c.task}
		if c.inSnapshot {
			one.heldIn = c.snapshots
		}
		next.Shown = c.names.take(next.ID)
		c.list = append(c.list, one)
		was = &Call{}
	}
	questions := one.Questions
	if growing == nil && old != nil && now.outputJSON == old.outputJSON {
		growing = old.growing
	}
	one.Life, one.growing, one.ToolCall = next.Life, growing, now.clone(was.ToolCall)
	c.task.calls[one.ID] = one
	if v != Forward {
		c.task.shownIn = c.turn
	}
	if one.Questions > questions {
		one.taken = false
	}
	c.relist(one)
	step := Step{Call: one.ToolCall, Task: c.task.id, New: old == nil || another, Changed: changed}
	if one.Status.Ended() {
		c.strip(one)
	} else {
		c.charge(one)
	}
	if changed == 0 {
		return to
	}
	return append(to, step)
}

// relist keeps the lists of the calls that run, and that are open, after a change of this one.
func (c *Calls) relist(one *kept) {
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

// close ends a call that the agent has left without an end, and returns the step that shows it.
// failed: see endStatus.
func (c *Calls) close(one *kept, failed bool) Step {
	end := *one.ToolCall
	end.Asks, end.OutputSoFar, end.outputJSON = false, "", ""
	end.Status, end.Error = one.endStatus(failed)
	one.ToolCall, one.Closed, one.growing = &end, true, nil
	c.relist(one)
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
