package trace

import "strings"

const (
	// tailSize is how much of a text is kept to be joined with its continuation, and how much before
	// a secret that the continuation may belong to. Of more than maxTail, the middle is left out; of a
	// secret whose end cannot be told without that, what goes on like a token is masked.
	tailSize = 192
	maxTail  = 4 << 10
	// minPiece is the least length of a secret's beginning that is masked before the rest
	// is known. Every other word ends in a shorter one. It is less than minLiteral.
	minPiece = 4
)

// A said is the end of what was said so far in a text in pieces.
type said struct {
	tail []byte
	// quiet has found no word in the tail.
	quiet *sieve
	// hidden: the end lies within a secret that the tail has not all of.
	hidden bool
	like   pattern // of the documents with the pieces
}

// joined masks a piece that continues what was said, and adds it. It returns the same bytes if
// nothing is masked.
func (m *masker) joined(s *said, piece []byte) []byte {
	before, from := len(s.tail), 0
	if s.quiet == m.sieve {
		from = before
	}
	m.seam = append(append(m.seam[:0], s.tail...), piece...)
	spans, last := m.find(m.seam, from, inPieces)
	if s.hidden {
		// It ends where no token continues, unless what is left tells more.
		end := before
		for end < len(m.seam) && (charsDot.has(m.seam[end]) || strings.IndexByte("~+/=", m.seam[end]) >= 0) {
			end++
		}
		spans = merge(append(spans, span{0, end}))
	}
	keep, open := max(len(m.seam)-tailSize, 0), false
	if end := len(spans) - 1; end >= 0 && spans[end].to == len(m.seam) {
		begin := spans[end].from
		open, keep = s.hidden && begin == 0, max(begin-tailSize, 0)
	}
	s.quiet = nil
	if last < keep {
		s.quiet = m.sieve
	}
	s.tail = append(s.tail[:0], m.seam[keep:]...)
	if len(s.tail) > maxTail { // it begins with what tells that this is a secret
		open, s.tail = true, append(s.tail[:2*tailSize], m.seam[len(m.seam)-tailSize:]...)
	}
	s.hidden = open
	kept := spans[:0]
	for _, sp := range spans {
		if sp.to > before {
			kept = append(kept, span{max(0, sp.from-before), sp.to - before})
		}
	}
	return replace(piece, kept)
}
