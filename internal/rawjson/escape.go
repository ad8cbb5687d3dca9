package rawjson

import (
	"strings"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// AppendEscaped appends s as the content of a JSON string. It also escapes U+2028 and
// U+2029, which end a line for some readers; bytes that are not UTF-8 become U+FFFD.
func AppendEscaped(dst []byte, s string) []byte {
	const short = "\n\r\t\"\\" // what has an escape of two characters
	from := 0
	for i, r := range s {
		if r >= ' ' && r < utf8.RuneSelf && r != '"' && r != '\\' {
			continue
		}
		var escape []byte
		n := utf8.RuneLen(r)
		switch at := strings.IndexRune(short, r); {
		case at >= 0:
			escape = []byte{'\\', "nrt\"\\"[at]}
		case r < ' ':
			escape = []byte{'\\', 'u', '0', '0', hexDigits[r>>4], hexDigits[r&15]}
		case r == '\u2028' || r == '\u2029':
			escape = []byte{'\\', 'u', '2', '0', '2', hexDigits[r&15]}
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\ufffd"):
			escape, n = []byte("\ufffd"), 1
		default:
			continue
		}
		dst = append(append(dst, s[from:i]...), escape...)
		from = i + n
	}
	return append(dst, s[from:]...)
}
