package mapping

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/rawjson"
)

// This file keeps the members of JSON objects without decoding them: a tool call has
// some twenty to look up, in events that carry the tool's whole schema and a file's
// text several times over. The JSON was validated when it was received, as package
// rawjson requires.

// A member is one of an object's, with its value as it is written. sum is the
// value's hash, if it was found by comparing it.
type member struct {
	key, value string
	sum        uint64
}

// An object is the members of a JSON object, in their order.
type object []member

// A repeatedObject is an object that comes again and again, and its hash.
type repeatedObject struct {
	json string
	sum  uint64
}

// maxMembers is how many members an object may have: no dialect has objects with
// more than some twenty, and each takes 40 bytes.
const maxMembers = 1000

// readObject appends the members of the object in raw to o[:0]; none if they are too
// many. A value that is
// one of the repeats is compared and not walked: an object tells its own end.
func readObject(o object, raw string, repeats []repeatedObject) object {
	o = o[:0]
	rawjson.Walk(raw, 0, func(key string, at int) (end int) {
		if len(o) == maxMembers {
			o = o[:0]
			return len(raw)
		}
		if raw[at] == '{' {
			for i := range repeats {
				if known := repeats[i].json; known != "" && strings.HasPrefix(raw[at:], known) {
					o = append(o, member{key, known, repeats[i].sum}) // known is ours, and stays
					return at + len(known)
				}
			}
		}
		end = rawjson.SkipValue(raw, at)
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

// stringOf returns the text of a value: of a string what it says, without a copy
// unless it has escapes, of null and of nothing "", of anything else its JSON.
func stringOf(raw string) string {
	if raw == "" || raw == "null" {
		return ""
	}
	if rawjson.IsString(raw) {
		return rawjson.Text(raw)
	}
	return gjson.Parse(raw).String()
}
