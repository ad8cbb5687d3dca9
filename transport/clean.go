package transport

import "unicode/utf8"

// cleanJSON reports, in one pass, whether b is one JSON value that is safe to
// walk and that repairText would leave as it is. It may say no to some that are
// (deep ones, texts with escaped NULs): whoever asks goes the long
// way then, through repairText and validJSON.
func cleanJSON(b []byte) bool {
	end := cleanValue(b, cleanSpace(b, 0), 0)
	return end > 0 && cleanSpace(b, end) == len(b)
}

// cleanDepth is how deep cleanJSON goes. Agents nest some ten levels.
const cleanDepth = 64

// cleanValue returns the index after the value at i, 0 if there is none.
func cleanValue(b []byte, i, depth int) int {
	if i >= len(b) || depth > cleanDepth {
		return 0
	}
	switch b[i] {
	case '"':
		return scanString(b, i).end
	case '{', '[':
		return cleanMembers(b, i, depth+1)
	case 't':
		return cleanWord(b, i, "true")
	case 'f':
		return cleanWord(b, i, "false")
	case 'n':
		return cleanWord(b, i, "null")
	}
	return cleanNumber(b, i)
}

// cleanMembers takes an object or an array.
func cleanMembers(b []byte, i, depth int) int {
	object := b[i] == '{'
	closing := b[i] + 2
	if i = cleanSpace(b, i+1); i < len(b) && b[i] == closing {
		return i + 1
	}
	for {
		if object {
			if i = scanString(b, i).end; i == 0 {
				return 0
			}
			if i = cleanSpace(b, i); i >= len(b) || b[i] != ':' {
				return 0
			}
			i = cleanSpace(b, i+1)
		}
		if i = cleanValue(b, i, depth); i == 0 {
			return 0
		}
		i = cleanSpace(b, i)
		switch {
		case i >= len(b):
			return 0
		case b[i] == closing:
			return i + 1
		case b[i] != ',':
			return 0
		}
		i = cleanSpace(b, i+1)
	}
}

func cleanWord(b []byte, i int, word string) int {
	if len(b)-i < len(word) || string(b[i:i+len(word)]) != word {
		return 0
	}
	return i + len(word)
}

func cleanNumber(b []byte, i int) int {
	if b[i] == '-' {
		i++
	}
	if i = scanNatural(b, i); i == 0 {
		return 0
	}
	if i < len(b) && b[i] == '.' {
		if i = cleanDigits(b, i+1); i == 0 {
			return 0
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		return cleanDigits(b, i)
	}
	return i
}

func cleanDigits(b []byte, i int) int {
	end := i
	for end < len(b) && '0' <= b[end] && b[end] <= '9' {
		end++
	}
	if end == i {
		return 0
	}
	return end
}

func cleanSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// unescape returns the text of a JSON string, given without its quotes. A half of
// a surrogate pair becomes U+FFFD.
func unescape(s string) string {
	return view(appendUnescaped(make([]byte, 0, len(s)), s))
}

// appendRune appends the character of the \uXXXX at the start of s, which may
// take two of them, and returns what follows.
func appendRune(dst []byte, s string) ([]byte, string) {
	b := []byte(s[:min(12, len(s))])
	unit := rune(escapedUnit(b))
	s = s[min(6, len(s)):]
	if 0xD800 <= unit && unit < 0xDC00 && len(b) == 12 {
		if low := rune(escapedUnit(b[6:])); 0xDC00 <= low && low < 0xE000 {
			return utf8.AppendRune(dst, (unit-0xD800)<<10+low-0xDC00+0x10000), s[6:]
		}
	}
	return utf8.AppendRune(dst, unit), s // a surrogate becomes U+FFFD
}
