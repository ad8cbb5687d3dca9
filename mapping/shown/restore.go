package shown

import "github.com/a2astdio/a2astdio/transport/a2a"

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
			s.restoreWhole(it, seq)
			s.setText(it, seq)
		}
		if r := s.last; r != nil && r.kind == it.kind && r.name == x.Name && seq == string(s.said.text[r.at:]) {
			it.run, r.growth = r, cumulative // L7: it has grown
		}
		return
	case it.run == nil || it.run.name != x.Name:
		s.names[s.hashName(x.Kind, x.Name)] += 0 // it was given out; what was made of it stays counted
		it.run = s.newRun(it.kind, x.Name)
	}
	s.note(it, seq, 1)
}

// restoreWhole notes what an item has said again: a task need not hold that elsewhere (S5).
func (s *Shown) restoreWhole(it *item, seq string) {
	if c, ok := s.covers(&Item{Kind: it.kind, seq: seq, as: asWhole}); ok && c.rest == "" {
		s.supersede(&c, it)
	}
}
