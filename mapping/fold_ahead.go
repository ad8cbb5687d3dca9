package mapping

import "strings"

// ahead is text of an artifact that a snapshot has brought. It may be the whole of messages
// that a replay still has to bring, at an agent that does not hold them. In their order the
// artifact would have been the repetition.
type ahead struct {
	artifact *shown
	from, to int // in said, what of it has not come
}

// foretell notes what was shown of an artifact that a snapshot holds.
func (t *texts) foretell(sh *shown, from int) {
	if to := len(t.said.text); to > from {
		t.ahead = append(t.ahead, ahead{sh, from, to})
	}
}

// foretold reports whether a message of a replay, of which nothing was shown, is a part of
// such an artifact, and notes it.
func (t *texts) foretold(sh *shown, text string) bool {
	part := strings.TrimSpace(text)
	if sh.n > 0 || part == "" {
		return false
	}
	for i := range t.ahead {
		a := &t.ahead[i]
		if from := skipSpace(t.said.text[:a.to], a.from); strings.HasPrefix(string(t.said.text[from:a.to]), part) {
			a.from = from + len(part)
			t.adopt(sh, text)
			return true
		}
	}
	return false
}

// passed notes that a replay has come to an artifact: what follows is none of its parts.
func (t *texts) passed(sh *shown) {
	for i := range t.ahead {
		if t.ahead[i].artifact == sh {
			t.ahead[i].from = t.ahead[i].to
		}
	}
}
