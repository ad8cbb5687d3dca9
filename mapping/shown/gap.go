package shown

import (
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file decides whether something may be missing behind a cut, and when the user is told; or whether an item
// is shown anew instead: where the editor can (ACP, version 2), or no later look will show it.

// gap says whether text may be missing that a cut has cost, and the user knows.
type gap uint8

const (
	none    gap = iota
	owed        // to be said before the next text
	settled     // a snapshot was complete
	toldUser
)

// Cut notes that the stream was lost: a gap is owed.
func (s *Shown) Cut() { s.gap = owed }

// End ends a turn: a gap that is owed is said, unless the user knows of it already, and none is left.
func (s *Shown) End(known bool) {
	if s.gap == owed && !known {
		s.sayGap()
	}
	s.gap = none
}

func (s *Shown) sayGap() {
	s.gap = toldUser
	s.show(&Step{Op: Gap})
}

// weighGap weighs, behind a task that was asked for, whether that is complete, and by that whether a gap is
// owed. say: the caller is to say it, before what the task has added. list is all that the task holds, h what
// counts of it; textMissing: see heldItem.
func (s *Shown) weighGap(h *held, list []Item, textMissing bool) (say bool) {
	// A turn that is over has said something: the history of the A2A project's SDK for .NET has the user's messages alone.
	silent := s.state == a2a.StateCompleted && len(s.said.text) == 0 && !slices.ContainsFunc(list, func(in Item) bool { return in.Kind == Foreign })
	complete := s.holdsOurs(h, list) && !textMissing && s.namesAll() && !silent && !s.Partial // rule: S8
	switch {
	case complete && s.gap == owed:
		s.gap = settled // S3: complete is not final, the next one is weighed again
	case !complete && s.gap == settled:
		s.gap = owed
	}
	if s.gap == owed && len(s.said.text) > h.from {
		s.gap = toldUser
		return true
	}
	return false
}

// holdsOurs reports whether a task holds our newest message. It is not asked for where nothing but artifacts was
// shown, and the task holds no message of anybody: 2,154 false gaps. Of a task that goes on thoughts count as
// artifacts, since agents may put them there.
func (s *Shown) holdsOurs(h *held, list []Item) bool {
	has := func(is func(in Item) bool) bool { return slices.ContainsFunc(h.list, is) }
	messages := has(func(in Item) bool { return in.Kind == Message && in.Role == Said })
	artifacts := has(func(in Item) bool { return in.Kind == Artifact || in.Kind == Thought && s.state != a2a.StateCompleted })
	said := slices.ContainsFunc(s.said.starts, func(b start) bool { return b.it.kind == Message })
	ours := slices.ContainsFunc(list, func(in Item) bool { return in.Kind == User && s.sent.is(&in) })
	ours = ours || !messages && artifacts && !said // rule: S4
	return ours
}

// namesAll reports whether a snapshot has all items that this turn has shown, or copies of them;
// whether it has their whole text tells heldItem (textMissing). Thoughts, superseded items and white space
// are not missed.
func (s *Shown) namesAll() bool {
	return !slices.ContainsFunc(s.said.starts, func(b start) bool {
		held := b.it.heldIn == s.states || b.copy != nil && b.copy.heldIn == s.states
		return !held && b.it.life != dead && b.it.kind != Thought && skip(s.said.text, b.at, b.end) < b.end
	})
}

// mends reports whether a state that was asked for has a known item as it should be shown: with more in
// the middle, or, of an artifact, another text; false where other items may have said some of it. Where
// the old text stays, that is the artifact of a task that is over, as its agent has replaced it (S9):
// trpc-agent-go does so with each piece. One that holds the newest piece alone has neither: so an artifact
// that has come in pieces is never replaced by a text that lacks some of them, since some agents keep the
// newest one alone, and it may not have been heard.
func (s *Shown) mends(it *item, in *Item) bool {
	may := s.InPlace
	may = may || in.Kind == Artifact && s.state.Terminal() // rule: S9
	was := s.said.textOf(func(of *item) bool { return of == it })
	if !may || s.Partial || it.life == dead || len(was) != it.n || in.Role == Status {
		return false // other items have said some of it, or it may be the newest piece
	}
	if end, _ := alike([]byte(was), in.seq, place{}); !s.InPlace && end.said >= len(was) && end.seq >= len(in.seq) {
		return false // other white space is not worth all of it once more
	}
	return has(in.seq, was) || in.Kind == Artifact && it.events == 1 && !strings.Contains(was, in.seq)
}

// has reports whether a text has all of another in its order, with more between.
func has(seq, part string) bool {
	for part != "" {
		n := 0
		for n < min(len(seq), len(part)) && seq[n] == part[n] {
			n++
		}
		if n == 0 {
			at := strings.Index(seq, part[:min(len(part), evidence)])
			if at < 0 {
				return false
			}
			seq = seq[at:]
		}
		seq, part = seq[n:], part[n:]
	}
	return true
}
