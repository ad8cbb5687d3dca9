package trace

import "strings"

const (
	// tailSize is how much of a text is kept to be joined with its continuation, and how much before
	// a secret that the continuation may belong to; maxTail bounds both. Of a secret that is longer,
	// what goes on like a token is masked.
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
	// hidden: the end lies within a secret that begins before the tail.
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
		// The secret began before the tail, and ends where no token continues.
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
	if first := len(m.seam) - maxTail; first > keep {
		open, keep = true, first
	}
	s.hidden = open
	s.tail = append(s.tail[:0], m.seam[keep:]...)
	if s.quiet = nil; last < len(m.seam)-len(s.tail) {
		s.quiet = m.sieve
	}
	kept := spans[:0]
	for _, sp := range spans {
		if sp.to > before {
			kept = append(kept, span{max(0, sp.from-before), sp.to - before})
		}
	}
	return replace(piece, kept)
}
