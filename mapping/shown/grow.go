package shown

import (
	"bytes"
	"slices"
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

// maxChains is how many messages may be said at once: of more those are forgotten that spoke least lately.
const maxChains = 8

// A chain is a message as it is so far, of an agent that gives it another ID each time ([Shown.Grows]).
type chain struct {
	it     *item // that has said it last
	events int
	apart  bool // it has spoken in turns with another
}

// showGrown shows a message of such an agent that begins with all that a message of this turn was: that as a repetition,
// the rest as its growth; false, with nothing shown, if it begins another. Nodes of a graph that run at once speak in
// turns (LangGraph's server, by its source).
func (s *Shown) showGrown(it *item, in *Item) bool {
	i := s.chainOf(in.seq)
	if i < 0 {
		return false
	}
	c := s.chains[i]
	was := c.it
	if i > 0 {
		s.chains[0].apart, c.apart = true, true
		copy(s.chains[1:i+1], s.chains[:i])
	}
	n := was.n
	s.setText(it, in.seq[:n])
	it.run, it.epoch = was.run, was.epoch
	it.run.growth = cumulative
	it.events++
	was.life = dead // rule: S5
	c.it, c.events = it, c.events+1
	s.chains[0] = c
	if s.repeat(it, in, n, Begin); n < len(in.seq) {
		s.say(it, in, n)
	}
	return true
}

// beginChain notes that an item begins a message that may grow under other IDs.
func (s *Shown) beginChain(it *item) {
	s.chains = slices.Insert(s.chains[:min(len(s.chains), maxChains-1)], 0, chain{it: it, events: 1})
}

// chainOf returns the index of the message that a text is, as it is now, -1 for none: the newest one that it begins with.
// One that has just begun may have the first words of another: then that, if it is long, is it. Behind a call a text that
// says the same is another message, unless nodes run at once, of which one may have called.
func (s *Shown) chainOf(seq string) int {
	found := -1
	for i := range s.chains {
		c := &s.chains[i]
		rest, begins := s.rest(c.it, seq)
		long, behind := c.it.n >= evidence, c.it.epoch != s.epoch
		switch {
		case begins && rest == "" && c.events == 1 && !long && s.said.last() != c.it: // "Done.", twice, and other words between
		case !begins || c.it.task != s.task || behind && !(c.apart && long) && (c.apart || rest == "" || c.events < 2):
		case found < 0, s.chains[found].events == 1 && long && !behind && rest != "" && c.it.n > s.chains[found].it.n:
			found = i
		}
	}
	return found
}

// heldChain returns the longest message that a text of a task is, or goes on with, where several are said at once or were; nil
// for none.
func (s *Shown) heldChain(in *Item) (it *item) {
	if len(s.chains) < 2 {
		return nil
	}
	for i := range s.chains {
		c := s.chains[i].it
		if _, begins := s.rest(c, in.seq); begins && in.Kind == Message && c.task == s.task && c.heldIn != s.states && (it == nil || c.n > it.n) {
			it = c
		}
	}
	return it
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
