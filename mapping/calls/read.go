package calls

import (
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A Reader finds tool calls in what a family of agents says: a dialect.
type Reader interface {
	// CallID names the tool call that the data part of a message is; false if it is none of
	// this dialect's.
	CallID(data Object) (id string, ok bool)
	// ToolCall reads the data part into c, which is empty.
	ToolCall(data Object, c *ToolCall)
	// Answered names the tool call that the data part of a user's message answers.
	Answered(data Object) (id string, ok bool)
	// Question reads a data part that is a question without a call around it into c.
	Question(data string, c *ToolCall) bool
	// Repeats reports whether a member comes with each event of a call and is the same each
	// time, such as the tool's schema.
	Repeats(member string) bool
	// OutputSoFar reads an artifact as the output so far of a running call; false if it is
	// an artifact like any other.
	OutputSoFar(a *a2a.Artifact) (id string, soFar Sent, ok bool)
}

// reader is a dialect that the agent speaks.
type reader struct {
	Reader
	dialect     uint8 // see [ToolCall.Dialect]
	differences bool
}

// Speak adds a dialect that the agent is known to speak, once. place is its place in the list of
// all, counted from 1: they are asked in that order. differences: its agents leave out what
// has not changed.
func (c *Calls) Speak(place uint8, r Reader, differences bool) {
	at, _ := slices.BinarySearchFunc(c.readers, place, func(r reader, p uint8) int { return int(r.dialect) - int(p) })
	c.readers = slices.Insert(c.readers, at, reader{r, place, differences})
}

// A callData is the data part in hand, which may be a tool call.
type callData struct {
	members Object
	call    ToolCall // what was read of it
	// repeats are copies of the repeated members of the last calls (see [Reader.Repeats]), the
	// newest first: they are most of an event, and the same in the call's next one.
	repeats []*repeatedObject
}

const (
	// keepMembers is how much room for members is kept between events.
	keepMembers = 256
	// maxRepeats is how many repeated members are kept, maxRepeated how many bytes of them.
	maxRepeats  = 16
	maxRepeated = 256 << 10
)

// Data takes a data part of a message of the agent's, as [Calls.Say] takes the call in it; false if it
// is no tool call of a dialect that is spoken.
func (c *Calls) Data(data, message string, v Verb, to []Step) (steps []Step, ok bool) {
	r, id, ok := c.find(data)
	switch {
	case !ok:
		return to, false
	case id != "":
		return c.read(r, id, message, v, to), true
	}
	c.bare(&c.data.call, data, message, c.inSnapshot || v == Hint)
	return c.Say(&c.data.call, message, v, to), true
}

// IsCall reports whether a data part is a tool call, or a question, of a dialect that is
// spoken.
func (c *Calls) IsCall(data string) bool {
	_, _, ok := c.find(data)
	return ok
}

// find finds the dialect in which a data part is a tool call, and its ID; "" for a question
// without a call around it, which is in c.data.call then.
func (c *Calls) find(data string) (r reader, id string, ok bool) {
	if len(c.readers) == 0 {
		return reader{}, "", false
	}
	c.data.members = readObject(c.data.members, data, c.data.repeats)
	for _, r := range c.readers {
		if id, ok := r.CallID(c.data.members); ok {
			return r, id, true
		}
	}
	for _, r := range c.readers {
		c.data.call = ToolCall{Status: Pending, Asks: true, Dialect: r.dialect, Differences: r.differences}
		if r.Question(data, &c.data.call) {
			return r, "", true
		}
	}
	return reader{}, "", false
}

// read takes the data part in hand, which is the call of that ID in the reader's dialect.
func (c *Calls) read(r reader, id, message string, v Verb, to []Step) []Step {
	sum := c.dataSum(r.Reader)
	// What is the same to the byte as the last time need not be read.
	if old := c.task.calls[id]; old != nil && old.dataSum == sum && !old.Closed && !c.inSnapshot && v == Live {
		old.sinceAnswer = true
		c.noteHeard(message, old.saidSum)
		c.relist(old)
		return c.place(old, to)
	}
	now := &c.data.call
	*now = ToolCall{}
	r.ToolCall(c.data.members, now)
	now.ID, now.Dialect, now.Differences = id, r.dialect, r.differences
	to = c.Say(now, message, v, to)
	if one := c.task.calls[id]; one != nil && v != Hint { // which may be older, or not have counted
		one.dataSum = sum
	}
	return to
}

// bare completes a question that came without a call: it becomes that of the one call that is
// pending, if there is one; otherwise a call with an ID of ours, which is answered
// for the task. The ID is the same in each process. old: it may be one that was answered.
func (c *Calls) bare(now *ToolCall, data, message string, old bool) {
	if pending := c.onlyPending(now.Dialect); pending != nil {
		confirmation := now.Confirmation
		*now = *pending.ToolCall
		now.Asks, now.Confirmation = true, confirmation
		return
	}
	now.Bare = true
	h := fnv.New64a()
	for _, v := range []string{c.task.id, message, data} {
		_, _ = h.Write([]byte(strconv.Itoa(len(v)) + ":" + v)) // a hash takes anything
	}
	id := "confirmation-" + strconv.FormatUint(h.Sum64(), 36)
	now.ID = id
	for n := 2; !old; n++ {
		if one := c.task.calls[now.ID]; one == nil || !one.Answered {
			break
		}
		now.ID = id + "~" + strconv.Itoa(n) // the agent asks the same again, after an answer
	}
}

// onlyPending returns the one call of the task that waits to be run and has asked nothing;
// nil if there is none, or more than one.
func (c *Calls) onlyPending(dialect uint8) (found *kept) {
	for _, one := range c.task.calls {
		if one.Status != Pending || one.Asks || one.Answered || one.Dialect != dialect {
			continue
		}
		if found != nil {
			return nil
		}
		found = one
	}
	return found
}

// Artifact takes an artifact that is the output of a call; false if it is not. C10: that of a call
// that nobody has mentioned is an artifact like any other. That of a call that the agent has ended
// changes nothing, as any late mention of it.
func (c *Calls) Artifact(a *a2a.Artifact, v Verb, to []Step) (steps []Step, ok bool) {
	for _, r := range c.readers {
		id, sent, ok := r.OutputSoFar(a)
		old := c.task.calls[id]
		if !ok || old == nil {
			continue
		}
		now := &c.data.call
		*now = *old.ToolCall
		now.OutputSoFar, now.outputJSON, now.sent = "", "", sent
		if c.inSnapshot {
			v = Forward
		}
		growing := now.readOutput(old)
		return c.apply(old, now, growing, v, to), true
	}
	return to, false
}

// IsOutput reports whether an artifact has the form of a call's output.
func (c *Calls) IsOutput(a *a2a.Artifact) bool {
	return slices.ContainsFunc(c.readers, func(r reader) bool { _, _, ok := r.OutputSoFar(a); return ok })
}

// More appends text to the output of a running call, of which the last max bytes are kept: the end
// tells how it went. Pieces in a snapshot do not tell which they are, and are dropped.
func (c *Calls) More(id, text string, max int, to []Step) []Step {
	old := c.task.calls[id]
	if old == nil || old.Status.Ended() || text == "" || c.inSnapshot {
		return to
	}
	now := &c.data.call
	*now = *old.ToolCall
	if text = old.OutputSoFar + text; len(text) > max {
		text = strings.ToValidUTF8(text[len(text)-max:], "")
	}
	now.OutputSoFar, now.outputJSON = text, ""
	return c.apply(old, now, nil, Live, to)
}

// Knows reports whether the task in hand has a call.
func (c *Calls) Knows(id string) bool { return c.task.calls[id] != nil }

// DropEvent drops what points into the event in hand.
func (c *Calls) DropEvent() {
	c.data.call = ToolCall{}
	if cap(c.data.members) > keepMembers {
		c.data.members = nil
	}
	clear(c.data.members[:cap(c.data.members)])
}

// dataSum returns the hash of the data part in hand. It keeps the members that repeat.
func (c *Calls) dataSum(r Reader) uint64 {
	var s sum
	d := &c.data
	for i := range d.members {
		m := &d.members[i]
		if m.repeated == nil && r.Repeats(m.Key) && len(m.Value) <= maxRepeated && rawjson.IsObject(m.Value) {
			m.Value = strings.Clone(m.Value)
			m.repeated = &repeatedObject{m.Value, hashOf(m.Value), ReadObject(make(Object, 0, 10), m.Value)}
			if len(d.repeats) < maxRepeats {
				d.repeats = append(d.repeats, nil)
			}
			toFront(d.repeats, m.repeated)
			size := 0
			d.repeats = slices.DeleteFunc(d.repeats, func(r *repeatedObject) bool { size += len(r.json); return size > maxRepeated })
		}
		if s.text(m.Key); m.repeated != nil {
			s.number(m.repeated.sum)
		} else {
			s.text(m.Value)
		}
	}
	return uint64(s)
}
