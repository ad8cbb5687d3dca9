package shown

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// An item is compared as one string (L11): its text, and for each part that is no text a
// symbol of fixed length, its hash between two zero bytes. A text that spells the hash of a
// part, whose seed it cannot know, would be taken for it.
const symbolLen = 18

// sequence returns parts as a string, "" if they say nothing. That of one text is the text itself.
func (s *Shown) sequence(parts a2a.Parts) string {
	list := make([]string, 0, 4)
	for parts.Next(&s.part) { // parts.All allocates one
		list = append(list, s.symbols(&s.part))
	}
	s.part = a2a.Part{} // which is of the event in hand
	return strings.Join(list, "")
}

// symbols returns a part as a string, "" if it says nothing.
func (s *Shown) symbols(p *a2a.Part) string {
	if p.Kind == a2a.PartText {
		return p.Text
	}
	value := p.Raw
	if p.Kind == a2a.PartData {
		if value = p.Data; isEmpty(value) {
			return ""
		}
	}
	var symbol [symbolLen]byte
	for h, i := rawjson.Digest(s.seed, string(value)), 1; i < symbolLen-1; h, i = h>>4, i+1 {
		symbol[i] = "0123456789abcdef"[h&15]
	}
	return string(symbol[:])
}

// isEmpty reports whether the value of a data part says nothing: frameworks send an empty
// object to reset an artifact, or where they have nothing to send.
func isEmpty(data a2a.JSON) bool {
	switch string(data) {
	case "{}", "[]", "null", `""`:
		return true
	}
	return false
}

// emit shows an item's parts between two places in its sequence, a step each: the first by the
// Op of the step in hand, which is Grow again then; others by Grow, or Further where a part
// begins.
func (s *Shown) emit(it *item, in *Item, from, to int) {
	p := &s.part
	s.step.Kind, s.step.ID, s.step.Part = it.kind, it.id, p
	for at, parts := 0, in.Parts; to > 0 && parts.Next(p); at++ {
		n := symbolLen
		if p.Kind == a2a.PartText {
			n = len(p.Text)
		} else if p.Kind == a2a.PartData && isEmpty(p.Data) {
			n = 0
		}
		if to -= n; from >= n {
			from -= n
			continue
		}
		if s.step.Op == Grow && at > 0 && from == 0 && in.pieces == 0 {
			s.step.Op = Further
		}
		if p.Kind == a2a.PartText {
			s.step.Text = p.Text[from : len(p.Text)+min(0, to)]
		}
		from = 0
		s.show(&s.step)
		s.step.Op, s.step.Text = Grow, ""
	}
	s.part = a2a.Part{}
}

// skip returns the place of the next byte from i on that is no white space (Unicode's), else
// end or more.
func skip[T string | []byte](b T, i, end int) int {
	for i < end {
		if c := b[i]; c < utf8.RuneSelf {
			if c != ' ' && (c < '\t' || c > '\r') {
				return i
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(string(b[i:min(end, i+utf8.UTFMax)]))
		if !unicode.IsSpace(r) {
			return i
		}
		i += n
	}
	return i
}

// weight is how many bytes of a text are no white space; evidence is the most: no more is asked for.
func weight(seq string) int { return weightLess(seq, evidence-1) }

// weightLess is the weight of a text, or n+1 if it is more than n.
func weightLess[T string | []byte](text T, n int) (w int) {
	for i := skip(text, 0, len(text)); i < len(text) && w <= n; i = skip(text, i+1, len(text)) {
		w++
	}
	return w
}

// A place is one in what was said, and one in a text that is compared with that.
type place struct{ said, seq int }

// alike compares said with seq from a place on, white space left out. It returns where they differ, or
// one ends, and the place behind the last bytes that are alike.
func alike(said []byte, seq string, from place) (differ, behind place) {
	for at := from; ; from = at {
		at = place{skip(said, at.said, len(said)), skip(seq, at.seq, len(seq))}
		if at.said >= len(said) || at.seq >= len(seq) || said[at.said] != seq[at.seq] {
			return at, from
		}
		n := max(1, common(said[at.said:], seq[at.seq:]))
		at = place{at.said + n, at.seq + n}
	}
}

// common is how many whole characters two texts surely begin with alike, in bytes: an agent
// whose texts all begin alike costs a comparison with each, and byte by byte that took 10 ms an
// event. It is cut between characters, since white space may have several bytes.
func common(said []byte, seq string) (n int) {
	const step = 32
	for n+step <= min(len(said), len(seq)) && string(said[n:n+step]) == seq[n:n+step] {
		n += step
	}
	for least := max(0, n-utf8.UTFMax+1); n > least && n < len(seq) && !utf8.RuneStart(seq[n]); {
		n--
	}
	return n
}
