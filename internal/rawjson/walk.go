// Package rawjson reads JSON text without decoding it: the end of a value, the members
// of an object in their written form. It returns views of its argument, and copies only
// strings with escapes. It is for code that reads each byte of an agent. (Rejected:
// gjson. It looks a member up from the beginning each time, and its ForEach decodes
// every string, which copies text with escapes at each level of nesting.)
//
// What writes JSON beside an encoder, byte for byte, is in append.go.
//
// The package requires valid JSON, which the reader of the wire has checked. In other text
// nothing panics, runs for ever or reads beyond the end, but the results mean nothing.
// A walk does not recurse. [Valid] and [Digest] do, and Valid refuses what is nested deeper than
// [MaxDepth].
//
// An index refers to the whole string, not to a part of it, so that a walk through
// nested objects reads each byte once.
//
// It has only functions of basic types, so that packages with public types can use it
// without exposing it.
package rawjson

import "strings"

// shortString is how much of a string is read here: most are names and IDs, which end
// before a call of IndexByte pays off.
const shortString = 16

// EachMember calls f with each member of an object, keys without quotes and values as
// written, until f returns false. Anything else has no members.
func EachMember(s string, f func(key, value string) bool) {
	Walk(s, 0, func(key string, at int) int {
		end := SkipValue(s, at)
		if end > at && !f(key, s[at:end]) {
			return len(s)
		}
		return end
	})
}

// Member returns the value of an object's first member of this name, as written; "" if
// there is none. The walk ends there.
func Member(s, name string) (value string) {
	Walk(s, 0, func(key string, at int) int {
		end := SkipValue(s, at)
		if key == name {
			value, end = s[at:end], len(s)
		}
		return end
	})
	return value
}

// Walk is EachMember for an object at i within s, for a caller that walks its values: f
// gets a value's index in s and returns its end, from SkipValue or its own walk; len(s)
// ends the walk. So a message's bytes are not walked once for each enclosing object.
// Walk returns the object's end, and skips anything else.
func Walk(s string, i int, f func(key string, at int) (end int)) (end int) {
	i = SkipSpace(s, i)
	if i >= len(s) || s[i] != '{' {
		return SkipValue(s, i)
	}
	for i++; ; {
		i = SkipSpace(s, i)
		if i < len(s) && s[i] == ',' {
			i = SkipSpace(s, i+1)
		}
		if i >= len(s) || s[i] != '"' {
			return min(i+1, len(s)) // behind the brace, if this is JSON
		}
		end := SkipPlain(s, i+1)
		key := s[i+1 : end]
		if end < len(s) && s[end] == '"' { // most keys
			end++
		} else {
			if end = SkipString(s, i); end-i < 2 {
				return len(s)
			}
			if key = s[i+1 : end-1]; strings.IndexByte(key, '\\') >= 0 {
				key = Unescape(key)
			}
		}
		if i = SkipSpace(s, end); i >= len(s) || s[i] != ':' {
			return len(s)
		}
		if i = SkipSpace(s, i+1); i >= len(s) {
			return len(s)
		}
		if end = f(key, i); end <= i {
			return len(s)
		}
		i = end
	}
}

// EachElement calls f with each element of an array, as written, until f returns false.
// Anything else has no elements.
func EachElement(s string, f func(value string) bool) {
	for at := NextElement(s); at >= 0; at = NextElement(s) {
		end := SkipValue(s, at)
		if end == at || !f(s[at:end]) {
			return
		}
		s = s[end:]
	}
}

// NextElement returns the index of the first element of an array, or of its rest behind
// an element; -1 if there is none.
func NextElement(s string) (at int) {
	i := SkipSpace(s, 0)
	if i >= len(s) || s[i] != '[' && s[i] != ',' {
		return -1
	}
	if i = SkipSpace(s, i+1); i >= len(s) || strings.IndexByte("],}:", s[i]) >= 0 {
		return -1
	}
	return i
}

// IsObject, IsArray and IsString check the first byte of a value from a walk, which has
// no space before it.
func IsObject(value string) bool { return value != "" && value[0] == '{' }
func IsArray(value string) bool  { return value != "" && value[0] == '[' }
func IsString(value string) bool { return value != "" && value[0] == '"' }

// SkipSpace returns the index of the first byte from i on that is not space.
func SkipSpace(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n' || s[i] == '\r') {
		i++
	}
	return i
}

// SkipString returns the index after the string whose opening quote is at i. Escaped
// quotes come close together, as in code: so behind each one the next bytes are looked
// at here, before the library's assembler is called again.
func SkipString(s string, i int) int {
	for i++; i < len(s); {
		near := min(i+shortString, len(s))
		for i = SkipPlain(s[:near], i); i < near; i = SkipPlain(s[:near], i+1) {
			switch s[i] {
			case '"':
				return i + 1
			case '\\':
				i++
			}
		}
		if i >= len(s) {
			break
		}
		k := strings.IndexByte(s[i:], '"')
		if k < 0 {
			break
		}
		from := i
		i += k + 1
		slashes := 0
		for j := i - 2; j >= from && s[j] == '\\'; j-- {
			slashes++
		}
		if slashes%2 == 0 {
			return i
		}
	}
	return len(s)
}

// SkipValue returns the index after the value at i; i itself if none is there.
func SkipValue(s string, i int) int {
	if i >= len(s) {
		return i
	}
	switch s[i] {
	case '"':
		return SkipString(s, i)
	case '{', '[':
		for depth := 0; i < len(s); i++ {
			switch s[i] {
			case '"':
				i = SkipString(s, i) - 1
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
