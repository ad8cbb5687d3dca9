package cli

import (
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file spells what an agent said as A2A 1.0 does, whatever version it came
// in, for -o json. It changes 0.3's words where it meets them and copies the
// rest, so that nothing is lost that this program does not know, and 1.0 stays as
// it is.

// v1Task spells a task.
func v1Task(raw a2a.JSON) []byte { return v1Object(nil, gjson.Parse(string(raw)), v1TaskMembers) }

// v1Event spells a payload of a stream as a StreamResponse: the member's name
// says what it is.
func v1Event(raw a2a.JSON) []byte {
	o := gjson.Parse(string(raw))
	name, members := "", map[string]v1Write(nil)
	switch kind := o.Get("kind").String(); {
	case kind == "task", kind == "" && o.Get("id").Exists() && o.Get("status").Exists():
		name, members = "task", v1TaskMembers
	case kind == "status-update", kind == "" && o.Get("taskId").Exists() && o.Get("status").Exists():
		name, members = "statusUpdate", v1StatusUpdate
	case kind == "artifact-update", kind == "" && o.Get("artifact").Exists():
		name, members = "artifactUpdate", v1ArtifactUpdate
	case kind == "message", kind == "" && o.Get("parts").Exists():
		name, members = "message", v1MessageMembers
	default:
		return v1Object(nil, o, v1Response)
	}
	dst := append([]byte(`{"`+name+`":`), v1Object(nil, o, members)...)
	return append(dst, '}')
}

// v1Write appends a member's value; nil drops the member.
type v1Write func(dst []byte, v gjson.Result) []byte

// The members whose values change, by what they belong to.
var (
	v1TaskMembers = map[string]v1Write{"kind": nil, "status": v1Status,
		"artifacts": v1List(v1ArtifactMembers), "history": v1List(v1MessageMembers)}
	v1MessageMembers  = map[string]v1Write{"kind": nil, "role": v1Role, "parts": v1Parts}
	v1ArtifactMembers = map[string]v1Write{"parts": v1Parts}
	v1StatusUpdate    = map[string]v1Write{"kind": nil, "final": nil, "status": v1Status}
	v1ArtifactUpdate  = map[string]v1Write{"kind": nil, "artifact": v1As(v1ArtifactMembers)}
	v1Response        = map[string]v1Write{"task": v1As(v1TaskMembers), "message": v1As(v1MessageMembers),
		"statusUpdate": v1As(v1StatusUpdate), "artifactUpdate": v1As(v1ArtifactUpdate)}
)

func v1Object(dst []byte, o gjson.Result, members map[string]v1Write) []byte {
	if !o.IsObject() {
		return append(dst, o.Raw...)
	}
	dst = append(dst, '{')
	n := len(dst)
	o.ForEach(func(key, value gjson.Result) bool {
		write, ok := members[key.Str]
		if ok && write == nil || ok && value.Type == gjson.Null {
			return true
		}
		if len(dst) > n {
			dst = append(dst, ',')
		}
		dst = append(append(dst, key.Raw...), ':')
		if ok {
			dst = write(dst, value)
		} else {
			dst = append(dst, value.Raw...)
		}
		return true
	})
	return append(dst, '}')
}

func v1As(members map[string]v1Write) v1Write {
	return func(dst []byte, v gjson.Result) []byte { return v1Object(dst, v, members) }
}

func v1List(members map[string]v1Write) v1Write {
	return func(dst []byte, v gjson.Result) []byte {
		return v1Each(dst, v, func(dst []byte, v gjson.Result) []byte { return v1Object(dst, v, members) })
	}
}

func v1Each(dst []byte, v gjson.Result, write v1Write) []byte {
	if !v.IsArray() {
		return append(dst, v.Raw...)
	}
	dst = append(dst, '[')
	n := len(dst)
	v.ForEach(func(_, v gjson.Result) bool {
		if len(dst) > n {
			dst = append(dst, ',')
		}
		dst = write(dst, v)
		return true
	})
	return append(dst, ']')
}

func v1Status(dst []byte, v gjson.Result) []byte {
	return v1Object(dst, v, map[string]v1Write{"state": v1State, "message": v1As(v1MessageMembers)})
}

func v1State(dst []byte, v gjson.Result) []byte {
	for _, s := range a2a.States() {
		if v.Type == gjson.String && v.Str == string(s) {
			return strconv.AppendQuote(dst, stateName(s))
		}
	}
	return append(dst, v.Raw...)
}

func v1Role(dst []byte, v gjson.Result) []byte {
	switch v.Str {
	case "user", "agent":
		return strconv.AppendQuote(dst, "ROLE_"+strings.ToUpper(v.Str))
	}
	return append(dst, v.Raw...)
}

func v1Parts(dst []byte, v gjson.Result) []byte { return v1Each(dst, v, v1Part) }

// v1Part takes the file out of its object: 1.0 has its members in the part.
func v1Part(dst []byte, v gjson.Result) []byte {
	names := map[string]string{"bytes": "raw", "uri": "url", "name": "filename", "mimeType": "mediaType"}
	dst = append(dst, '{')
	n := len(dst)
	add := func(key, raw string) {
		if len(dst) > n {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, key...), ':'), raw...)
	}
	v.ForEach(func(key, value gjson.Result) bool {
		switch {
		case key.Str == "kind":
		case key.Str == "file" && value.IsObject():
			value.ForEach(func(key, value gjson.Result) bool {
				name := key.Raw
				if n, ok := names[key.Str]; ok {
					name = strconv.Quote(n)
				}
				add(name, value.Raw)
				return true
			})
		default:
			add(key.Raw, value.Raw)
		}
		return true
	})
	return append(dst, '}')
}
