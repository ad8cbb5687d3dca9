package mapping

import (
	"hash/maphash"
	"strings"

	"github.com/a2astdio/a2astdio/internal/fastpath"
	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file finds tool calls in data parts, and output of calls in artifacts.

// readData finds out whether a data part is a tool call of a dialect that the agent
// speaks, and which one it is; nil if it is none.
func (f *Fold) readData(data string) (d dialect, id string) {
	if f.spoken == 0 {
		return nil, ""
	}
	c := &f.calls
	c.data.members = readObject(c.data.members, data, c.data.repeats[:])
	for i, d := range dialects() {
		if f.speaks(i) {
			if id, ok := d.callID(c.data.members); ok {
				return d, id
			}
		}
	}
	return nil, ""
}

// maxDataSum is the longest data part that is hashed. Longer ones hold a file, or
// output that grows, and are hardly ever repeated as they are.
const maxDataSum = 64 << 10

// dataSum is the hash of the data part in hand; 0 if that is not worth it.
func (c *calls) dataSum(data, repeats string, from *fastpath.Source) uint64 {
	if len(data) > maxDataSum {
		return 0
	}
	s := newSum(c.seed)
	for i := range c.data.members {
		m := &c.data.members[i]
		s.text(m.key)
		switch {
		case m.sum != 0:
			s.number(m.sum)
			from.Add(m.value)
		case m.key != repeats || len(m.value) < minRepeat || m.value[0] != '{':
			s.text(m.value)
		default:
			r := &c.data.repeats[c.data.next]
			c.data.next = (c.data.next + 1) % len(c.data.repeats)
			*r = repeatedObject{strings.Clone(m.value), maphash.String(c.seed, m.value)}
			s.number(r.sum)
			from.Add(r.json)
		}
	}
	return s.Sum64()
}

// toolCall shows a data part of the named message that is a tool call; false if it
// is none. A snapshot has each event of a call: only the last is shown.
func (f *Fold) toolCall(data, messageID string) bool {
	d, id := f.readData(data)
	if d == nil {
		return f.bareRequest(data, messageID)
	}
	c := &f.calls
	old := c.task.calls[id]
	if f.whole {
		f.storesSaid = f.storesSaid || f.isKept(old, data, d.repeats(), messageID)
		if c.later[id]--; c.later[id] > 0 {
			return true
		}
	}
	held := f.isHeld(old)
	if held && !f.behind {
		return true
	}
	// What is the same to the byte as the last time need not be read.
	sum := c.dataSum(data, d.repeats(), f.event.FastPath().Source)
	if old != nil && sum != 0 && old.data == sum && !old.closed {
		c.asks(old)
	} else {
		now := &c.data.call
		*now = ToolCall{}
		d.toolCall(c.data.members, now)
		now.ID = id
		if held && now.Status <= old.Status {
			return true // the snapshot is newer, or as new
		}
		f.update(now)
		if old = c.task.calls[id]; old != nil {
			old.data, old.message = sum, maphash.String(c.seed, messageID)
		}
	}
	switch {
	case old == nil:
	case f.whole:
		old.held = f.texts.snapshots
	case held:
		old.held = 0 // the stream is beyond the snapshot
	}
	return true
}

// isKept reports whether a snapshot has what this turn has shown of a call. In another message
// the same may have been said again.
func (f *Fold) isKept(old *call, data, repeats, messageID string) bool {
	c := &f.calls
	return f.loss.away && old != nil && old.order > c.before && old.data != 0 && old.message == maphash.String(c.seed, messageID) &&
		old.data == c.dataSum(data, repeats, f.event.FastPath().Source)
}

// isHeld reports whether the event in hand may be in the last snapshot, which has the call.
func (f *Fold) isHeld(c *call) bool { return f.echo && c != nil && c.held == f.texts.snapshots }

// countCalls counts how often a snapshot names each tool call.
func (f *Fold) countCalls(ev *a2a.Event) {
	if f.spoken == 0 {
		return
	}
	f.calls.later = map[string]int{}
	count := func(m *a2a.Message) {
		for p := range m.Parts.All() {
			if p.Kind != a2a.PartData || m.Role == a2a.RoleUser {
				continue
			}
			if d, id := f.readData(string(p.Data)); d != nil {
				f.calls.later[id]++
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

// outputSoFar shows the output so far of a running call; false if the artifact is
// none, or of no call that we know: other agents may name artifacts alike.
func (f *Fold) outputSoFar(a *a2a.Artifact) bool {
	for i, d := range dialects() {
		if !f.speaks(i) {
			continue
		}
		id, sent, ok := d.outputSoFar(a)
		old := f.calls.task.calls[id]
		switch {
		case !ok || old == nil && !f.isPast(&ToolCall{ID: id}):
			continue
		case old != nil && !old.Status.Ended():
			c := &f.calls.data.call
			*c = *old.ToolCall
			c.OutputSoFar, c.knownSoFar, c.sent = "", knownText{}, sent
			f.update(c)
			if now := f.calls.task.calls[id]; now != nil && now.growing != nil {
				f.event.FastPath().Source.Begin(rawjson.View(now.growing.sent))
			}
		}
		return true
	}
	return false
}

// isLiveOutput reports whether an artifact has the form of a call's output.
func (f *Fold) isOutputSoFar(a *a2a.Artifact) bool {
	for i, d := range dialects() {
		if f.speaks(i) {
			if _, _, ok := d.outputSoFar(a); ok {
				return true
			}
		}
	}
	return false
}
