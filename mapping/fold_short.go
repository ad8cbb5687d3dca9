package mapping

import (
	"hash/maphash"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file is about artifacts of which the agent holds less than was shown.

// isLess reports whether a text is the beginning of what this turn has shown of the
// same artifact: the agent has taken back the rest.
func (f *Fold) isLess(sh *shown, text string) bool {
	if sh.n == 0 || sh.turn != f.texts.turn {
		return false
	}
	_, _, short := f.texts.rest(sh, text)
	return short
}

// noteShort notes that the agent holds less of an artifact than it has said: what the user has stays.
func (f *Fold) noteShort(sh *shown, a *a2a.Artifact, text string) {
	f.artifactParts(sh, a, len(text), true, false)
	if sh.turn != f.texts.turn && sh.short.n == len(text) {
		sh.held = f.texts.snapshots // as it was before this turn
	} else {
		f.less = append(f.less, text)
	}
	sh.short = extent{len(text), maphash.String(f.texts.seed, text)}
}

// hasGrown reports whether an artifact, of which the agent held less than was shown in an earlier
// turn, goes on from that, and sets rest to what follows. What was shown of that as it came,
// insertedArtifact finds.
func (f *Fold) hasGrown(sh *shown, text string, rest *string) bool {
	n := sh.short.n
	if n == 0 || n >= len(text) || sh.turn == f.texts.turn || maphash.String(f.texts.seed, text[:n]) != sh.short.sum {
		return false
	}
	if _, _, ok := f.texts.between(sh, text); ok && sh.joint > 0 {
		return false
	}
	f.texts.knows(sh, text[:n])
	*rest = text[n:]
	return true
}
