package transport

import (
	"bytes"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/tidwall/gjson"
)

// shortString is how far a string is looked at byte by byte.
const shortString = 16

// view returns the bytes as a string without copying them. The string changes
// when they do: it lives exactly as long as what it was made from stays as it
// is, which for a stream's buffer is until the next read.
func view(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// validJSON reports whether b is one JSON value that is safe to walk. Everything
// else in this file relies on it having been asked.
func validJSON(b []byte) bool {
	return !tooDeep(b) && gjson.ValidBytes(b)
}

// repairText makes text of what only looks like it, so that no reader further
// on chokes: bytes that are not UTF-8 become U+FFFD, as the event stream
// standard has it, and so do escapes of half a surrogate pair (\ud83d), which
// agents in JavaScript send when they split a text between two UTF-16 units and
// which strict parsers (Rust's serde_json, and so Zed) refuse. The latter is
// done in place: the escapes are equally long.
func repairText(b []byte) []byte {
	if !utf8.Valid(b) {
		b = bytes.ToValidUTF8(b, []byte("\uFFFD"))
	}
	for i := 0; ; {
		k := bytes.IndexByte(b[i:], '\\')
		if k < 0 {
			return b
		}
		i += k
		switch unit := escapedUnit(b[i:]); {
		case unit < 0xD800 || unit > 0xDFFF:
			// An escape of something else; \\ is two bytes, so that the second
			// does not begin one.
			i = min(i+2, len(b))
		case unit < 0xDC00 && escapedUnit(b[i+6:])&^0x3FF == 0xDC00:
			i += 12
		default:
			copy(b[i:], `\ufffd`)
			i += 6
		}
	}
}

// escapedUnit returns the UTF-16 unit of a \uXXXX at the start of b, or 0.
func escapedUnit(b []byte) int {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0
	}
	unit := 0
	for _, c := range b[2:6] {
		switch {
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

// eachMember calls f with each member of an object, keys without their quotes
// and values as they are written, until f returns false. It is a scanner of our
// own because gjson.ForEach decodes every string value on the way, which for
// text with escapes is a copy per level of nesting. What is not an object has no
// members; text that is not JSON ends the walk somewhere and never panics.
func eachMember(s string, f func(key, value string) bool) {
	walkMembers(s, skipSpace(s, 0), func(key string, at int) int {
		end := skipValue(s, at)
		if end > at && !f(key, s[at:end]) {
			return len(s)
		}
		return end
	})
}

// walkMembers is eachMember for an object within s, for whoever looks into its
// values: f gets where a value begins and returns where it ends, as skipValue or a
// walk of its own has told it. So the bytes of a message are not walked once for
// each object that it is in. It returns where the object ends; what is not one is
// skipped.
func walkMembers(s string, i int, f func(key string, at int) (end int)) (end int) {
	if i >= len(s) || s[i] != '{' {
		return skipValue(s, i)
	}
	for i++; ; {
		i = skipSpace(s, i)
		if i < len(s) && s[i] == ',' {
			i = skipSpace(s, i+1)
		}
		if i >= len(s) || s[i] != '"' {
			return min(i+1, len(s)) // behind the brace, if this is JSON
		}
		end := skipString(s, i)
		if end-i < 2 {
			return len(s)
		}
		key := s[i+1 : end-1]
		if strings.IndexByte(key, '\\') >= 0 {
			key = jsonText(s[i:end])
		}
		if i = skipSpace(s, end); i >= len(s) || s[i] != ':' {
			return len(s)
		}
		i = skipSpace(s, i+1)
		if end = f(key, i); end <= i {
			return len(s)
		}
		i = end
	}
}

// eachElement calls f with each element of an array until f returns false.
func eachElement(s string, f func(value string) bool) {
	i := skipSpace(s, 0)
	if i >= len(s) || s[i] != '[' {
		return
	}
	for i++; ; {
		i = skipSpace(s, i)
		if i < len(s) && s[i] == ',' {
			i = skipSpace(s, i+1)
		}
		end := skipValue(s, i)
		if end == i || !f(s[i:end]) {
			return
		}
		i = end
	}
}

// nextElement returns where the first element of an array begins, or of what was
// left of one behind an element; -1 if there is none.
func nextElement(s string) (at int) {
	i := skipSpace(s, 0)
	if i >= len(s) || s[i] != '[' && s[i] != ',' {
		return -1
	}
	if i = skipSpace(s, i+1); skipsNothing(s, i) {
		return -1
	}
	return i
}

// skipsNothing reports whether no value begins at i.
func skipsNothing(s string, i int) bool {
	return i >= len(s) || s[i] == ']' || s[i] == ',' || s[i] == '}' || s[i] == ':'
}

// jsonText returns the text of a string value, without a copy unless it has
// escapes. Numbers come back as they are written, because some agents number
// their tasks; anything else is "".
func jsonText(raw string) string {
	switch {
	case raw == "":
		return ""
	case raw[0] == '"' && len(raw) >= 2:
		if strings.IndexByte(raw, '\\') < 0 {
			return raw[1 : len(raw)-1]
		}
		return unescape(raw[1 : len(raw)-1])
	case raw[0] == '-' || '0' <= raw[0] && raw[0] <= '9':
		return raw
	}
	return ""
}

// isObject and isArray look at the first byte of a value as eachMember and
// eachElement yield it: without space before it.
func isObject(raw string) bool { return raw != "" && raw[0] == '{' }
func isArray(raw string) bool  { return raw != "" && raw[0] == '[' }

func skipSpace(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n' || s[i] == '\r') {
		i++
	}
	return i
}

// skipString returns the index after the string whose opening quote is at i.
func skipString(s string, i int) int {
	i++
	// Most are names and IDs, which end before a call of IndexByte pays off.
	for near := min(i+shortString, len(s)); i < near; i++ {
		switch s[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	for i < len(s) {
		k := strings.IndexByte(s[i:], '"')
		if k < 0 {
			return len(s)
		}
		i += k + 1
		slashes := 0
		for j := i - 2; j >= 0 && s[j] == '\\'; j-- {
			slashes++
		}
		if slashes%2 == 0 {
			return i
		}
	}
	return len(s)
}

// skipValue returns the index after the value at i; i itself if none is there.
func skipValue(s string, i int) int {
	if i >= len(s) {
		return i
	}
	switch s[i] {
	case '"':
		return skipString(s, i)
	case '{', '[':
		for depth := 0; i < len(s); i++ {
			switch s[i] {
			case '"':
				i = skipString(s, i) - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
		return i
	}
	for i < len(s) {
		switch s[i] {
		case ',', '}', ']', ':', ' ', '\t', '\n', '\r':
			return i
		}
		i++
	}
	return i
}
