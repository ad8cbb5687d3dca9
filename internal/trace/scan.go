package trace

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// maxDepth bounds the nesting of JSON that is recorded as JSON. Deeper JSON may be an
// attack on recursive readers; it is recorded as text.
const maxDepth = 512

// looked is the result of scanning a payload.
type looked struct {
	// valid: it is a JSON document that may stand in a line.
	valid bool
	// suspect: it may hold a credential. Otherwise it holds none.
	suspect bool
	// texts are the strings of members "text", between their quotes.
	texts []span
	// id and method are JSON-RPC's, as written; session is the first member "sessionId",
	// without its quotes.
	id, method, session span
}

// A scanner tells whether a payload is JSON, and whether it may hold a credential at
// all. Most payloads cost no more than that. Its result is valid until its next use.
// For what is not JSON it tells only that.
type scanner struct {
	looked
	m    *masker
	open [maxDepth / 64]uint64 // a bit for each level: an object, not an array
	deep int
	of   keyClass // of the next value
	// known are payloads that the next one may resemble.
	known templates
}

// scan looks at a payload.
func (s *scanner) scan(b []byte) *looked {
	if s.like(b) {
		return &s.looked
	}
	s.full(b)
	s.known.keep(b, &s.looked)
	return &s.looked
}

// full goes over all of a payload.
func (s *scanner) full(b []byte) {
	s.known.holes, s.known.full = s.known.holes[:0], false
	s.looked, s.deep, s.of = looked{texts: s.texts[:0]}, 0, keyPlain
	s.suspect = s.m.suspects(b)
	s.valid = s.walk(b) && bytes.IndexByte(b, '\n') < 0 && utf8.Valid(b)
}

// suspects reports whether JSON needs the thorough pass.
func (m *masker) suspects(b []byte) bool {
	return !m.sieve.each(b, func(at int, w *word) bool {
		switch w.kind {
		case wordEscape:
			return !hides(b[at:])
		case wordPush:
			return false
		}
		s, ok := w.span(b, at)
		return !ok || s.to <= s.from
	})
}

// hides reports whether an escape stands for a character of a credential, of its name,
// or of what surrounds them. Encoders that are careful about HTML escape <, > and
// quotes, which are none.
func hides(b []byte) bool {
	if len(b) < 6 || b[1] != 'u' {
		return true
	}
	switch string(b[4:6]) {
	case "22", "27", "3c", "3e", "3C", "3E", "60":
		return false
	}
	return '2' <= b[4] && b[4] <= '7'
}

// walk reports whether b is JSON, and notes its content.
func (s *scanner) walk(b []byte) bool {
	for i := blanks(b, 0); ; {
		// A value begins here.
		from := i
		switch {
		case i >= len(b):
			return false
		case b[i] == '"':
			if i = stringEnds(b, i+1); i > 0 {
				s.text(b, span{from + 1, i - 1})
			}
		case b[i] == '{' || b[i] == '[':
			first := blanks(b, i+1)
			if first < len(b) && b[first] == b[i]+2 { // ] and } are two behind their opening bracket
				i = first + 1
				break
			}
			if i = s.enter(b, first, b[i] == '{'); i < 0 {
				return false
			}
			continue
		default:
			if i = scalarEnds(b, i); i > 0 {
				s.scalar(b, span{from, i})
			}
		}
		if i < 0 {
			return false
		}
		if i = s.after(b, i); i <= 0 || s.deep == 0 {
			return i == len(b)
		}
	}
}

// after moves from a value to the next one, out of what ends there. At the end of the
// document it returns the index behind it. It is negative if b is not JSON.
func (s *scanner) after(b []byte, i int) int {
	for {
		i = blanks(b, i)
		if s.deep == 0 {
			return i
		}
		if i >= len(b) {
			return -1
		}
		object := s.open[s.deep/64]>>(s.deep%64)&1 == 1
		switch c := b[i]; {
		case c == ',' && object:
			return s.key(b, blanks(b, i+1))
		case c == ',':
			s.of = keyPlain
			return blanks(b, i+1)
		case c == '}' && object, c == ']' && !object:
			s.deep--
			i++
		default:
			return -1
		}
	}
}

// enter moves to the first value of an object or an array.
func (s *scanner) enter(b []byte, i int, object bool) int {
	if s.deep >= maxDepth-1 {
		return -1
	}
	s.deep++
	bit := uint64(1) << (s.deep % 64)
	if !object {
		s.open[s.deep/64] &^= bit
		s.of = keyPlain
		return i
	}
	s.open[s.deep/64] |= bit
	return s.key(b, i)
}

// key reads a member's name and the colon.
func (s *scanner) key(b []byte, i int) int {
	if i >= len(b) || b[i] != '"' {
		return -1
	}
	end := stringEnds(b, i+1)
	if end < 0 {
		return -1
	}
	if s.of = s.m.keys.class(b[i+1 : end-1]); s.of.look() {
		s.suspect = true
	}
	if end = blanks(b, end); end >= len(b) || b[end] != ':' {
		return -1
	}
	return blanks(b, end+1)
}

// scalar notes a value that is no string.
func (s *scanner) scalar(b []byte, at span) {
	if s.of == keyID && s.deep == 1 {
		s.id = at
	} else if c := b[at.from]; '1' <= c && c <= '9' {
		s.known.found(hole{at, s.of, true})
	}
}

// text notes a string value.
func (s *scanner) text(b []byte, at span) {
	of := s.of
	if s.deep > 1 && (of == keyID || of == keyMethod) {
		of = keyPlain // of an inner object
	}
	s.known.found(hole{at, of, false})
	text := b[at.from:at.to]
	switch s.of {
	case keyText:
		s.texts = append(s.texts, at)
	case keyMethod:
		if s.deep == 1 {
			s.method = at
		}
	case keyID:
		if s.deep == 1 {
			s.id = span{at.from - 1, at.to + 1}
		}
	case keySession:
		if s.session.to == 0 {
			s.session = at
		}
	case keyName:
		s.suspect = s.suspect || len(text) <= maxName && s.m.names.class(text) == keySecret
	}
	s.suspect = s.suspect || mayBeJSON(text)
}

// mayBeJSON reports whether a string, as written, may be JSON itself. Most words of
// agents begin with a blank, so a blank alone says nothing.
func mayBeJSON(text []byte) bool {
	if len(text) < 3 {
		return false
	}
	if text[0] == ' ' {
		text = text[blanks(text, 0):]
	}
	return len(text) > 0 && (text[0] == '{' || text[0] == '[' || text[0] == '\\')
}

// blanks skips white space from i on.
func blanks(b []byte, i int) int {
	for i < len(b) && b[i] <= ' ' && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// stringEnds returns the index behind the closing quote of the string around i. It is
// negative if there is none, or a byte that no string may hold.
func stringEnds(b []byte, i int) int {
	for {
		i = plainEnd(b, i)
		if i >= len(b) {
			return -1
		}
		switch b[i] {
		case '"':
			return i + 1
		case '\\':
			if i = escapeEnds(b, i+1); i < 0 {
				return -1
			}
		default: // a control character
			return -1
		}
	}
}

func escapeEnds(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 1
	case 'u':
		if i+5 > len(b) {
			return -1
		}
		for _, c := range b[i+1 : i+5] {
			if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
				return -1
			}
		}
		return i + 5
	}
	return -1
}

// scalarEnds returns the index behind a number, true, false or null.
func scalarEnds(b []byte, i int) int {
	for _, word := range [...]string{"true", "false", "null"} {
		if b[i] == word[0] {
			if len(b)-i < len(word) || string(b[i:i+len(word)]) != word {
				return -1
			}
			return i + len(word)
		}
	}
	if b[i] == '-' {
		i++
	}
	if i < len(b) && b[i] == '0' {
		i++
	} else {
		i = digits(b, i)
	}
	if i > 0 && i < len(b) && b[i] == '.' {
		i = digits(b, i+1)
	}
	if i > 0 && i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		i = digits(b, i)
	}
	return i
}

func digits(b []byte, i int) int {
	from := i
	for i < len(b) && '0' <= b[i] && b[i] <= '9' {
		i++
	}
	if i == from {
		return -1
	}
	return i
}

// plainEnd returns the index of the first control character, quote or backslash from i
// on.
func plainEnd(b []byte, i int) int {
	const low, high = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		quote, slash := w^'"'*low, w^'\\'*low
		// A borrow may set the bit of a later byte, but of none before the first hit.
		if found := ((w-' '*low)&^w | (quote-low)&^quote | (slash-low)&^slash) & high; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for i < len(b) && b[i] >= ' ' && b[i] != '"' && b[i] != '\\' {
		i++
	}
	return i
}
