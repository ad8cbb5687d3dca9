package rawjson

import (
	"strings"
	"unicode/utf8"
)

// MaxDepth bounds the nesting of arrays and objects: what checks or parses them recurses, and a Go
// program cannot recover from a full stack. encoding/json would end the connection at 10 000.
const MaxDepth = 1000

// Valid reports whether b is one JSON value that is safe to walk. The rest of this
// package requires that. gjson looks at each byte of a string, here it is eight at once: of an
// event of 1 MiB that is a quarter of its CPU.
func Valid(b []byte) bool { return ValidBut(b, func(_, end, _ int) int { return end }) }

// ValidBut is [Valid] that does not read the objects and arrays whose end note returns. It is asked
// where one begins, with an end of 0, and told where one has ended.
func ValidBut(b []byte, note func(at, end, depth int) int) bool {
	s := View(b)
	i := validValue(s, SkipSpace(s, 0), 0, note)
	return i > 0 && SkipSpace(s, i) == len(s)
}

// validValue returns the index after the value at i, -1 if none is there, or it nests too deep.
func validValue(s string, i, depth int, note func(at, end, depth int) int) int {
	if i >= len(s) {
		return -1
	}
	switch s[i] {
	case '"':
		return validString(s, i)
	case '{', '[':
		if end := note(i, 0, depth); end > 0 {
			return end
		}
		if depth == MaxDepth {
			return -1
		}
		end := validItems(s, i, depth+1, note)
		return note(i, end, depth)
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if strings.HasPrefix(s[i:], word) {
			return i + len(word)
		}
	}
	return validNumber(s, i)
}

// validItems is validValue for an object or an array.
func validItems(s string, i, depth int, note func(at, end, depth int) int) int {
	object, end := s[i] == '{', s[i]+2 // the codes of { and }, and of [ and ], differ by two
	if i = SkipSpace(s, i+1); i < len(s) && s[i] == end {
		return i + 1
	}
	for i < len(s) {
		if object {
			if s[i] != '"' {
				return -1
			}
			if i = validString(s, i); i < 0 {
				return -1
			}
			if i = SkipSpace(s, i); i == len(s) || s[i] != ':' {
				return -1
			}
			i = SkipSpace(s, i+1)
		}
		if i = validValue(s, i, depth, note); i < 0 {
			return -1
		}
		if i = SkipSpace(s, i); i < len(s) && s[i] == end {
			return i + 1
		}
		if i == len(s) || s[i] != ',' {
			return -1
		}
		i = SkipSpace(s, i+1)
	}
	return -1
}

// validString is validValue for a string.
func validString(s string, i int) int {
	for i++; ; {
		if i = SkipPlain(s, i); i >= len(s) {
			return -1
		}
		switch c := s[i]; {
		case c == '"':
			return i + 1
		case c < ' ', c == '\\' && i+1 == len(s):
			return -1
		case c != '\\':
			for i < len(s) && s[i] >= utf8.RuneSelf {
				i++
			}
		case strings.IndexByte(`"\/bfnrt`, s[i+1]) >= 0:
			i += 2
		case s[i+1] == 'u' && i+6 <= len(s) && strings.Trim(s[i+2:i+6], "0123456789abcdefABCDEF") == "":
			i += 6
		default:
			return -1
		}
	}
}

// validNumber is validValue for a number.
func validNumber(s string, i int) int {
	if s[i] == '-' {
		i++
	}
	from := i
	if i = digits(s, i); i == from || s[from] == '0' && i > from+1 {
		return -1
	}
	if i < len(s) && s[i] == '.' {
		from = i + 1
		if i = digits(s, from); i == from {
			return -1
		}
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		if i++; i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		from = i
		if i = digits(s, i); i == from {
			return -1
		}
	}
	return i
}

func digits(s string, i int) int {
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return i
}

// TooDeep reports whether b nests deeper than MaxDepth before it ends, or is no JSON any more: behind
// that, no parser recurses.
func TooDeep(b []byte) (deep bool) {
	ValidBut(b, func(_, end, depth int) int {
		deep = deep || depth == MaxDepth
		return end
	})
	return deep
}
