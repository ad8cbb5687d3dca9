package shown

import (
	"bytes"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// Restore notes a step that another process has shown, in the order of its journal and in its
// turn (see [Shown.Begin]), and shows nothing.
func (s *Shown) Restore(x *Step) {
	s.limit()
	part := a2a.Part{Kind: a2a.PartText, Text: x.Text}
	if x.Part != nil {
		part = *x.Part
	}
	seq := s.symbols(&part)
	k := key{s.task, x.Kind, x.ID}
	it := s.items[s.hashKey(k)]
	if it == nil || x.Op == Replace {
		it = s.another(k)
	}
	// What is new of an item that a whole has superseded is another text. An artifact begins anew, as
	// it does live; a message's lines do not tell whether they begin.
	if it.life == dead && !x.Repeats {
		if was := it.run; x.Op == Begin && x.Kind == Artifact {
			it = s.another(k)
			it.run = was
		} else {
			it.life = first
		}
	}
	switch {
	case seq == "":
		return
	case x.Repeats && x.Op.Follows():
		if !s.skips {
			s.restoreWhole(it, seq)
			s.extend(it, seq)
		}
		return
	case x.Repeats:
		if s.skips = it.n > 0; !s.skips {
			s.restoreRepeat(it, x, seq)
			s.setText(it, seq)
		}
		return
	}
	s.restoreRun(it, x.Name, seq)
	s.note(it, seq, 1)
}

// restoreRun settles the run that text of an item was shown in, by its name, as enter has settled it.
func (s *Shown) restoreRun(it *item, name, seq string) {
	switch r := s.last; {
	case it.run != nil && it.run.name == name:
		if it.run != r { // two items grow in turns
			s.last, it.run.at = it.run, len(s.said.text)
		}
	case r != nil && r.name == name && r.kind == it.kind: // rule: restoreRun
		_, sure := joins(s.said.text[r.at:], r.growth == certain || s.naming == chunks, seq)
		if s.joinRun(it, sure); it.kind == Artifact && it.n == 0 {
			r.pieces = max(1, r.pieces) + 1
		}
	default:
		s.names[s.hashName(it.kind, name)] += 0 // it was given out; what was made of it stays counted
		it.run = s.newRun(it.kind, name)
	}
}

// restoreRepeat notes that an item of which nothing was known has said again what was said: as the growth of
// the message being shown (L7), whose name it has then, or as a whole.
func (s *Shown) restoreRepeat(it *item, x *Step, seq string) {
	r := s.last
	if r != nil && r.kind == it.kind && r.name == x.Name && bytes.HasSuffix(s.said.text, []byte(seq)) { // rule: restoreRepeat
		it.run, r.growth, r.at = r, cumulative, len(s.said.text)-len(seq)
		return
	}
	it.run = r
	s.restoreWhole(it, seq)
}

// restoreWhole notes what an item has said again: a task need not hold that elsewhere (S5).
func (s *Shown) restoreWhole(it *item, seq string) {
	if c, ok := s.covers(&Item{Kind: it.kind, seq: seq, as: asWhole}); ok && c.rest == "" {
		s.supersede(&c, it)
		s.endRun(&c)
	}
}
