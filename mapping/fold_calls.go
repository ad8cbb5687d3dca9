package mapping

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"
)

// calls is the part of a [Fold] that knows which tool calls there are, which of
// them run, and which ask. IDs are known within their task.
type calls struct {
	seed  maphash.Seed
	names names
	tasks map[string]*taskCalls
	order []string
	task  *taskCalls // the one in hand
	kept  []keptCall // the oldest first
	past  past[struct{}]

	questions int             // how many there were
	asked     []*call         // the calls that ask, in the order of asking
	forgotten bool            // a task was forgotten, perhaps with calls that ask
	running   map[string]bool // those that are executed, as far as is known
	size      int             // what is kept of calls, in bytes: see maxCallBytes
	count     int             // how many there were
	before    int             // and before this turn
	later     map[string]int  // within a snapshot: how often it still names a call
	data      callData        // the data part in hand
}

// taskCalls are the calls of one task.
type taskCalls struct {
	id    string
	calls map[string]*call
	turn  int // counts turns, where IDs are known for one
}

// call is a tool call as it was shown last.
type call struct {
	*ToolCall
	task string
	// raw is the hash of its last event, head and content of what is shown; data
	// is that of the data part it was read from, 0 if it was told in another way.
	raw, head, content, data uint64
	message                  uint64       // the ID of the message that data came in
	growing                  *growingText // while it runs, if it has put out something
	// questioned: it has asked. answered: the user's answer is on its way; rejected:
	// that answer rejects. closed: see [Fold.EndTurn]. deferred: the answer waits for
	// the user's words, see [Fold.Defer]. taken: a journal says that the agent has the answer.
	questioned, answered, rejected, closed, deferred, taken bool
	listed                                                  bool // it may be among those that ask

	order int // in which it appeared
	held  int // the last snapshot that told of it
	heard int // the last one that had the user's answer
	size  int // its large members, in bytes
}

// callData is a data part that may be a tool call.
type callData struct {
	members object
	call    ToolCall // what was read of it
	// repeats are copies of the repeated member of the last calls (see
	// [dialect.repeats]): it is most of an event, and the same in the tool's next one.
	// next is the index of the copy to replace next.
	repeats [4]repeatedObject
	next    int
}

// keepMembers is how much room for members is kept between events.
const keepMembers = 256

// minRepeat is the least that is worth a copy, to compare with instead of walking.
const minRepeat = 256

func newCalls(seed maphash.Seed) calls { return calls{seed: seed, tasks: map[string]*taskCalls{}} }

// enter goes on with a task.
func (c *calls) enter(task string) {
	if c.task != nil && c.task.id == task {
		return
	}
	known := c.tasks[task]
	if known == nil {
		known = &taskCalls{id: strings.Clone(task), calls: map[string]*call{}}
		c.tasks[known.id] = known
		if c.order = append(c.order, known.id); len(c.order) > maxTasks {
			delete(c.tasks, c.order[0])
			c.forgotten = true
			c.order = c.order[1:]
		}
	}
	c.task = known
}

// begin begins a turn.
func (c *calls) begin() {
	c.asked, c.running = nil, nil
	c.before = c.count
	if none := c.tasks[""]; none != nil {
		none.calls = map[string]*call{}
		none.turn++
	}
}

// letGo drops what points into the event in hand.
func (c *calls) letGo() {
	c.data.call = ToolCall{}
	if cap(c.data.members) > keepMembers {
		c.data.members = nil
	}
	clear(c.data.members[:cap(c.data.members)])
}

// missing reports whether a call of the task in hand was shown that snapshot n does not
// hold.
func (c *calls) missing(n int) bool {
	for _, known := range c.task.calls {
		if known.held != n && !known.Bare {
			return true
		}
	}
	return false
}

// isOld reports whether an event of a call is older than what was shown of it: than its end, or,
// where the agent says again what it has said, than its beginning.
func (f *Fold) isOld(now *ToolCall, old *call) bool {
	again := f.echo || f.loss.again
	if !old.Status.Ended() {
		return again && old.Status == ToolExecuting && now.Status == ToolPending && !now.Asks
	}
	if now.Status.Ended() {
		return false
	}
	if again && old.raw == 0 { // a journal does not tell what it was: of a replay, the first of its ID
		old.raw = f.calls.rawSum(now)
	}
	return !old.closed || old.answered && (f.whole || f.echo && f.loss.again || again && old.raw == f.calls.rawSum(now))
}

// update shows what a tool call says anew.
func (f *Fold) update(now *ToolCall) {
	c := &f.calls
	old := f.earlier(now)
	if old == nil && f.isPast(now) {
		return
	}
	switch {
	case old == nil:
	case f.isOld(now, old):
		c.asks(old)
		return // an echo from another connection, or of an earlier turn
	case old.Status.Ended() && !now.Status.Ended():
		old.answered, old.rejected = false, false // the agent goes on with it
	}
	next, changed := c.next(now, old)
	if next == nil {
		c.asks(old)
		return // said before
	}
	if c.task.calls[next.ID] = next; old == nil {
		c.kept = append(c.kept, keptCall{c.task, next.ID})
	}
	c.charge(next, old)
	c.run(next.ID, next.Status == ToolExecuting)
	c.asks(next)
	if changed != 0 {
		f.missed(true)
		if old == nil {
			f.texts.epoch++
		}
		s := Step{Kind: StepTool, Tool: next.ToolCall, New: old == nil, Changed: changed}
		if old == nil {
			s.mark = &mark{task: c.task.id, call: next.ID, name: next.Shown}
		}
		f.add(s)
	}
	if next.Status.Ended() {
		// Only hashes are kept, to tell an echo from a change. The step holds the call
		// itself.
		c.strip(next)
	} else if next.Asks && !next.answered && !next.listed {
		f.closeCall(next, false) // more questions than anybody answers
	}
	f.leaveCalls()
}

// earlier returns a call as it was shown last, nil if it is new. A call that asks is new
// if that of its ID has ended in an earlier turn: some agents count calls anew in each
// run of a task that goes on. (A replay goes on to the call's end, so that nobody is
// asked.)
func (f *Fold) earlier(now *ToolCall) *call {
	old := f.calls.task.calls[now.ID]
	if old != nil && now.Asks && old.Status.Ended() && old.order <= f.calls.before && !f.whole && !f.echo && !f.loss.again {
		return nil
	}
	return old
}

// next returns what a call is after an event, and what has changed of what is
// shown; nil if the event says nothing new.
func (c *calls) next(now *ToolCall, old *call) (*call, ToolChange) {
	var was *ToolCall
	output := c.readOutput(now, old)
	head, content := c.headSum(now), c.contentSum(now)
	// Hashed as it was said: what is filled in is not kept once the call has ended.
	raw := c.rawSumOf(now.Status, head, content)
	if old != nil {
		if was = old.ToolCall; old.raw == raw && old.Asks == now.Asks {
			return nil, 0
		}
		if inherit(now, was) && output == nil {
			output = old.growing
		}
		head, content = c.headSum(now), c.contentSum(now)
	}
	next := &call{ToolCall: now.clone(was), task: c.task.id, raw: raw, head: head, content: content, growing: output}
	if old == nil {
		c.count++
		next.order, next.Shown = c.count, c.names.take(next.ID)
		return next, ToolHead | ToolState | ToolContent
	}
	next.Shown = was.Shown
	next.questioned, next.answered, next.rejected, next.taken = old.questioned, old.answered, old.rejected, old.taken
	// (Of a call that a journal knows it is not known what it asked.)
	if next.Asks && next.answered && was.Confirmation != nil && !asksTheSame(was, next.ToolCall) {
		next.answered, next.rejected, next.taken = false, false, false // it asks for something else
	}
	next.order, next.held, next.heard, next.listed = old.order, old.held, old.heard, old.listed
	var changed ToolChange
	if old.head != head {
		changed |= ToolHead
		if next.Asks && old.Asks {
			changed |= ToolContent // a question is shown with what the call says of itself
		}
	}
	if old.Status != now.Status {
		changed |= ToolState
	}
	if old.content != content {
		changed |= ToolContent
	}
	if was.OutputSoFar != "" && now.OutputSoFar == "" {
		changed |= ToolCleared
	}
	return next, changed
}

// maxCallBytes is how much is kept of calls that have not ended: what a hundred of them
// put out. Beyond it calls are known by ID and hash only, like those that have ended:
// what their later events leave out is not filled in.
const maxCallBytes = 64 << 20

// charge counts the bytes that are kept of a call, in place of those of its last state.
func (c *calls) charge(now, old *call) {
	if old != nil {
		c.size -= old.size
	}
	now.size = len(now.Input) + len(now.OutputSoFar) + len(now.Extra) + now.Confirmation.size()
	if now.growing != nil {
		now.size += len(now.growing.sent) + len(now.growing.json)
	}
	if c.size += now.size; c.size <= maxCallBytes {
		return
	}
	for _, other := range c.task.calls {
		if other != now && !other.Asks {
			c.strip(other)
		}
	}
}

func (c *calls) strip(ended *call) {
	c.size -= ended.size
	ended.ToolCall, ended.growing, ended.size = &ToolCall{ID: ended.ID, Shown: ended.Shown, Status: ended.Status,
		Asks: ended.Asks, Bare: ended.Bare}, nil, 0
}

// inherit fills in what an event of a call leaves out. By the development-tool
// extension each event has the whole call (§3.2, ToolCall), so what it leaves out is
// gone, but for two things: the question, which an event has only while it is asked,
// and a missing state. In dialects whose agents send differences everything is filled
// in; inherit reports whether the output was.
func inherit(now, old *ToolCall) (output bool) {
	if now.Status == ToolUnspecified {
		now.Status = old.Status
	}
	if now.Confirmation == nil {
		now.Confirmation = old.Confirmation
	}
	if now.dialect == nil || !now.dialect.traits().Differences {
		return false
	}
	for _, p := range [...]struct {
		now *string
		was string
	}{{&now.Name, old.Name}, {&now.Description, old.Description}, {&now.DisplayName, old.DisplayName}, {&now.Kind, old.Kind}} {
		if *p.now == "" {
			*p.now = p.was
		}
	}
	now.Input = cmp.Or(now.Input, old.Input)
	if _, ok := now.dialect.(apart); ok && now.Status.Ended() {
		return false // its output so far is its result
	}
	if now.OutputSoFar == "" && old.OutputSoFar != "" {
		now.OutputSoFar, now.knownSoFar = old.OutputSoFar, old.knownSoFar
		return true
	}
	return false
}

// asks keeps the list of the calls that wait for an answer.
func (c *calls) asks(one *call) {
	at := -1
	if one.listed || c.forgotten {
		at = slices.IndexFunc(c.asked, func(o *call) bool { return o.ID == one.ID && o.task == one.task })
	}
	one.questioned = one.questioned || one.Asks
	switch open := one.Asks && !one.answered; {
	case open && at >= 0:
		c.asked[at] = one
	case open && (len(c.asked) == maxAsked || len(c.asked) > 0 && c.size > maxCallBytes):
		return
	case open:
		c.asked = append(c.asked, one)
		c.questions++
	case at >= 0:
		c.asked = slices.Delete(c.asked, at, at+1)
	}
	one.listed = one.Asks && !one.answered
}

// run notes whether a call runs. Those of a turn before, and those that only a
// journal knows, do not count: what became of them may never be told.
func (c *calls) run(id string, now bool) {
	switch {
	case !now:
		delete(c.running, id)
	case c.running == nil:
		c.running = map[string]bool{id: true}
	default:
		c.running[id] = true
	}
}

// Open returns the calls that wait for the user, in the order in which they
// asked: their last event is pending approval, carries no outcome, and
// [Fold.Answered] has not been called for them. All are of one task; those of
// another one follow when these are answered.
func (f *Fold) Open() []*ToolCall {
	open := make([]*ToolCall, 0, len(f.calls.asked))
	for _, c := range f.calls.asked {
		if c.task == f.calls.asked[0].task {
			open = append(open, c.ToolCall)
		}
	}
	return open
}

// EnterOpen goes on with the task of the calls that Open returns, which is to have their
// answers, where events of another task have come since.
func (f *Fold) EnterOpen() {
	if len(f.calls.asked) > 0 && f.calls.asked[0].task != f.TaskID {
		f.SetTask(f.calls.asked[0].task)
	}
}

// Waits reports whether there are such calls. Unlike Open it may be asked at each event.
func (f *Fold) Waits() bool { return len(f.calls.asked) > 0 }

// Asked counts the questions so far: that it has grown tells a new one.
func (f *Fold) Asked() int { return f.calls.questions }

// Running reports whether a tool is at work.
func (f *Fold) Running() bool { return len(f.calls.running) > 0 }
