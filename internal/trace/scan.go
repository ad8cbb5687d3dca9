package trace

import (
	"bytes"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/internal/rawjson"
)

// maxDepth bounds the nesting of JSON that is recorded as JSON. Deeper JSON may be an
// attack on recursive readers; it is recorded as text.
const maxDepth = 512

// An outline is where a payload has what a record repeats; empty spans: nowhere. Of what is
// not JSON, they mean nothing.
type outline struct {
	valid bool // it is a JSON document that may stand in a line
	// id and method are JSON-RPC's, as written; session is its parameter "sessionId".
	id, method, session span
	// rpc: it has JSON-RPC's envelope, with this result.
	rpc    bool
	result span
	// onlyText is the string that is all that may be masked in it; see template.
	onlyText span
}

// outlineOf returns the outline of a payload, or of the beginning of one.
func outlineOf(b []byte) (l outline) {
	doc := rawjson.View(b)
	var known [4]span // the first values in the outermost object that are no scalars
	values, deep := known[:0], false
	l.valid = rawjson.ValidBut(b, func(at, end, depth int) int {
		if deep = deep || depth >= maxDepth; depth == 1 && end > 0 && len(values) < len(known) {
			values = append(values, span{at, end})
		}
		return end
	}) && !deep && bytes.IndexByte(b, '\n') < 0 && utf8.Valid(b)
	rawjson.Walk(doc, 0, func(key string, at int) (end int) {
		if len(values) > 0 && values[0].from == at {
			end, values = values[0].to, values[1:]
		} else {
			end = rawjson.SkipValue(doc, at)
		}
		switch key {
		case "jsonrpc":
			l.rpc = true
		case "result":
			l.result = span{at, end}
		case "id":
			if doc[at] != '{' && doc[at] != '[' {
				l.id = span{at, end}
			}
		case "method":
			if rawjson.IsString(doc[at:end]) {
				l.method = span{at, end}
			}
		case "params":
			rawjson.Walk(doc, at, func(key string, at int) int {
				end := rawjson.SkipValue(doc, at)
				if key == "sessionId" {
					l.session, end = span{at, end}, len(doc)
				}
				return end
			})
		}
		return end
	})
	return l
}

// isDocument reports whether b is a JSON document that may stand in a line.
func isDocument(b []byte) bool { return outlineOf(b).valid }
