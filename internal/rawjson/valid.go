package rawjson

import (
	"bytes"

	"github.com/tidwall/gjson"
)

// MaxDepth bounds the nesting of arrays and objects. gjson's validator recurses, and a
// Go program cannot recover from a full stack; encoding/json would end the connection
// at 10 000.
const MaxDepth = 1000

// Valid reports whether b is one JSON value that is safe to walk. The rest of this
// package requires that.
func Valid(b []byte) bool { return !TooDeep(b) && gjson.ValidBytes(b) }

// TooDeep reports whether b nests deeper than MaxDepth. Up to the first byte that is
// not JSON it counts like a parser; behind that, no parser recurses.
func TooDeep(b []byte) bool {
	if bytes.Count(b, []byte("["))+bytes.Count(b, []byte("{")) <= MaxDepth {
		return false
	}
	depth, quoted := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case quoted:
		case c == '[' || c == '{':
			if depth++; depth > MaxDepth {
				return true
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return false
}
