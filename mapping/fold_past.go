package mapping

import "hash/maphash"

// This file bounds what a [Fold] keeps of IDs. What was used last is kept whole; of the
// rest a hash tells that it was shown. So of a text that was said long ago its length
// and its first piece are compared, not all of it, and what is added to it is shown as
// a text of its own; of a call it is known that it has ended, so that another result
// is not shown. What is older than maxPast/2 others is forgotten: it may be shown twice.

const (
	// maxWhole is how many texts, and how many calls, are kept whole.
	maxWhole = 1 << 12
	// maxPast is how many are known by their hashes, of each kind: some 20 MiB of texts,
	// 10 of anything else.
	maxPast = 1 << 19
	// maxAsked is how many questions may be open. More are not put to the user.
	maxAsked = 1 << 10
)

// past is what is left of things by the hash of their IDs. The zero value is ready.
type past[V any] struct {
	newer, older map[uint64]V // the older half gives way as a whole
}

func (p *past[V]) get(key uint64) (V, bool) {
	v, ok := p.newer[key]
	if !ok {
		v, ok = p.older[key]
	}
	return v, ok
}

func (p *past[V]) put(key uint64, v V) {
	if len(p.newer) == maxPast/2 {
		p.newer, p.older = nil, p.newer
	}
	if p.newer == nil {
		p.newer = map[uint64]V{}
	}
	p.newer[key] = v
}

// once notes a key; it reports whether that is new.
func (p *past[V]) once(key uint64) (isNew bool) {
	if _, ok := p.get(key); ok {
		return false
	}
	var none V
	p.put(key, none)
	return true
}

// pastText is what is left of what was shown of a message or artifact.
type pastText struct {
	sum            uint64 // of its first piece
	n, first       uint32 // its length, and that of the first piece
	turn, snapshot uint32 // the newest that it was in: see shown
}

// Bits of pastText.turn.
const (
	pastStored = 1 << 31 // sum is shown.stored's
	pastParts  = 1 << 30 // it had parts that are not text
	pastTurn   = pastParts - 1
)

// keyOf is the hash of an ID. What is said outside of a task is known for a turn.
func (t *texts) keyOf(id textID) uint64 {
	s := newSum(t.seed)
	s.text(t.task.id)
	s.text(id.key())
	s.text(id.id)
	if t.task.id == "" {
		s.number(uint64(t.turn))
	}
	return s.Sum64()
}

// once reports whether something of a message or artifact that is not text is shown for
// the first time, and notes it.
func (t *texts) once(sh *shown, sum uint64) (isNew bool) {
	sh.parts = true
	s := newSum(t.seed)
	s.number(sh.key)
	s.number(sum)
	return t.parts.once(s.Sum64())
}

// keep keeps a text that is new here, and forgets those that were used longest ago if
// there are too many.
func (t *texts) keep(sh *shown) {
	if was, ok := t.past.get(sh.key); ok {
		sh.turn, sh.held, sh.parts = int(was.turn&pastTurn), int(was.snapshot), was.turn&pastParts != 0
		switch {
		case was.turn&pastStored != 0:
			sh.stored = stored{int(was.n), was.sum}
		case was.n > 0:
			sh.n, sh.sums = int(was.n), []extent{{int(was.first), was.sum}}
		}
	}
	if t.kept = append(t.kept, sh); len(t.kept) <= maxWhole {
		return
	}
	left, kept := len(t.kept), t.kept[:0]
	for _, old := range t.kept {
		if left <= maxWhole/2 || old.used || old == t.growing || old == sh {
			old.used = false
			kept = append(kept, old)
			continue
		}
		t.leave(old)
		left--
	}
	clear(t.kept[len(kept):])
	t.kept = kept
}

// leave leaves of a text what is known by its hash.
func (t *texts) leave(sh *shown) {
	known := t.tasks[sh.task]
	if is := known != nil && known.texts[sh.textID] == sh; is {
		delete(known.texts, sh.textID)
	} else if sh.task == "" {
		return // of another turn
	}
	was := pastText{n: uint32(sh.n), turn: uint32(sh.turn) & pastTurn, snapshot: uint32(sh.held)}
	switch {
	case sh.stored.n > 0:
		was.n, was.sum, was.turn = uint32(sh.stored.n), sh.stored.sum, was.turn|pastStored
	case len(sh.sums) > 0:
		was.sum, was.first = sh.sums[0].sum, uint32(sh.sums[0].n)
	}
	if sh.parts {
		was.turn |= pastParts
	}
	sh.run = nil // see [Fold.fits]
	t.past.put(sh.key, was)
}

// keptCall says where a call is kept.
type keptCall struct {
	task *taskCalls
	id   string
}

// keyOf is the hash of a call's ID. closed: it was not the agent that has ended it.
func (t *taskCalls) keyOf(seed maphash.Seed, id string, closed bool) uint64 {
	s := newSum(seed)
	s.text(t.id)
	s.text(id)
	s.number(uint64(t.turn))
	if closed {
		s.number(1)
	}
	return s.Sum64()
}

// isPast reports whether an event of a call that is not kept says nothing new: the call
// has ended long ago. An agent that asks waits, whatever was.
func (f *Fold) isPast(now *ToolCall) bool {
	if now.Asks && !f.whole && !f.echo {
		return false
	}
	c := &f.calls
	if _, ended := c.past.get(c.task.keyOf(c.seed, now.ID, false)); ended {
		return true
	}
	_, closed := c.past.get(c.task.keyOf(c.seed, now.ID, true))
	return closed && !now.Status.Ended()
}

// leaveCalls leaves of the calls that have ended longest ago that they have, if too many
// are kept. If too many have not ended, the oldest are taken to have, but for those that
// ask.
func (f *Fold) leaveCalls() {
	c := &f.calls
	if len(c.kept) <= maxWhole {
		return
	}
	left := len(c.kept)
	for _, open := range [...]bool{false, true} {
		kept := c.kept[:0]
		for _, k := range c.kept {
			known := k.task.calls[k.id]
			switch {
			case known == nil:
			case left <= maxWhole/2 || known.listed || !open && !known.Status.Ended():
				kept = append(kept, k)
				continue
			default:
				if !known.Status.Ended() {
					f.closeCall(known, false)
				}
				delete(k.task.calls, k.id)
				c.past.put(k.task.keyOf(c.seed, k.id, known.closed), struct{}{})
			}
			left--
		}
		clear(c.kept[len(kept):])
		c.kept = kept
	}
}
