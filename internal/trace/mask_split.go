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

// A textTail is what is kept of a text in pieces: a credential may lie across two of them.
type textTail struct {
	end      []byte   // of the text so far
	quiet    *sieve   // it has found no word in end; nil: there may be one
	inSecret bool     // the text so far ends within a secret that end does not have whole
	template template // of the documents with the pieces
}

// joined masks a piece that continues a text, and adds it. It returns the same bytes if
// nothing is masked.
func (m *masker) joined(s *textTail, piece []byte) []byte {
	before, from := len(s.end), 0
	if s.quiet == m.sieve {
		from = before
	}
	m.seam = append(append(m.seam[:0], s.end...), piece...)
	spans, last := m.find(m.seam, from, inPieces)
	if s.inSecret {
		// It ends where no token continues, unless what is left tells more.
		end := before
		for end < len(m.seam) && (charsDot.has(m.seam[end]) || strings.IndexByte("~+/=", m.seam[end]) >= 0) {
			end++
		}
		spans = merge(append(spans, span{0, end}))
	}
	keep, inSecret := max(len(m.seam)-tailSize, 0), false
	if end := len(spans) - 1; end >= 0 && spans[end].to == len(m.seam) {
		begin := spans[end].from
		inSecret, keep = s.inSecret && begin == 0, max(begin-tailSize, 0)
	}
	s.quiet = nil
	if last < keep {
		s.quiet = m.sieve
	}
	s.end = append(s.end[:0], m.seam[keep:]...)
	if len(s.end) > maxTail { // it begins with what tells that this is a secret
		inSecret, s.end = true, append(s.end[:2*tailSize], m.seam[len(m.seam)-tailSize:]...)
	}
	s.inSecret = inSecret
	kept := spans[:0]
	for _, sp := range spans {
		if sp.to > before {
			kept = append(kept, span{max(0, sp.from-before), sp.to - before})
		}
	}
	return replace(piece, kept)
}
