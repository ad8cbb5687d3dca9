package mapping

import "slices"

// This file tells what of the texts that were shown a snapshot holds.

// covered notes that a snapshot repeats what the turn has shown, in another message or
// artifact: the agent holds it.
func (t *texts) covered(text string) {
	if from, ok := t.said.coveredFrom(text); ok && (t.coveredFrom < 0 || from < t.coveredFrom) {
		t.coveredFrom = from
	}
}

// isBoth reports whether a message says the same as one before it in the snapshot in hand.
// The last one may be the whole of others.
func (t *texts) isBoth(text string) bool {
	from, ok := t.said.coveredFrom(text)
	return t.followed && ok && from >= t.heldFrom
}

// missing reports whether text was shown of the task in hand that the last snapshot
// does not hold.
func (t *texts) missing() bool {
	for _, sh := range t.task.texts {
		held := sh.held == t.snapshots && !sh.lacking || t.coveredFrom >= 0 && sh.turn == t.turn && sh.pos >= t.coveredFrom
		if sh.n > 0 && sh.run != nil && !held {
			return true
		}
	}
	return false
}

// coveredFrom returns where in what was said a text begins to say it again.
func (s *said) coveredFrom(text string) (from int, ok bool) {
	at := slices.IndexFunc(s.starts, func(b start) bool { _, ok := s.coversFrom(b.at, text); return ok })
	if at < 0 {
		return 0, false
	}
	return s.starts[at].at, true
}
