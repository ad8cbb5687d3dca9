package shown

import (
	"bytes"
	"strings"
)

// This file is for texts that grow.

// showGrowth shows a text that begins with all of the message being shown, under another ID:
// that as a repetition, the rest as its growth (L7: 663 turns); false, with nothing shown, if
// it does not, or if that message comes in pieces. One that was joined to a text before it, as
// after a line break, may be of another text: 74 of 3,000 turns of agents that say notes, too.
func (s *Shown) showGrowth(it *item, in *Item) bool { // rule: L7
	r := s.last
	if r == nil || r.kind != it.kind || r.growth == certain {
		return false
	}
	at := r.at
	if r.growth == byPieces { // it may have gone on with a text that is none of its own
		if at = r.joinedAt; at == 0 || at != s.said.starts[s.said.newestStart()].at || bytes.HasSuffix(s.said.text, []byte("\n")) {
			return false // the latter are lines: "ok\n", "ok\nok\n"
		}
	}
	was := s.said.text[at:]
	if !strings.HasPrefix(in.seq, string(was)) {
		return false
	}
	behind, same := r.epoch != s.epoch, len(in.seq) == len(was)
	if r.growth != cumulative && (behind || same && s.naming != growing) || behind && same {
		return false // two messages that say the same, or begin so behind a call
	}
	r.growth, r.at = cumulative, at
	it.events++
	n := len(was)
	if was := s.said.last(); same && was != nil && was != it {
		was.life = dead // rule: S5
	}
	s.setText(it, in.seq[:n])
	it.run = r
	s.repeat(it, in, n, Begin)
	if n == len(in.seq) {
		return true
	}
	s.say(it, in, n)
	if s.last != r { // behind a call it goes on in another run, and the next text has all of it, too
		s.last.at, s.last.growth = r.at, cumulative
	}
	return true
}

// A Grown is an item, and the run that it grows in: see [Shown.Grow].
type Grown struct {
	it  *item
	run *run
}

// ID is the item's, a copy.
func (g Grown) ID() string { return g.it.id }

// Growing returns what was shown last, for [Shown.Grow]; false: it is not of this task, kind
// and ID.
func (s *Shown) Growing(kind Kind, id string) (g Grown, ok bool) {
	it := s.said.last()
	if it == nil {
		return g, false
	}
	return Grown{it, it.run}, it.kind == kind && it.id == id && it.task == s.task && it.run == s.last
}

// Grow notes a piece of an item, without asking what it is: it was last said by an event of the
// same shape. The caller shows it. False, with nothing noted: it is for [Shown.Live], since it
// might be anything else; of half a message, or more, it may say the message again.
func (s *Shown) Grow(g Grown, text string) bool {
	if g.it.run != g.run || g.run.epoch != s.epoch || g.run.pieces > 1 || g.it.life == dead || s.gap == owed || text == "" ||
		g.it.turn != s.turn || s.doubted > 0 || g.it.kind != Artifact && 2*len(text) >= g.it.n {
		return false
	}
	s.limit()
	s.enter(g.it, text, nil)
	s.note(g.it, text, 1)
	return true
}

// Thoughts is what this turn has shown as thoughts of an ID in the task in hand, if it is kept.
func (s *Shown) Thoughts(id string) string {
	return s.said.textOf(func(it *item) bool { return it.key == key{s.task, Thought, id} })
}
