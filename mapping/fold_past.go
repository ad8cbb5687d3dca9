package mapping

import (
	"encoding/binary"
	"hash/maphash"
)

// This file bounds what a [Fold] keeps of texts. What was used last is kept whole; of the
// rest a hash tells that it was shown. So of a text that was said long ago its length
// and its first piece are compared, not all of it, and what is added to it is shown as
// a text of its own. What is older than maxPast/2 others is forgotten: it may be shown twice.

const (
	// maxWhole is how many texts are kept whole.
	maxWhole = 1 << 12
	// maxPast is how many are known by their hashes, of each kind: some 20 MiB of texts,
	// 10 of anything else.
	maxPast = 1 << 19
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

// A sum hashes values with their lengths, so that two lists of values do not hash
// alike.
type sum struct{ maphash.Hash }

func newSum(seed maphash.Seed) (s sum) {
	s.SetSeed(seed)
	return s
}

func (s *sum) text(v string) {
	s.number(uint64(len(v)))
	s.WriteString(v)
}

func (s *sum) number(n uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], n)
	s.Write(b[:])
}
