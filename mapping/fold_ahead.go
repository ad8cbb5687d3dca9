package mapping

import (
	"bytes"
	"hash/maphash"
	"slices"
	"strings"
)

// ahead is text of an artifact, or of a message, that a snapshot has brought, or the stream
// behind a loss. It may be the whole of messages that a replay still has to bring, at an agent
// that does not hold them. In their order it would have been the repetition.
type ahead struct {
	text     *shown
	from, to int // in said, what of it has not come
}

// foretell notes what was shown of an artifact that a snapshot holds.
func (t *texts) foretell(sh *shown, from int) {
	if to := len(t.said.text); to > from && len(t.ahead) < maxOthers {
		t.ahead = append(t.ahead, ahead{sh, from, to})
	}
}

// mayBeAhead is foretell for an artifact of the stream: what it is the whole of may be lost, or
// is, if only its rest was shown.
func (f *Fold) mayBeAhead(sh *shown, from int, text, rest string) {
	if f.loss.told || f.loss.state != nothingLost || rest != "" && rest != text {
		f.texts.foretell(sh, from)
	}
}

// foretold reports whether what was not shown of a message, or a piece of one, of a replay is a
// part of such an artifact, and notes it. known is what was shown of it, which the artifact may
// have before that.
func (t *texts) foretold(sh *shown, known, rest string) bool {
	t.reach(known)
	if !t.reach(rest) {
		return false
	}
	t.saidElsewhere(sh, rest)
	return true
}

// saidElsewhere notes that what follows of a text was shown as another one's.
func (t *texts) saidElsewhere(sh *shown, rest string) {
	if sh.n == 0 && sh.stored.n == 0 {
		t.adopt(sh, rest)
		return
	}
	t.seal()
	sum := maphash.String(t.seed, rest)
	sh.head += strings.Clone(rest[:min(len(rest), max(0, headLen-sh.n))])
	sh.sums, sh.n, sh.chunk, sh.turn = append(sh.sums, extent{len(rest), sum}), sh.n+len(rest), sum, t.turn
	if sh.run != nil && sh.run.of == sh {
		sh.run.of = nil // a journal is told how far the text was when it goes on
	}
}

// reach reports whether a text is what comes next of such an artifact, and goes behind it.
func (t *texts) reach(text string) bool {
	part := strings.TrimSpace(text)
	if part == "" {
		return false
	}
	for i := range t.ahead {
		a := &t.ahead[i]
		if from := skipSpace(t.said.text[:a.to], a.from); bytes.HasPrefix(t.said.text[from:a.to], []byte(part)) {
			a.from = from + len(part)
			return true
		}
	}
	return false
}

// isAhead reports whether such an artifact has a text that has not come.
func (t *texts) isAhead(text string) bool {
	part := []byte(strings.TrimSpace(text))
	return slices.ContainsFunc(t.ahead, func(a ahead) bool { return bytes.Contains(t.said.text[a.from:a.to], part) })
}

// passed notes that a replay has come to an artifact: what follows is none of its parts.
func (t *texts) passed(sh *shown) {
	for i := range t.ahead {
		if t.ahead[i].text == sh {
			t.ahead[i].from = t.ahead[i].to
		}
	}
}
