package ask

import "strings"

const (
	escape = 0x1b
	bell   = 0x07
)

// WithoutEscapes returns text without the sequences by which a terminal is told
// colours, titles and movements (ECMA-48 §5.3 to §5.6): an editor shows them as
// characters. A sequence without an end is removed to the end of the text. Controls of 8 bits
// begin none: they are in every text whose UTF-8 was read as Latin-1, as "ß" (U+00C3 U+009F) is.
func WithoutEscapes(text string) string {
	at := strings.IndexByte(text, escape)
	if at < 0 {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for ; at >= 0; at = strings.IndexByte(text, escape) {
		b.WriteString(text[:at])
		text = text[at+1+lengthOfSequence(text[at+1:]):]
	}
	b.WriteString(text)
	return b.String()
}

// lengthOfSequence is how long an escape sequence at the beginning of s is, without its ESC.
func lengthOfSequence(s string) int {
	if s == "" {
		return 0
	}
	switch s[0] {
	case '[': // parameters, intermediates, and a final byte
		return endOfControl(s, 1, '0', '?', '@')
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
	return endOfControl(s, 0, 1, 0, '0')
}

// endOfControl returns where a control ends that goes on at s[i:] with bytes from low to high, then
// intermediates, then one byte from last on.
func endOfControl(s string, i int, low, high, last byte) int {
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
