package shown

import (
	"bytes"
	"slices"
)

const (
	// maxSaid is how much of a turn's text is kept to compare with: twice the longest answer that
	// a model of 128,000 tokens gives. Of more nothing is kept: what comes again is shown again.
	maxSaid = 1 << 20
	// maxStarts is how many beginnings of items are kept with it.
	maxStarts = 1 << 15
	// keepSaid is the room that is kept between turns.
	keepSaid = 16 << 10
)

// said is what a turn has shown, in its order. Agents stream an answer, and then say the whole
// of it again: in the status message that ends the task, in an artifact, in the history.
type said struct {
	text   []byte
	starts []start
	newest int // where the newest event's text begins
}

// A start is where an item begins in it, or goes on behind another: its text is text[at:end].
type start struct {
	at     int
	end    int
	it     *item
	pieces int   // events that have said it
	head   head  // of its first event's text
	hint   Hint  // a dialect's, of all of them
	copy   *item // of a state, which says it again under another ID, nil for none: see [Shown.showAtCursor]
}

// head is the first bytes of a text that are no white space, n of them: most starts are no place
// where another text may begin, and are passed by it.
type head struct {
	bytes [evidence]byte
	n     int
}

// headOf is the head of a text.
func headOf[T string | []byte](text T) (h head) {
	for i := skip(text, 0, len(text)); i < len(text) && h.n < len(h.bytes); i = skip(text, i+1, len(text)) {
		h.bytes[h.n] = text[i]
		h.n++
	}
	return h
}

// fits reports whether one may be the beginning of the other.
func (h *head) fits(o *head) bool {
	n := min(h.n, o.n)
	return string(h.bytes[:n]) == string(o.bytes[:n])
}

// HasSaid reports whether this turn has shown a text just so, in whichever pieces.
func (s *Shown) HasSaid(text string) bool {
	return bytes.Contains(s.said.text, []byte(text)) || slices.ContainsFunc(s.chains, func(c chain) bool {
		rest, begins := s.rest(c.it, text)
		return begins && rest == ""
	})
}

// clear forgets all, and keeps the room.
func (s *said) clear() {
	clear(s.starts)
	s.starts, s.text, s.newest = s.starts[:0], s.text[:0], 0
}

// letGo clears, and keeps little room: no more is said soon.
func (s *said) letGo() {
	if s.clear(); cap(s.text) > keepSaid {
		s.text, s.starts = nil, nil
	}
}

// add adds text of an item, which is not empty, behind all others. A start is also behind a part
// that is no text, and behind what stood between texts of one item, such as a call: a whole may
// begin there. So it may where pieces begin, and behind what a state has a copy of. Its room grows
// twofold: append grows by a quarter, and copies four times as much.
func (s *said) add(it *item, text string, epoch, pieces int) {
	n := len(s.starts)
	if n == 0 || s.starts[n-1].it != it || it.epoch != epoch || s.text[len(s.text)-1] == 0 || text[0] == 0 ||
		s.starts[n-1].hint != it.hint || s.starts[n-1].copy != nil {
		if n == cap(s.starts) {
			s.starts = slices.Grow(s.starts, max(16, n))
		}
		s.starts = append(s.starts, start{at: len(s.text), it: it, head: headOf(text), hint: it.hint})
		n++
	}
	s.starts[n-1].pieces += pieces
	if s.newest = len(s.text); s.newest+len(text) > cap(s.text) {
		s.text = slices.Grow(s.text, max(len(text), min(s.newest, maxSaid-s.newest)))
	}
	s.text = append(s.text, text...)
	s.starts[n-1].end = len(s.text)
}

// textOf is what was said of some items, as far as that is kept.
func (s *said) textOf(is func(it *item) bool) string {
	var all []byte
	for _, b := range s.starts {
		if is(b.it) {
			all = append(all, s.text[b.at:b.end]...)
		}
	}
	return string(all)
}

// last is the item that has said the newest text, nil if nothing is said.
func (s *said) last() *item {
	if len(s.starts) == 0 {
		return nil
	}
	return s.starts[len(s.starts)-1].it
}

// newestStart is the index of the start where the newest item's text begins, -1 if nothing is said.
func (s *said) newestStart() int {
	i := len(s.starts) - 1
	for i > 0 && s.starts[i-1].it == s.starts[i].it {
		i--
	}
	return i
}

// limit forgets the turn's text where it is more than is kept, before an item is compared with that.
func (s *Shown) limit() {
	if len(s.said.text) <= maxSaid && len(s.said.starts) <= maxStarts {
		return
	}
	s.settle()
	s.said.clear() // its room is needed again
	s.last, s.restated = nil, 0
	if h := s.held; h != nil {
		h.from, h.before, h.cursor = 0, 0, 0
	}
}
