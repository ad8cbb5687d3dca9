package rawjson

import (
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// Eight bytes are looked at as one number: one bit of each, and the highest.
const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// View returns the bytes as a string without a copy. The string changes with them: it
// is valid as long as the bytes stay unchanged, for a stream's buffer until the next
// read.
func View(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// bytesOf is the inverse, for reading only.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// Text returns the text of a string value, without a copy unless it has escapes;
// "" of any other value.
func Text(value string) string {
	switch {
	case len(value) < 2 || value[0] != '"':
		return ""
	case strings.IndexByte(value, '\\') < 0:
		return value[1 : len(value)-1]
	}
	return Unescape(value[1 : len(value)-1])
}

// Unescape returns the text of a JSON string, given without its quotes. A half of
// a surrogate pair becomes U+FFFD.
func Unescape(s string) string { return View(AppendUnescaped(make([]byte, 0, len(s)), s)) }

// AppendUnescaped appends the text of a JSON string, given without its quotes.
func AppendUnescaped(dst []byte, s string) []byte {
	for {
		k := strings.IndexByte(s, '\\')
		if k < 0 || k+1 == len(s) {
			return append(dst, s...)
		}
		dst = append(dst, s[:k]...)
		s = s[k:]
		// Where escapes are close together, reading a few bytes costs less than a search.
		most := shortString
		if k >= shortString {
			most = 1 // it is not near the last one
		}
		for near := 0; near < most && len(s) > 1; near++ {
			if s[0] != '\\' {
				dst = append(dst, s[0])
				s = s[1:]
				continue
			}
			near = 0
			if s[1] == 'u' {
				dst, s = appendRune(dst, s)
				continue
			}
			dst = append(dst, unescaped(s[1]))
			s = s[2:]
		}
	}
}

// unescaped returns the meaning of a backslash and c.
func unescaped(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

// appendRune appends the character of the \uXXXX at the start of s, which may
// take two of them, and returns what follows.
func appendRune(dst []byte, s string) ([]byte, string) {
	unit := rune(EscapedUnit(s))
	s = s[min(6, len(s)):]
	if 0xD800 <= unit && unit < 0xDC00 {
		if low := rune(EscapedUnit(s)); 0xDC00 <= low && low < 0xE000 {
			return utf8.AppendRune(dst, (unit-0xD800)<<10+low-0xDC00+0x10000), s[6:]
		}
	}
	return utf8.AppendRune(dst, unit), s // a surrogate becomes U+FFFD
}

// EscapedUnit returns the UTF-16 unit of a \uXXXX at the start of s, or 0.
func EscapedUnit(s string) int {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0
	}
	unit := 0
	for i := 2; i < 6; i++ {
		switch c := s[i]; {
		case '0' <= c && c <= '9':
			unit = unit<<4 | int(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			unit = unit<<4 | int(c|0x20-'a'+10)
		default:
			return 0
		}
	}
	return unit
}

// ScanRun checks the part of a string between quotes and escapes. It is ok if it is
// UTF-8 without control characters.
func ScanRun(s string) (ascii, ok bool) {
	var beyond, control uint64
	b := bytesOf(s)
	run := b
	for ; len(b) >= 32; b = b[32:] {
		w := (*[32]byte)(b)
		w0, w1 := binary.LittleEndian.Uint64(w[0:8]), binary.LittleEndian.Uint64(w[8:16])
		w2, w3 := binary.LittleEndian.Uint64(w[16:24]), binary.LittleEndian.Uint64(w[24:32])
		// A byte below a space borrows, and sets the high bit. It may also set its
		// neighbours', which does not matter, since one fault is enough.
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

// SkipPlain returns the index of the first byte from i on that is not ASCII or needs an
// escape: a control character, a quote, a backslash.
func SkipPlain(s string, i int) int {
	for p := unsafe.Pointer(unsafe.StringData(s)); i+8 <= len(s); i += 8 {
		w := binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(p, i))[:]) // s[i:] would be checked each time
		// A borrow may set the bit of a later byte, but of none before the first hit.
		if found := ((w - ' '*lowBits) | ((w ^ '"'*lowBits) - lowBits) | ((w ^ '\\'*lowBits) - lowBits) | w) & highBits; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for i < len(s) && s[i] >= ' ' && s[i] != '"' && s[i] != '\\' && s[i] < utf8.RuneSelf {
		i++
	}
	return i
}
