package rawjson

import (
	"bytes"

	"github.com/tidwall/gjson"
)

// MaxDepth is how deep arrays and objects may nest. gjson's validator recurses, and
// a Go program cannot recover from a stack that is full; encoding/json would end
// the connection at 10 000.
const MaxDepth = 1000

// Valid reports whether b is one JSON value that is safe to walk: the rest of this
// package relies on it having been asked.
func Valid(b []byte) bool { return !TooDeep(b) && gjson.ValidBytes(b) }

// TooDeep reports whether b nests deeper than MaxDepth. Up to the first byte
// that is not JSON it counts what a parser would; after it, nobody recurses.
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
