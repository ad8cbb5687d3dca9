package mapping

import "hash/maphash"

// maxSearch is how many bytes may be hashed to find in a whole text what was shown of it.
const maxSearch = 1 << 24

// restOf is rest, also where only a journal knows what was shown.
func (t *texts) restOf(sh *shown, whole string) (rest string, replaced, short bool) {
	if sh.n > 0 || sh.stored.n == 0 {
		return t.rest(sh, whole)
	}
	rest, known := sh.known(whole)
	if known {
		t.adopt(sh, whole[:len(whole)-len(rest)])
	}
	return rest, !known, len(whole) < sh.stored.n
}

// mayBegin reports whether a text may be the beginning of what was shown, which is longer.
// It is sure where hashes end.
func (t *texts) mayBegin(sh *shown, text string) (may, sure bool) {
	if from := len(t.said.text) - sh.n; t.growing == sh && from >= 0 && sh.pos == from {
		return string(t.said.text[from:from+len(text)]) == text, true
	}
	if to := sh.pos + sh.n; t.growing != sh && sh.turn == t.turn && to <= len(t.said.text) {
		if all := string(t.said.text[sh.pos:to]); t.is(sh.sums, all) { // it was shown at once, and is still kept
			return all[:len(text)] == text, true
		}
	}
	for _, e := range sh.sums {
		if e.n > len(text) {
			break
		}
		if maphash.String(t.seed, text[:e.n]) != e.sum {
			return false, true
		}
		text = text[e.n:]
	}
	return true, text == ""
}

// isBeginning reports whether mayBegin is sure of it, for a text that [texts.rest] takes for
// one that is too short.
func (t *texts) isBeginning(sh *shown, text string) bool {
	may, sure := t.mayBegin(sh, text[sh.stored.n:])
	return may && sure
}

// maxOthers is how many other texts a whole is compared with.
const maxOthers = 64

// isAnother reports whether a text is all that another artifact has, which was shown in this
// turn, between other texts.
func (t *texts) isAnother(sh *shown, text string) bool {
	if len(text) < headLen/8 || len(t.task.texts) > maxOthers { // "Yes." may be said twice
		return false
	}
	for _, other := range t.task.texts {
		if other != sh && other.artifact && other.turn == t.turn && other.n == len(text) && other.run != nil && t.isAll(other, text) {
			return true
		}
	}
	return false
}

// wasSaid reports whether a text is all that another text has, of the earlier turn that sh is of.
func (t *texts) wasSaid(sh *shown, text string) bool {
	if len(text) < headLen/8 || len(t.task.texts) > maxOthers {
		return false
	}
	for _, other := range t.task.texts {
		if other == sh || other.turn != sh.turn || other.n == 0 || other.stored.n+other.n != len(text) {
			continue
		}
		if rest, replaced, _ := t.rest(other, text); rest == "" && !replaced {
			return true
		}
	}
	return false
}

// follow notes what was shown of an artifact before what follows. gap: it may have been
// replaced unheard since. So it was, if a snapshot had less of it than was shown.
func (t *texts) follow(sh *shown, gap bool) {
	gap = gap || sh.short.n > 0 && sh.short.n < sh.n && sh.joint == 0
	sh.headless = sh.headless || sh.n == 0 && sh.stored.n == 0
	if sh.n > 0 && (sh.turn != t.turn || gap) {
		if t.growing == sh {
			t.settle()
		}
		sh.joint, sh.joined = len(sh.sums), sh.n
	}
}

// between returns what a whole text has that was not shown of it, behind the first bytes, of
// which from were: before what was shown, where its beginning was missed, in between, and
// behind it.
func (t *texts) between(sh *shown, whole string) (from int, missed []string, ok bool) {
	if t.growing == sh {
		t.settle()
	}
	sums, left := sh.sums, sh.n
	if n := sh.stored.n; n > 0 && n <= len(whole) && markSum(whole[:n]) == sh.stored.sum {
		from = n
	}
	for len(sums) > 0 && from+sums[0].n <= len(whole) && maphash.String(t.seed, whole[from:from+sums[0].n]) == sums[0].sum {
		from, left = from+sums[0].n, left-sums[0].n
		sums = sums[1:]
	}
	if from > 0 || sh.headless || !sh.artifact {
		if to, end, ok := t.find(sums, left, whole, from); ok {
			return from, []string{whole[from:to], whole[end:]}, true
		}
	}
	if sh.joint == 0 {
		return 0, nil, false
	}
	old := min(sh.joint, len(sh.sums))
	to, end, ok := t.find(sh.sums[old:], sh.n-sh.joined, whole, 0)
	if !ok {
		return 0, nil, false
	}
	if sh.headless { // what was shown before the joint may also be between
		if at, next, ok := t.find(sh.sums[:old], sh.joined, whole[:to], 0); ok {
			return 0, []string{whole[:at], whole[next:to], whole[end:]}, true
		}
	}
	from = t.begins(sh, whole[:to])
	return from, []string{whole[from:to], whole[end:]}, true
}

// find returns where a whole text has, not before from, a text of n bytes with these hashes.
func (t *texts) find(sums []extent, n int, whole string, from int) (to, end int, ok bool) {
	if len(sums) == 0 || (len(whole)-from)*sums[0].n > maxSearch {
		return 0, 0, false
	}
	for to = len(whole) - n; to >= from; to-- {
		if t.is(sums, whole[to:to+n]) {
			return to, to + n, true
		}
	}
	return 0, 0, false
}

// begins returns how much of a text was shown before the joint of sh: all of it, if it is
// the beginning of that, or all that the agent held of it then; or nothing.
func (t *texts) begins(sh *shown, text string) int {
	if len(text) == sh.short.n || len(text) <= min(len(sh.head), sh.joined) && text == sh.head[:len(text)] {
		return len(text)
	}
	return 0
}

// is reports whether hashes are a text's.
func (t *texts) is(sums []extent, text string) bool {
	for _, e := range sums {
		if maphash.String(t.seed, text[:e.n]) != e.sum {
			return false
		}
		text = text[e.n:]
	}
	return true
}

// replaced is what was shown of an artifact, n bytes, before it was replaced: in the same turn
// by what was pushed, if blind.
type replaced struct {
	n     int
	sums  []extent
	blind bool
}

// replace replaces an artifact. Of several that are pushed the longest is kept, and the user is
// told that something may be missing, or come again: which of them is the newest cannot be known.
func (f *Fold) replace(sh *shown) {
	if f.texts.growing == sh {
		f.texts.seal()
	}
	blind := f.loss.blind && sh.turn == f.texts.turn
	f.disordered = f.disordered || blind && f.whole
	if sh.stored.n == 0 && !(blind && sh.was.blind && sh.n < sh.was.n) {
		sh.was = replaced{sh.n, sh.sums, blind}
	}
	f.texts.replace(sh)
}

// isAsBefore reports whether an artifact is as it was shown before pushes replaced it, which
// have come in another order, or in part; or is so pushed late, also with less or more of what
// it was then.
func (f *Fold) isAsBefore(sh *shown, text string) bool {
	if !f.loss.blind && (!sh.was.blind || sh.was.n != len(text)) || sh.was.n == 0 || !f.texts.agree(sh.was.sums, text) {
		return false
	}
	if sh.was.blind {
		f.texts.knows(sh, text)
		sh.held = f.texts.snapshots
	}
	return true
}

// agree reports whether hashes are those of a text as far as both go, and they do not end within
// one of them.
func (t *texts) agree(sums []extent, text string) bool {
	for _, e := range sums {
		switch {
		case text == "":
			return true
		case e.n > len(text) || maphash.String(t.seed, text[:e.n]) != e.sum:
			return false
		}
		text = text[e.n:]
	}
	return true
}
