package trace

import (
	"bytes"
	"strings"
)

const (
	// tailSize is how much of a text is kept to be joined with its continuation. A secret
	// in pieces that is longer is masked piece by piece: each one begins or continues a
	// secret.
	tailSize = 192
	// minPiece is the least length of a secret's beginning that is masked before the rest
	// is known. Every other word ends in a shorter one.
	minPiece = 4
)

// A said is the end of what was said so far in a text in pieces.
type said struct {
	tail string
	// hidden: the end lies within a secret longer than the tail.
	hidden bool
}

// add appends the end of a piece to the tail.
func (s *said) add(piece []byte) {
	tail := s.tail + string(piece[max(0, len(piece)-tailSize):])
	s.tail = tail[max(0, len(tail)-tailSize):]
}

// splits reports whether a piece must be masked together with what precedes it, or ends
// in what begins a secret. If not, it adds the piece to what was said.
func (m *masker) splits(s *said, piece []byte) bool {
	m.seam = append(append(m.seam[:0], s.tail...), piece...)
	for _, sp := range m.spans(m.seam) {
		if sp.to > len(s.tail) {
			return true
		}
	}
	if s.hidden || m.begins(m.seam[max(0, len(m.seam)-tailSize):]) >= 0 {
		return true
	}
	s.add(piece)
	return false
}

// joined masks a piece that continues what was said, and adds it.
func (m *masker) joined(s *said, piece []byte) []byte {
	before := len(s.tail)
	whole := append(append(make([]byte, 0, before+len(piece)), s.tail...), piece...)
	spans := append([]span(nil), m.spans(whole)...)
	if from := m.begins(whole); from >= 0 && len(whole)-from >= minPiece {
		spans = merge(append(spans, span{from, len(whole)}))
	}
	if s.hidden {
		// The secret began before the tail, and ends where no token continues.
		end := before
		for end < len(whole) && (charsDot.has(whole[end]) || strings.IndexByte("~+/=", whole[end]) >= 0) {
			end++
		}
		spans = merge(append(spans, span{0, end}))
	}
	last := len(spans) - 1
	s.hidden = last >= 0 && spans[last].from == 0 && spans[last].to == len(whole) && before > 0
	s.add(piece)
	kept := spans[:0]
	for _, sp := range spans {
		if sp.to > before {
			kept = append(kept, span{max(0, sp.from-before), sp.to - before})
		}
	}
	return replace(piece, kept)
}

// begins returns where a secret begins that may go on behind the end of a text, or -1.
func (m *masker) begins(b []byte) (from int) {
	from = len(b)
	for _, l := range m.literals {
		for i := max(0, len(b)-len(l)+1); i < from; i++ {
			k := bytes.IndexByte(b[i:from], l[0])
			if k < 0 {
				break
			}
			if i += k; l[:len(b)-i] == string(b[i:]) {
				from = i
			}
		}
	}
	start := max(0, len(b)-tailSize)
	end := b[start:]
	m.sieve.each(end, func(at int, w *word) bool {
		switch w.kind {
		case wordShape:
			if _, open, _ := w.shape.end(end, at); open {
				from = min(from, start+at)
			}
		case wordName, wordScheme, wordURL, wordEquals, wordBlock:
			if s, ok := w.span(end, at); ok && s.to == len(end) {
				from = min(from, start+s.from)
			}
		}
		return true
	})
	if from == len(b) {
		return -1
	}
	return from
}
