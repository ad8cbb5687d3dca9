package mapping

import (
	"hash/maphash"
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// call is a tool call as it was shown last.
type call struct {
	*ToolCall
	// raw is the hash of its last event, head and content of what is shown; data
	// is that of the data part it was read from, 0 if it was told in another way.
	raw, head, content, data uint64
	live                     *liveText // while it runs, if it has put out something
	answered                 bool
	held                     int // the last snapshot that told of it
	kept                     int // what it takes, in bytes, as far as that can be much
}

// callData is a data part that may be a tool call.
type callData struct {
	members object
	call    ToolCall // what was read of it
	// rides are copies of what rode in the last ones (see [dialect.rides]): it is
	// most of an event, and the same in the next one of that tool. next is the one
	// to give way to a new one.
	rides [4]ride
	next  int
}

// keepMembers is how much room for members is kept between events.
const keepMembers = 256

// minRide is the least that is worth a copy, to compare with instead of walking.
const minRide = 256

// readData finds out whether a data part is a tool call of some dialect, and
// which one it is; nil if it is none.
func (f *Fold) readData(data string) (d dialect, id string) {
	f.data.members = readObject(f.data.members, data, f.data.rides[:])
	for _, d := range dialects() {
		if id, ok := d.callID(f.data.members); ok {
			return d, id
		}
	}
	return nil, ""
}

// maxDataSum is the longest data part that is hashed. Longer ones hold a file, or
// output that grows, and are hardly ever repeated as they are.
const maxDataSum = 64 << 10

// dataSum is the hash of the data part in hand; 0 if that is not worth it.
func (f *Fold) dataSum(data, rides string) uint64 {
	if len(data) > maxDataSum {
		return 0
	}
	s := f.newSum()
	for i := range f.data.members {
		m := &f.data.members[i]
		s.text(m.key)
		switch {
		case m.ride != 0:
			s.number(m.ride)
		case m.key != rides || len(m.value) < minRide || m.value[0] != '{':
			s.text(m.value)
		default:
			r := &f.data.rides[f.data.next]
			f.data.next = (f.data.next + 1) % len(f.data.rides)
			*r = ride{strings.Clone(m.value), maphash.String(f.seed, m.value)}
			s.number(r.sum)
		}
	}
	return s.Sum64()
}

// toolCall shows a data part that is a tool call; false if it is none. A
// snapshot tells a call's life: only its last word is news.
func (f *Fold) toolCall(data string, whole bool) bool {
	d, id := f.readData(data)
	if d == nil {
		return false
	}
	if whole {
		if f.later[id]--; f.later[id] > 0 {
			return true
		}
	}
	old := f.calls[id]
	if f.echo && old != nil && old.held == f.snapshots {
		return true
	}
	// What is the same to the byte as the last time need not be read.
	sum := f.dataSum(data, d.rides())
	if old != nil && sum != 0 && old.data == sum {
		f.asks(old)
	} else {
		c := &f.data.call
		*c = ToolCall{}
		d.toolCall(f.data.members, c)
		c.ID = id
		f.update(c)
		old = f.calls[id]
		old.data = sum
	}
	if whole {
		old.held = f.snapshots
	}
	return true
}

// countCalls counts how often a snapshot names each tool call.
func (f *Fold) countCalls(ev *a2a.Event) {
	f.later = map[string]int{}
	count := func(m *a2a.Message) {
		for p := range m.Parts.All() {
			if p.Kind != a2a.PartData || m.Role == a2a.RoleUser {
				continue
			}
			if d, id := f.readData(string(p.Data)); d != nil {
				f.later[id]++
			}
		}
	}
	if ev.History != nil {
		for m := range ev.History {
			count(&m)
		}
	}
	if ev.HasMessage {
		count(&ev.Message)
	}
}

// liveOutput shows the output so far of a running call; false if the artifact is
// none, or of no call that we know: other agents may name artifacts alike.
func (f *Fold) liveOutput(a *a2a.Artifact) bool {
	for _, d := range dialects() {
		id, sent, ok := d.liveOutput(a)
		old := f.calls[id]
		if !ok || old == nil {
			continue
		}
		if !old.Status.Ended() {
			c := &f.data.call
			*c = *old.ToolCall
			c.Live, c.live, c.sent = "", knownText{}, sent
			f.update(c)
		}
		return true
	}
	return false
}

// update shows what a tool call says anew. The whole call is sent each time, by
// the RFC; agents that leave out what they have said keep it.
func (f *Fold) update(c *ToolCall) {
	old := f.calls[c.ID]
	if old != nil && old.Status.Ended() && !c.Status.Ended() {
		f.asks(old)
		return // an echo from another connection
	}
	live := f.readLive(c, old)
	head, content := f.headSum(c), f.contentSum(c)
	s := f.newSum()
	s.number(uint64(c.Status))
	s.number(head)
	s.number(content)
	raw := s.Sum64()
	var was *ToolCall
	if old != nil {
		if was = old.ToolCall; old.raw == raw && old.Asks == c.Asks {
			f.asks(old)
			return // said before
		}
		if live == nil {
			live = old.live
		}
		if inherit(c, was) {
			head, content = f.headSum(c), f.contentSum(c)
		}
	}
	next := &call{ToolCall: c.clone(was), raw: raw, head: head, content: content, live: live}
	var changed ToolChange
	switch {
	case old == nil:
		changed = ToolHead | ToolState | ToolContent
	default:
		next.answered, next.held = old.answered, old.held
		if old.head != next.head {
			changed |= ToolHead
		}
		if old.Status != c.Status {
			changed |= ToolState
		}
		if old.content != next.content {
			changed |= ToolContent
		}
	}
	f.calls[next.ID] = next
	f.keep(next, old)
	f.run(next.ID, next.Status == ToolExecuting)
	f.asks(next)
	if changed != 0 {
		f.add(Step{Kind: StepTool, Tool: next.ToolCall, New: old == nil, Changed: changed})
	}
	if next.Status.Ended() {
		// What it said is only needed to tell an echo from news. The step holds
		// the call itself.
		f.strip(next)
	}
}

// maxKept is how much is kept of calls that have not ended: what a hundred of them
// put out. Beyond it the others are known by their IDs and hashes, like those that
// have ended: what they leave out when they say more is not filled in.
const maxKept = 64 << 20

// keep counts what is kept of a call, in place of what was.
func (f *Fold) keep(c, old *call) {
	if old != nil {
		f.kept -= old.kept
	}
	c.kept = len(c.Input) + len(c.Live) + len(c.Extra)
	if c.live != nil {
		c.kept += len(c.live.sent) + len(c.live.json)
	}
	if f.kept += c.kept; f.kept <= maxKept {
		return
	}
	for _, other := range f.calls {
		if other != c && !other.Asks {
			f.strip(other)
		}
	}
}

func (f *Fold) strip(c *call) {
	f.kept -= c.kept
	c.ToolCall, c.live, c.kept = &ToolCall{ID: c.ID, Status: c.Status, Asks: c.Asks}, nil, 0
}

// inherit keeps what a call said before and leaves out now; false if there is
// nothing.
func inherit(c, old *ToolCall) (kept bool) {
	for _, p := range [...]struct {
		now *string
		was string
	}{{&c.Name, old.Name}, {&c.Description, old.Description}, {&c.DisplayName, old.DisplayName}, {&c.Kind, old.Kind}} {
		if *p.now == "" && p.was != "" {
			*p.now, kept = p.was, true
		}
	}
	if c.Input == "" && old.Input != "" {
		c.Input, kept = old.Input, true
	}
	if c.Live == "" && old.Live != "" {
		c.Live, c.live, kept = old.Live, old.live, true
	}
	if c.Confirmation == nil && old.Confirmation != nil {
		c.Confirmation, kept = old.Confirmation, true
	}
	if c.Status == ToolUnspecified {
		c.Status = old.Status
	}
	return kept
}

// asks keeps the list of the calls that wait for an answer.
func (f *Fold) asks(c *call) {
	at := slices.IndexFunc(f.asked, func(o *call) bool { return o.ID == c.ID })
	switch open := c.Asks && !c.answered; {
	case open && at >= 0:
		f.asked[at] = c
	case open:
		f.asked = append(f.asked, c)
		f.Asked++
	case at >= 0:
		f.asked = slices.Delete(f.asked, at, at+1)
	}
}

// Open returns the calls that wait for the user, in the order in which they
// asked: their last event is pending approval, carries no outcome, and
// [Fold.Answered] has not been called for them.
func (f *Fold) Open() []*ToolCall {
	open := make([]*ToolCall, len(f.asked))
	for i, c := range f.asked {
		open[i] = c.ToolCall
	}
	return open
}

// Running reports whether a tool is at work.
func (f *Fold) Running() bool { return len(f.running) > 0 }

// run notes whether a call runs. Those of a turn before, and those that only a
// journal knows, do not count: what became of them may never be told.
func (f *Fold) run(id string, now bool) {
	switch {
	case !now:
		delete(f.running, id)
	case f.running == nil:
		f.running = map[string]bool{id: true}
	default:
		f.running[id] = true
	}
}

// Answered notes that answers are on their way: these calls are open no more,
// even if the agent repeats their question.
func (f *Fold) Answered(answers []Answer) {
	for _, a := range answers {
		if c := f.calls[a.Call.ID]; c != nil {
			c.answered = true
			f.asks(c)
		}
	}
}

// Unheard reports whether a call of which Answered was told has not moved since:
// as far as is known, the agent has not heard the answer.
func (f *Fold) Unheard() bool {
	for _, c := range f.calls {
		if c.answered && c.Asks && !c.Status.Ended() {
			return true
		}
	}
	return false
}
