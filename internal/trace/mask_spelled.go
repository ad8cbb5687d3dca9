package trace

import (
	"bytes"
	"encoding/hex"
	"html"
)

// maxSpelled bounds how often a text may have been encoded.
const maxSpelled = 3

// spelledSpans finds the program's own credentials where some of their bytes are written
// as %41, or as entities of HTML: &#65; &#x41; &amp;. An encoder may write any byte so,
// and one encoder may follow another, so a list of spellings would not do.
func (m *masker) spelledSpans(b []byte) []span {
	if len(m.literals) == 0 || bytes.IndexByte(b, '%') < 0 && bytes.IndexByte(b, '&') < 0 {
		return nil
	}
	var found []span
	var at []int // where a byte of plain is in b; its last element is b's end
	plain := b
	for range maxSpelled {
		next, from, changed := decoded(plain)
		if !changed {
			break
		}
		if at != nil {
			for i := range from {
				from[i] = at[from[i]]
			}
		}
		plain, at = next, from
		m.sieve.each(plain, func(i int, w *word) bool {
			if w.kind == wordLiteral {
				found = append(found, span{at[i], at[i+len(w.text)]})
			}
			return true
		})
	}
	return found
}

// decoded decodes once. at[i] is the index in b of the i-th byte.
func decoded(b []byte) (plain []byte, at []int, changed bool) {
	for i := 0; i < len(b); {
		char, n := b[i:i+1], 1
		switch b[i] {
		case '%':
			if i+3 <= len(b) {
				if c, err := hex.DecodeString(string(b[i+1 : i+3])); err == nil {
					char, n = c, 3
				}
			}
		case '&':
			if end := entityEnd(b, i); end > i {
				if s := html.UnescapeString(string(b[i:end])); len(s) < end-i {
					char, n = []byte(s), end-i
				}
			}
		}
		changed = changed || n > 1
		for range char {
			at = append(at, i)
		}
		plain = append(plain, char...)
		i += n
	}
	return plain, append(at, len(b)), changed
}

// entityEnd returns the end of the entity at i. That of a number may lack its semicolon.
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

// spells reports whether a text that is written as JSON may spell a credential so.
func (m *masker) spells(b []byte, at int) bool {
	if len(m.literals) == 0 || at+1 >= len(b) {
		return false
	}
	c := b[at+1]
	if b[at] == '%' {
		return at+3 <= len(b) && isHex(c) && isHex(b[at+2])
	}
	return c == '#' || entityEnd(b, at) > at
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}
