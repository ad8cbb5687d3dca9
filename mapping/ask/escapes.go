package ask

import "strings"

const (
	escape = 0x1b
	bell   = 0x07
)

// WithoutEscapes returns text without the sequences by which a terminal is told
// colours, titles and movements (ECMA-48 §5.3 to §5.6): an editor shows them as
// characters. A sequence without an end is removed to the end of the text.
func WithoutEscapes(text string) string {
	text = sevenBits(text)
	at := strings.IndexByte(text, escape)
	if at < 0 {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for ; at >= 0; at = strings.IndexByte(text, escape) {
		b.WriteString(text[:at])
		text = text[at+1+sequence(text[at+1:]):]
	}
	b.WriteString(text)
	return b.String()
}

// sevenBits writes each control of 8 bits, a character from U+0080 to U+009F, as the sequence of two
// that means the same (ECMA-48 §5.3): xterm.js, for one, takes both.
func sevenBits(text string) string {
	const lead = 0xC2 // of its UTF-8
	var b strings.Builder
	for from := 0; ; {
		at := strings.IndexByte(text[from:], lead) + from
		if at < from || at == len(text)-1 {
			if b.Len() == 0 {
				return text
			}
			return b.String() + text
		}
		if from = at + 1; text[from] < 0xA0 {
			b.WriteString(text[:at])
			b.Write([]byte{escape, text[from] - 0x40})
			text, from = text[from+1:], 0
		}
	}
}

// sequence is how long the rest of an escape sequence is.
func sequence(s string) int {
	if s == "" {
		return 0
	}
	switch s[0] {
	case '[': // parameters, intermediates, and a final byte
		return final(s, 1, '0', '?', '@')
	case ']', 'P', 'X', '^', '_': // a string, up to its terminator
		for i := 1; i < len(s); i++ {
			if s[i] == bell {
				return i + 1
			}
			if s[i] == escape && i+1 < len(s) && s[i+1] == '\\' {
				return i + 2
			}
		}
		return len(s)
	}
	return final(s, 0, 1, 0, '0')
}

// final returns the end of a sequence of bytes from low to high, then of intermediates,
// then one byte from last on.
func final(s string, i int, low, high, last byte) int {
	for i < len(s) && low <= s[i] && s[i] <= high {
		i++
	}
	for i < len(s) && ' ' <= s[i] && s[i] <= '/' {
		i++
	}
	if i < len(s) && last <= s[i] && s[i] <= '~' {
		i++
	}
	return i
}
