// Package rawjson looks into JSON text without decoding it: where a value ends,
// what the members of an object are, as they are written. What it returns are
// views of what it was given, and only a string with escapes is ever copied. It is
// for those who read each byte that an agent sends: gjson looks a member up from
// the beginning each time, and its ForEach decodes every string on the way, which
// for text with escapes is a copy per level of nesting.
//
// It takes for granted that the text is valid JSON, which whoever took it off the
// wire has checked. Text that is not ends a walk somewhere: nothing here panics,
// goes on for ever or reads beyond the end, but what is found in such text means
// nothing. Nothing recurses either, so that it does not matter how deep text nests.
//
// An index is into the whole of a string and not into a part of it, so that one who
// walks an object within an object within an event walks each byte once.
//
// There are only functions, and of types that everybody has. That lets packages
// whose types are public use it without showing it.
package rawjson

import "strings"

// shortString is how far a string is looked at byte by byte: most are names and
// IDs, which end before a call of IndexByte pays off.
const shortString = 16

// EachMember calls f with each member of an object, keys without their quotes and
// values as they are written, until f returns false. What is not an object has no
// members.
func EachMember(s string, f func(key, value string) bool) {
	Walk(s, 0, func(key string, at int) int {
		end := SkipValue(s, at)
		if end > at && !f(key, s[at:end]) {
			return len(s)
		}
		return end
	})
}

// Member returns the value of an object's first member of a name, as it is written;
// "" if there is none. The walk ends there.
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

// Walk is EachMember for an object at i within s, for whoever looks into its values:
// f gets where in s a value begins and returns where it ends, as SkipValue or a walk
// of its own has told it; len(s) ends the walk. So the bytes of a message are not
// walked once for each object that it is in. It returns where the object ends; what
// is not one is skipped.
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
		end := SkipString(s, i)
		if end-i < 2 {
			return len(s)
		}
		key := s[i+1 : end-1]
		if strings.IndexByte(key, '\\') >= 0 {
			key = Unescape(key)
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

// EachElement calls f with each element of an array, as it is written, until f
// returns false. What is not an array has no elements.
func EachElement(s string, f func(value string) bool) {
	i := SkipSpace(s, 0)
	if i >= len(s) || s[i] != '[' {
		return
	}
	for i++; ; {
		i = SkipSpace(s, i)
		if i < len(s) && s[i] == ',' {
			i = SkipSpace(s, i+1)
		}
		end := SkipValue(s, i)
		if end == i || !f(s[i:end]) {
			return
		}
		i = end
	}
}

// NextElement returns where the first element of an array begins, or of what was
// left of one behind an element; -1 if there is none.
func NextElement(s string) (at int) {
	i := SkipSpace(s, 0)
	if i >= len(s) || s[i] != '[' && s[i] != ',' {
		return -1
	}
	if i = SkipSpace(s, i+1); skipsNothing(s, i) {
		return -1
	}
	return i
}

// skipsNothing reports whether no value begins at i.
func skipsNothing(s string, i int) bool {
	return i >= len(s) || s[i] == ']' || s[i] == ',' || s[i] == '}' || s[i] == ':'
}

// IsObject, IsArray and IsString look at the first byte of a value as a walk yields
// it: without space before it.
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
// quotes come close together, as in code: after each the next bytes are looked at one
// by one, before the library's assembler is called again.
func SkipString(s string, i int) int {
	for i++; i < len(s); {
		for near := min(i+shortString, len(s)); i < near; i++ {
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
func SkipValue(s string, i int) int { return SkipKnown(s, i, nil) }

// KnownAt returns the index after the one of the known objects that is at i; i itself if
// there is none. An object tells its own end.
func KnownAt(s string, i int, known []string) int {
	for _, k := range known {
		if strings.HasPrefix(s[i:], k) {
			return i + len(k)
		}
	}
	return i
}

// SkipKnown is SkipValue that does not walk objects that are known, but compares them.
func SkipKnown(s string, i int, known []string) int {
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
			case '{':
				if end := KnownAt(s, i, known); end > i {
					if depth == 0 {
						return end
					}
					i = end - 1
					continue
				}
				depth++
			case '[':
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
