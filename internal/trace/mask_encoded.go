package trace

import (
	"bytes"
	"encoding/hex"
	"html"
)

// maxEncoded bounds how often a text may have been encoded.
const maxEncoded = 3

// encodedSpans adds the program's own credentials of which some bytes are written as %41, or as
// entities of HTML: &#65; &#x41; &amp;. An encoder may write any byte so, and one encoder may
// follow another, so a list of encodings would not do.
func (m *masker) encodedSpans(b []byte, want scope) {
	if len(m.literals) == 0 || bytes.IndexByte(b, '%') < 0 && bytes.IndexByte(b, '&') < 0 {
		return
	}
	if !hasEncoded(b) && (want != inPieces || openEscape(b) == len(b)) {
		return
	}
	at := make([]int, len(b)+1) // where a byte of plain is in b; its last element is b's end
	for i := range at {
		at[i] = i
	}
	plain := b
	for range maxEncoded {
		size := len(plain)
		if want == inPieces { // the piece may end within an encoded byte, which counts as its end
			n := openEscape(plain)
			at[n] = at[size]
			plain, at = plain[:n], at[:n+1]
		}
		next, from := decodeOnce(plain)
		if len(next) == size {
			break
		}
		for i := range from {
			from[i] = at[from[i]]
		}
		plain, at = next, from
		var r runs
		m.sieve.each(plain, 0, func(i int, w *word) {
			if s, ok := want.span(w, plain, i, &r); ok && w.kind == wordLiteral {
				m.found = append(m.found, span{at[s.from], at[s.to]})
			}
		})
	}
}

// hasEncoded reports whether a text has encoded bytes. In code, most % and & are none.
func hasEncoded(b []byte) bool {
	for i := range b {
		if b[i] == '%' && isPercent(b, i) || b[i] == '&' && entityEnd(b, i) > i {
			return true
		}
	}
	return false
}

// openEscape returns where an encoded byte begins that b may end within; len(b) if there is none.
func openEscape(b []byte) int {
	for i := len(b) - 1; i >= max(0, len(b)-11); i-- {
		switch c := b[i]; {
		case c == '&', c == '%' && (i+1 == len(b) || i+2 == len(b) && isHex(b[i+1])):
			return i
		case c != '#' && !charsWord.has(c):
			return len(b)
		}
	}
	return len(b)
}

// decodeOnce undoes one encoding. plain[i] was at at[i] in b; the last element is len(b).
func decodeOnce(b []byte) (plain []byte, at []int) {
	for i, n := 0, 1; i < len(b); i += n {
		char := b[i : i+1]
		if n = 1; b[i] == '%' && isPercent(b, i) {
			char, _ = hex.DecodeString(string(b[i+1 : i+3])) // they are two digits
			n = 3
		} else if b[i] == '&' {
			end := max(entityEnd(b, i), i+1)
			if s := html.UnescapeString(string(b[i:end])); len(s) < end-i {
				char, n = []byte(s), end-i
			}
		}
		for range char {
			at = append(at, i)
		}
		plain = append(plain, char...)
	}
	return plain, append(at, len(b))
}

// isPercent reports whether there is a byte like %41 at i.
func isPercent(b []byte, i int) bool { return i+3 <= len(b) && isHex(b[i+1]) && isHex(b[i+2]) }

// entityEnd returns the end of the entity at i; i if there is none. That of a number may lack
// its semicolon.
func entityEnd(b []byte, i int) int {
	end := i + 1
	for end < len(b) && end-i < 12 && (b[end] == '#' && end == i+1 || charsWord.has(b[end]) && b[end] != '_') {
		end++
	}
	if end < len(b) && b[end] == ';' {
		return end + 1
	}
	if end > i+2 && b[i+1] == '#' {
		return end
	}
	return i
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}
