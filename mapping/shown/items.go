package shown

import (
	"hash/maphash"
	"strings"
)

// This file has what is kept of items.

// A key is what an event names an item by.
type key struct {
	task string
	kind Kind
	id   string
}

// item is what was shown of one, also as a repetition.
type item struct {
	key
	n      int       // its length
	hashes []extent  // of it, but for the end that is growing: see Shown.growing
	one    [1]extent // room of hashes: most items have one
	turn   int       // the newest that has shown something of it
	run    *run      // that its newest text is in; nil: there is none yet
	hint   Hint      // of its newest event that appends
	events int       // that have said something new of it
	epoch  int       // of its newest text
	heldIn int       // Shown.states, when a state has held it last
	life   life
	form   form
	of     Kind // what a thought came in
}

// life says whether an item is the one that its ID names.
type life uint8

const (
	first   life = iota
	instead      // it takes the place of another one
	dead         // replaced, or superseded by a whole (S5)
)

// form is how the events of an artifact come.
type form uint8

const (
	unmarked form = iota
	inPlace       // in pieces that take each other's place: see isPiece
	marked        // append or lastChunk was said
)

// maxItems bounds what is kept of items: older turns' are forgotten, and would be shown again.
const maxItems = 1 << 14

// An extent is text by its length and its hash.
type extent struct {
	n    int
	hash uint64
}

// key is the key of an item in the task in hand.
func (s *Shown) key(in *Item) key { return key{s.task, in.Kind, in.ID} }

// hashKey is a key of items and names: see there.
func (s *Shown) hashKey(k key) uint64 { return maphash.Comparable(s.seed, k) }

// find returns what is kept of an item of the task in hand, nil for nothing. It may be dead.
func (s *Shown) find(in *Item) *item { return s.items[s.hashKey(s.key(in))] }

// another begins an item in place of the one that its key had, which is dead from then on, and
// returns it. Of too many items it forgets those of earlier turns; of too many in this one, all.
func (s *Shown) another(k key) *item {
	hash := s.hashKey(k)
	k.id = strings.Clone(k.id)
	it := &item{key: k, turn: s.turn}
	it.hashes = it.one[:0]
	if old := s.items[hash]; old != nil {
		old.life, it.life = dead, instead
	}
	s.items[hash] = it
	if len(s.items) > maxItems {
		for k, old := range s.items {
			if old.turn != s.turn || old.life == dead {
				delete(s.items, k)
			}
		}
		if len(s.items) > maxItems/2 { // all of this turn
			clear(s.items) // its room is needed again
			s.items[hash] = it
		}
	}
	return it
}

// extend notes that an item has said a text, too, which is not at the end of said.
func (s *Shown) extend(it *item, text string) {
	s.settle()
	it.hashes = append(it.hashes, extent{len(text), maphash.String(s.seed, text)})
	it.n += len(text)
}

// setText notes that an item is known to have said just this, in this turn: text that is in said already.
func (s *Shown) setText(it *item, seq string) {
	it.n, it.hashes, it.turn = 0, it.hashes[:0], s.turn
	if s.growing == it {
		s.growing, s.n = nil, 0
	}
	s.extend(it, seq)
}

// settle puts the end of said that is the growing item's into its hashes, and no item grows
// then: before anything else changes said, or the hashes.
func (s *Shown) settle() {
	if it := s.growing; it != nil {
		it.hashes = append(it.hashes, extent{s.n, maphash.Bytes(s.seed, s.said.text[len(s.said.text)-s.n:])})
	}
	s.growing, s.n = nil, 0
}

// rest is what a text has beyond all that was shown of an item; false if it does not begin with that.
func (s *Shown) rest(it *item, seq string) (string, bool) {
	if len(seq) < it.n {
		return "", false
	}
	at := 0
	for _, e := range it.hashes {
		if maphash.String(s.seed, seq[at:at+e.n]) != e.hash {
			return "", false
		}
		at += e.n
	}
	if s.growing == it && seq[at:it.n] != string(s.said.text[len(s.said.text)-s.n:]) {
		return "", false
	}
	return seq[it.n:], true
}
