package transport

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf8"
)

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// A scanned is what scanString has seen of a string.
type scanned struct {
	end     int  // the index after its closing quote; 0: it may not be taken as it is
	escaped bool // it has escapes
	plain   bool // see a2a.Part
}

// scanString takes the string whose opening quote is at i, if it is valid and
// repairText would leave it alone. It looks for quotes and backslashes with the
// library's assembler, and at what is between them eight bytes at once: a text
// is read by every layer once, and this is the only one that reads each byte.
func scanString(b []byte, i int) (s scanned) {
	if i >= len(b) || b[i] != '"' {
		return scanned{}
	}
	i++
	quote := bytes.IndexByte(b[i:], '"')
	if quote < 0 {
		return scanned{}
	}
	quote += i
	s.plain = true
	for {
		escape := bytes.IndexByte(b[i:quote], '\\')
		run := b[i:quote]
		if escape >= 0 {
			run = run[:escape]
		}
		ascii, ok := scanRun(run)
		if !ok {
			return scanned{}
		}
		s.plain = s.plain && (ascii || plain(view(run)))
		if escape < 0 {
			s.end = quote + 1
			return s
		}
		s.escaped = true
		n := scanEscape(b[i+escape:])
		if n == 0 {
			return scanned{}
		}
		if i += escape + n; i <= quote {
			continue
		}
		// The quote was escaped.
		if quote = bytes.IndexByte(b[i:], '"'); quote < 0 {
			return scanned{}
		}
		quote += i
	}
}

// scanRun looks at what is between escapes: control characters do not belong
// there, and it must be UTF-8.
func scanRun(b []byte) (ascii, ok bool) {
	var beyond, control uint64
	run := b
	for ; len(b) >= 32; b = b[32:] {
		w := (*[32]byte)(b)
		w0, w1 := binary.LittleEndian.Uint64(w[0:8]), binary.LittleEndian.Uint64(w[8:16])
		w2, w3 := binary.LittleEndian.Uint64(w[16:24]), binary.LittleEndian.Uint64(w[24:32])
		// What is below a space borrows, and sets the high bit; it may set some of
		// its neighbours', which does not matter, since one is too many.
		beyond |= w0 | w1 | w2 | w3
		control |= (w0-' '*lowBits)&^w0 | (w1-' '*lowBits)&^w1 | (w2-' '*lowBits)&^w2 | (w3-' '*lowBits)&^w3
	}
	for ; len(b) >= 8; b = b[8:] {
		w := binary.LittleEndian.Uint64(b)
		beyond |= w
		control |= (w - ' '*lowBits) &^ w
	}
	if len(b) > 0 && len(run) >= 8 {
		w := binary.LittleEndian.Uint64(run[len(run)-8:]) // some of them again
		beyond |= w
		control |= (w - ' '*lowBits) &^ w
		b = nil
	}
	for _, c := range b {
		beyond |= uint64(c)
		control |= (uint64(c) - ' ') &^ uint64(c) & 0x80
	}
	if control&highBits != 0 {
		return false, false
	}
	ascii = beyond&highBits == 0
	return ascii, ascii || utf8.Valid(run)
}

// plain reports whether there is nothing in a valid string that a line of JSON
// should not have: U+2028 and U+2029 end one for some readers.
func plain(s string) bool {
	const lead = '\xE2' // of both
	return strings.IndexByte(s, lead) < 0 || !strings.Contains(s, "\u2028") && !strings.Contains(s, "\u2029")
}

// scanEscape returns the length of the escape at the start of b; 0 if it is none,
// or one of NUL or of half a surrogate pair, which are not taken as they are.
func scanEscape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		switch unit := escapedUnit(b); {
		case unit == 0 || 0xDC00 <= unit && unit <= 0xDFFF:
		case unit < 0xD800 || unit > 0xDFFF:
			return 6
		case escapedUnit(b[6:])&^0x3FF == 0xDC00:
			return 12
		}
	}
	return 0
}

// scanNatural returns the index after the number at i: digits, and nothing else;
// 0 if there is none.
func scanNatural(b []byte, i int) (end int) {
	for end = i; end < len(b) && '0' <= b[end] && b[end] <= '9'; end++ {
	}
	if end == i || b[i] == '0' && end > i+1 {
		return 0
	}
	return end
}
