package trace

import (
	"bytes"
	"hash/maphash"
	"slices"
	"strconv"
	"time"
)

// A Decision is what the bridge has decided, and why. Unknown members are empty.
type Decision struct {
	What, Why           string
	Session, Task, Call string
	// Events are the events that it is about, by the numbers of [Recorder.Event].
	Events  []int64
	Attempt int
	// Option is the ID of the chosen option; Outcome is its meaning; By is who chose:
	// "user", "mode", "always", "dismissed", "cancel".
	Option, Outcome, By string
}

// Decide records a decision. The caller may use the Decision again, but not its Events.
func (r *Recorder) Decide(d *Decision) {
	c := *d
	r.q.add(item{kind: itemDecision, more: &c}, nil)
}

// Event notes that the bridge has taken an event of the agent's, and numbers it n. Call
// it for a stream's events in their order, after their bytes have passed. payload is
// the event, without its JSON-RPC envelope.
func (r *Recorder) Event(n int64, payload string) {
	var hash uint64 // 0: nobody has the event
	if len(payload) <= r.limit {
		hash = maphash.String(lineSeed, payload)
	}
	r.q.add(item{kind: itemTaken, x: n, hash: hash}, nil)
}

// Became notes that events, by their numbers, became the lines for the editor that pass
// next.
func (r *Recorder) Became(events []int64, lines []byte) {
	events = slices.Clone(events[:min(len(events), maxKnown)])
	for line := range bytes.Lines(lines) {
		if len(line) <= r.limit+1 { // with its line feed
			r.q.add(item{kind: itemBecame, hash: lineHash(bytes.TrimSuffix(line, []byte{'\n'})), more: events}, nil)
		}
	}
}

// observed is what the worker knows of events: which wait to be taken, where the
// bridge's numbers are in the trace, and what becomes of them.
type observed struct {
	on    bool                  // a bridge reports what it does
	came  map[uint64]came       // the events that wait to be taken, by their hash
	taken [maxKnown]EventRef    // by the bridge's number modulo maxKnown; zero: not in the trace
	from  map[uint64][]EventRef // the events of lines that have not passed yet, by the line's hash
}

// came are equal events, the oldest first: mostly there is one.
type came struct {
	first EventRef
	rest  []EventRef
}

// comes notes an event or a body that has passed, with its outline.
func (o *observed) comes(p payload, l *outline, ref EventRef) {
	if !o.on || p.long {
		return
	}
	b := p.b
	if l.rpc && l.result.to > 0 {
		b = b[l.result.from:l.result.to]
	}
	hash := maphash.Bytes(lineSeed, b)
	if equal := o.came[hash]; equal.first == (EventRef{}) {
		remember(o.came, hash, came{first: ref})
	} else if len(equal.rest) < maxKnown {
		o.came[hash] = came{equal.first, append(equal.rest, ref)}
	}
}

// takes notes that the bridge has taken an event, as its number n: the oldest equal one.
func (o *observed) takes(n int64, hash uint64) {
	equal := o.came[hash]
	if o.taken[n%maxKnown] = equal.first; len(equal.rest) == 0 {
		delete(o.came, hash)
	} else {
		o.came[hash] = came{equal.rest[0], equal.rest[1:]}
	}
}

// becomes notes the events of the line with a hash.
func (o *observed) becomes(hash uint64, events []int64) {
	if refs := o.refs(events); len(refs) > 0 {
		remember(o.from, hash, append(o.from[hash], refs...))
	}
}

// refs returns where the bridge's events are in the trace, of those that are there.
func (o *observed) refs(events []int64) (refs []EventRef) {
	for _, n := range events {
		if ref := o.taken[n%maxKnown]; ref[0] > 0 {
			refs = append(refs, ref)
		}
	}
	return refs
}

// refs appends the member "from", unless there are none.
func (w *worker) refs(refs []EventRef) {
	if len(refs) == 0 {
		return
	}
	w.buf = append(w.buf, `,"from":[`...)
	for i, ref := range refs {
		if i > 0 {
			w.buf = append(w.buf, ',')
		}
		w.buf = strconv.AppendInt(append(w.buf, '['), ref[0], 10)
		w.buf = append(strconv.AppendInt(append(w.buf, ','), ref[1], 10), ']')
	}
	w.buf = append(w.buf, ']')
}

func (w *worker) decision(at time.Time, d *Decision) {
	why := d.Why
	if w.enc.mask.redact { // it may quote what the agent has said
		why = sizeMark(why)
	}
	w.begin(at, WireBridge, "", KindDecision)
	w.text("what", d.What)
	w.text("why", why)
	w.text("session", d.Session)
	w.text("task", d.Task)
	w.text("call", d.Call)
	w.refs(w.seen.refs(d.Events))
	w.number("attempt", int64(d.Attempt))
	w.text("option", d.Option)
	w.text("outcome", d.Outcome)
	w.text("by", d.By)
	w.finish()
}
