package calls

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/rawjson"
)

// This file keeps the members of JSON objects without decoding them: a tool call has
// some twenty to look up, in events that carry the tool's whole schema and a file's
// text several times over. The JSON was validated when it was received, as package
// rawjson requires.

// A Member is one of an object's, with its value as it is written.
type Member struct {
	Key, Value string
	repeated   *repeatedObject // the value, if it is one
}

// An Object is the members of a JSON object, in their order.
type Object []Member

// A repeatedObject is an object that comes again and again, its hash and its members.
type repeatedObject struct {
	json    string
	sum     uint64
	members Object
}

// maxMembers is how many members an object may have: no dialect has objects with
// more than some twenty, and each takes 40 bytes.
const maxMembers = 1000

// ReadObject appends the members of the object in raw to o[:0]; none if they are too
// many.
func ReadObject(o Object, raw string) Object { return readObject(o, raw, nil) }

// readObject is ReadObject. A value that is one of the repeats it compares and does not walk, and
// moves that to their front: an object tells its own end.
func readObject(o Object, raw string, repeats []*repeatedObject) Object {
	o = o[:0]
	rawjson.Walk(raw, 0, func(key string, at int) (end int) {
		if len(o) == maxMembers {
			o = o[:0]
			return len(raw)
		}
		if raw[at] == '{' {
			for i, r := range repeats {
				if strings.HasPrefix(raw[at:], r.json) {
					toFront(repeats[:i+1], r)
					o = append(o, Member{key, r.json, r}) // r is ours, and stays
					return at + len(r.json)
				}
			}
		}
		end = rawjson.SkipValue(raw, at)
		o = append(o, Member{key, raw[at:end], nil})
		return end
	})
	return o
}

// toFront puts an object first, and moves the others one back: the last is gone.
func toFront(list []*repeatedObject, first *repeatedObject) {
	copy(list[1:], list)
	list[0] = first
}

// Object returns the members of an object that is a member's value.
func (o Object) Object(name string) Object {
	for i := range o {
		if m := &o[i]; m.Key == name && m.repeated != nil {
			return m.repeated.members
		} else if m.Key == name {
			return ReadObject(nil, m.Value)
		}
	}
	return nil
}

// Get returns the value of the first of the names that is there and not null:
// field names come in snake_case and in lowerCamelCase.
func (o Object) Get(names ...string) string {
	for _, name := range names {
		if value := o.Value(name); value != "" && value != "null" {
			return value
		}
	}
	return ""
}

// Has reports whether there is such a member, null or not.
func (o Object) Has(name string) bool { return o.Value(name) != "" }

// Value returns the value of the first member of that name, null or not; "" for none.
func (o Object) Value(name string) string {
	for i := range o {
		if o[i].Key == name {
			return o[i].Value
		}
	}
	return ""
}

// StringOf returns the text of a JSON value: of a string what it says, without a copy
// unless it has escapes; "" of null and of ""; of anything else its JSON.
func StringOf(raw string) string {
	if raw == "" || raw == "null" {
		return ""
	}
	if rawjson.IsString(raw) {
		return rawjson.Text(raw)
	}
	return gjson.Parse(raw).String()
}
