package rawjson

import "unicode/utf8"

const hexDigits = "0123456789abcdef"

// AppendEscaped appends s as the content of a JSON string. It also escapes U+2028 and
// U+2029, which end a line for some readers; bytes that are not UTF-8 become U+FFFD.
func AppendEscaped(dst []byte, s string) []byte {
	from := 0
	for i := 0; i < len(s); {
		if i = SkipPlain(s, i); i == len(s) {
			break
		}
		b := s[i]
		if b < utf8.RuneSelf {
			dst = append(dst, s[from:i]...)
			switch b {
			case '"', '\\':
				dst = append(dst, '\\', b)
			case '\n':
				dst = append(dst, '\\', 'n')
			case '\r':
				dst = append(dst, '\\', 'r')
			case '\t':
				dst = append(dst, '\\', 't')
			default:
				dst = append(dst, '\\', 'u', '0', '0', hexDigits[b>>4], hexDigits[b&15])
			}
			i++
			from = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			dst = append(dst, s[from:i]...)
			dst = append(dst, "\ufffd"...)
			from = i + 1
		case r == '\u2028' || r == '\u2029':
			dst = append(dst, s[from:i]...)
			dst = append(dst, `\u202`...)
			dst = append(dst, hexDigits[r&15])
			from = i + n
		}
		i += n
	}
	return append(dst, s[from:]...)
}
