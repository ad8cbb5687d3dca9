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
	// maxSeam bounds a piece that is searched a second time as a whole.
	maxSeam = 4 << 10
)

// A said is the end of what was said so far in a text in pieces.
type said struct {
	tail [tailSize]byte
	n    int
	// partial: the end may become a secret with the next piece.
	partial bool
	// hidden: the end lies within a secret longer than the tail.
	hidden bool
}

func (s *said) bytes() []byte { return s.tail[:s.n] }

// add appends the end of a piece to the tail.
func (s *said) add(piece []byte) {
	if len(piece) >= tailSize {
		s.n = copy(s.tail[:], piece[len(piece)-tailSize:])
		return
	}
	if over := s.n + len(piece) - tailSize; over > 0 {
		s.n = copy(s.tail[:], s.tail[over:s.n])
	}
	s.n += copy(s.tail[s.n:], piece)
}

// splits reports whether a piece, as written in JSON, must be searched together with
// what precedes it, or ends in what may begin a secret. If not, it adds the piece to
// what was said.
func (m *masker) splits(s *said, piece []byte) bool {
	if s.hidden || len(piece) > maxSeam && s.partial {
		return true
	}
	if bytes.IndexByte(piece, '\\') >= 0 {
		ok := len(piece) <= maxSeam
		if ok {
			m.piece, ok = unescaped(m.piece[:0], piece)
		}
		if !ok {
			return true
		}
		piece = m.piece
	}
	if beginsAssigned(piece) {
		return true
	}
	end := piece[max(0, len(piece)-tailSize):]
	if s.partial {
		// Every other word ends in what may begin a secret. A secret across the seam is found
		// in both texts joined; mostly there is none.
		m.seam = append(append(m.seam[:0], s.bytes()...), piece...)
		end = m.seam
		for _, sp := range m.spans(end) {
			if sp.to > s.n {
				return true
			}
		}
	}
	partial, from := m.unfinished(end)
	if from >= 0 {
		return true
	}
	s.partial = partial
	s.add(piece)
	return false
}

// unescaped appends a text without the escapes of code and prose. It returns false for
// other escapes.
func unescaped(dst, text []byte) ([]byte, bool) {
	for {
		i := bytes.IndexByte(text, '\\')
		if i < 0 || i+1 >= len(text) {
			return append(dst, text...), i < 0
		}
		k := strings.IndexByte(`ntr"\/`, text[i+1])
		if k < 0 {
			return dst, false
		}
		dst = append(append(dst, text[:i]...), "\n\t\r\"\\/"[k])
		text = text[i+2:]
	}
}

// joined masks a piece that continues what was said, and adds it.
func (m *masker) joined(s *said, piece []byte) []byte {
	before := s.n
	whole := append(append(make([]byte, 0, before+len(piece)), s.bytes()...), piece...)
	spans := append([]span(nil), m.spans(whole)...)
	partial, from := m.unfinished(whole)
	if from >= 0 && len(whole)-from >= minPiece {
		spans = merge(append(spans, span{from, len(whole)}))
	}
	if s.hidden && before > 0 {
		// The secret began before the tail, and ends where no token continues.
		end := before
		for end < len(whole) && (charsDot.has(whole[end]) || strings.IndexByte("~+/=", whole[end]) >= 0) {
			end++
		}
		if end > before {
			spans = merge(append(spans, span{0, end}))
		}
	}
	s.partial = partial
	last := len(spans) - 1
	s.hidden = last >= 0 && spans[last].from == 0 && spans[last].to == len(whole) && before > 0
	s.add(piece)
	kept := spans[:0]
	for _, sp := range spans {
		if sp.to > before {
			kept = append(kept, span{max(0, sp.from-before), sp.to - before})
		}
	}
	if len(kept) == 0 {
		return piece
	}
	return replace(nil, piece, kept)
}

// beginsAssigned reports whether a piece begins with the rest of a name and what
// follows a name.
func beginsAssigned(piece []byte) bool {
	i := skip(piece[:min(len(piece), maxName)], 0, nameByte)
	i = skip(piece, i, isQuote)
	i = skip(piece, i, isBlank)
	return i < len(piece) && (piece[i] == '=' || piece[i] == ':' || piece[i] == '@')
}

// unfinished looks at the end of a text. partial: with the next piece it may be a
// secret. from is where a secret has already begun, or -1.
func (m *masker) unfinished(b []byte) (partial bool, from int) {
	from = len(b)
	for _, l := range m.literals {
		for i := max(0, len(b)-len(l)+1); i < from; i++ {
			k := bytes.IndexByte(b[i:from], l[0])
			if k < 0 {
				break
			}
			if i += k; bytes.HasPrefix(l, b[i:]) {
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
				partial, from = true, min(from, start+at)
			}
		case wordName, wordScheme, wordURL, wordEquals, wordBlock:
			if s, ok := w.span(end, at); ok && s.to == len(end) {
				partial, from = true, min(from, start+s.from)
			}
			partial = partial || w.reaches(end, at)
		}
		return true
	})
	if from < len(b) {
		return true, from
	}
	return partial || m.beginsShape(end), -1
}

// reaches reports whether a word's credential may still come: only what stands between
// a name and its value, or within a URL, follows the word.
func (w *word) reaches(b []byte, at int) bool {
	i := at + len(w.text)
	if w.kind == wordURL {
		return !bytes.ContainsAny(b[i:], " \t\r\n\"'<>")
	}
	i = skip(b, i, nameByte)
	i = skip(b, i, isQuote)
	i = skip(b, i, isBlank)
	for i < len(b) && (b[i] == ':' || b[i] == '=' || b[i] == '>') {
		i++
	}
	i = skip(b, i, isBlank)
	i = skip(b, i, isQuote)
	i = skip(b, i, nameByte) // Bearer
	return skip(b, i, isBlank) == len(b)
}

// beginsShape reports whether the last word of b begins a token of a shape.
func (m *masker) beginsShape(b []byte) bool {
	i := len(b)
	for i > 0 && len(b)-i <= len("github_pat_") && charsDot.has(b[i-1]) {
		i--
	}
	last := b[i:]
	if len(last) == 0 || len(last) > len("github_pat_") {
		return false
	}
	for _, lead := range m.sieve.leads[last[0]] {
		if strings.HasPrefix(lead, string(last)) {
			return true
		}
	}
	return false
}
