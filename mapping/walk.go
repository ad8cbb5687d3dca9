package mapping

import (
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// This file walks JSON objects without decoding them. gjson looks a member up
// from the beginning each time, and its ForEach decodes every string on the way;
// a tool call has some twenty members to look up, in events that carry the
// tool's whole schema and a file's text several times over. What is walked has
// been validated by whoever read it off the wire; text that is no JSON ends a walk
// somewhere, and never panics.

// A member is one of an object's, with its value as it is written. ride is the
// value's hash, if it was found by comparing it.
type member struct {
	key, value string
	ride       uint64
}

// An object is the members of a JSON object, in their order.
type object []member

// A ride is an object that comes again and again, and its hash.
type ride struct {
	json string
	sum  uint64
}

// readObject appends the members of the object in raw to o[:0]. A value that is
// one of the rides is compared and not walked: an object tells its own end.
func readObject(o object, raw string, rides []ride) object {
	o = o[:0]
	eachMember(raw, func(key string, at int) (end int) {
		if raw[at] == '{' {
			for i := range rides {
				if known := rides[i].json; known != "" && strings.HasPrefix(raw[at:], known) {
					o = append(o, member{key, known, rides[i].sum})
					return at + len(known)
				}
			}
		}
		end = skipValue(raw, at)
		o = append(o, member{key, raw[at:end], 0})
		return end
	})
	return o
}

// get returns the value of the first of the names that is there and not null:
// field names come in snake_case and in lowerCamelCase.
func (o object) get(names ...string) string {
	for _, name := range names {
		for i := range o {
			if o[i].key == name {
				if o[i].value == "null" {
					break
				}
				return o[i].value
			}
		}
	}
	return ""
}

// has reports whether there is such a member, null or not.
func (o object) has(name string) bool { return o.value(name) != "" }

// value is get for what may be null.
func (o object) value(name string) string {
	for i := range o {
		if o[i].key == name {
			return o[i].value
		}
	}
	return ""
}

// eachMember calls f with each key of an object, and where in s its value begins.
// f returns where the value ends; len(s) ends the walk.
func eachMember(s string, f func(key string, at int) (end int)) {
	i := skipSpace(s, 0)
	if i >= len(s) || s[i] != '{' {
		return
	}
	for i++; ; {
		i = skipSpace(s, i)
		if i < len(s) && s[i] == ',' {
			i = skipSpace(s, i+1)
		}
		if i >= len(s) || s[i] != '"' {
			return
		}
		end := skipString(s, i)
		if end-i < 2 {
			return
		}
		key := s[i+1 : end-1]
		if strings.IndexByte(key, '\\') >= 0 {
			key = stringOf(s[i:end])
		}
		if i = skipSpace(s, end); i >= len(s) || s[i] != ':' {
			return
		}
		if i = skipSpace(s, i+1); i >= len(s) {
			return
		}
		if end = f(key, i); end <= i {
			return
		}
		i = end
	}
}

// valueOf returns one member of an object, as it is written; the walk ends there.
func valueOf(s, name string) (value string) {
	eachMember(s, func(key string, at int) int {
		end := skipValue(s, at)
		if key == name {
			value, end = s[at:end], len(s)
		}
		return end
	})
	return value
}

// stringOf returns the text of a value: of a string what it says, without a copy
// unless it has escapes, of null and of nothing "", of anything else its JSON.
func stringOf(raw string) string {
	if raw == "" || raw == "null" {
		return ""
	}
	if raw[0] == '"' && len(raw) >= 2 && strings.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	return gjson.Parse(raw).String()
}

// textOf is stringOf for what must be a string.
func textOf(raw string) string {
	if !isString(raw) {
		return ""
	}
	return stringOf(raw)
}

func isString(raw string) bool { return raw != "" && raw[0] == '"' }
func isObject(raw string) bool { return raw != "" && raw[0] == '{' }
func isArray(raw string) bool  { return raw != "" && raw[0] == '[' }

func skipSpace(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n' || s[i] == '\r') {
		i++
	}
	return i
}

// shortString is how far a string is looked at byte by byte: most are names and
// IDs, which end before a call of IndexByte pays off.
const shortString = 16

// skipString returns the index after the string whose opening quote is at i.
func skipString(s string, i int) int {
	i++
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
		return len(s)
	}
	for i < len(s) && !strings.ContainsRune(",}]: \t\n\r", rune(s[i])) && s[i] < utf8.RuneSelf {
		i++
	}
	return i
}
