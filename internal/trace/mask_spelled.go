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
func (m *masker) spelledSpans(b []byte) (found []span) {
	if len(m.literals) == 0 || bytes.IndexByte(b, '%') < 0 && bytes.IndexByte(b, '&') < 0 {
		return nil
	}
	at := make([]int, len(b)+1) // where a byte of plain is in b; its last element is b's end
	for i := range at {
		at[i] = i
	}
	plain := b
	for range maxSpelled {
		next, from := decoded(plain)
		if len(next) == len(plain) {
			break
		}
		for i := range from {
			from[i] = at[from[i]]
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
func decoded(b []byte) (plain []byte, at []int) {
	for i, n := 0, 1; i < len(b); i += n {
		char := b[i : i+1]
		if n = 1; b[i] == '%' && spellsByte(b, i) {
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

// spellsByte reports whether %41 is at i.
func spellsByte(b []byte, i int) bool { return i+3 <= len(b) && isHex(b[i+1]) && isHex(b[i+2]) }

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
	switch {
	case len(m.literals) == 0 || at+1 >= len(b):
		return false
	case b[at] == '%':
		return spellsByte(b, at)
	}
	return b[at+1] == '#' || entityEnd(b, at) > at
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}
