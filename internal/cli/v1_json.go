package cli

import (
	"strings"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file writes what an agent said as A2A 1.0, for -o json, whatever its version. It
// changes 0.3's names where it knows them and copies the rest: unknown members survive,
// and 1.0 stays as it is.

// v1Task spells a task.
func v1Task(raw a2a.JSON) []byte {
	dst, _ := v1Object(nil, string(raw), 0, v1TaskMembers)
	return dst
}

// v1Event spells a payload of a stream as a StreamResponse: the member's name
// says what it is.
func v1Event(raw a2a.JSON) []byte { return appendV1Event(nil, string(raw)) }

func appendV1Event(dst []byte, s string) []byte {
	name, members := v1Kind(s)
	if name == "" {
		dst, _ = v1Object(dst, s, 0, v1Response)
		return dst
	}
	dst = append(append(append(dst, `{"`...), name...), `":`...)
	dst, _ = v1Object(dst, s, 0, members)
	return append(dst, '}')
}

// v1Kind tells what a payload is: by 0.3's member kind, or by its other members. It
// returns "" for a payload that is a wrapper with a member named after its kind.
func v1Kind(s string) (name string, members v1Members) {
	var kind string
	var id, taskID, status, artifact, parts bool
	rawjson.Walk(s, 0, func(key string, at int) int {
		switch key {
		case "task", "message", "statusUpdate", "artifactUpdate":
			return len(s)
		case "kind":
			kind = rawjson.Text(s[at:rawjson.SkipValue(s, at)])
			return len(s)
		case "id":
			id = true
		case "taskId":
			taskID = true
		case "status":
			status = true
		case "artifact":
			artifact = true
		case "parts":
			parts = true
		}
		return rawjson.SkipValue(s, at)
	})
	switch {
	case kind == "task", kind == "" && id && status:
		return "task", v1TaskMembers
	case kind == "status-update", kind == "" && taskID && status:
		return "statusUpdate", v1StatusUpdate
	case kind == "artifact-update", kind == "" && artifact:
		return "artifactUpdate", v1ArtifactUpdate
	case kind == "message", kind == "" && parts:
		return "message", v1MessageMembers
	}
	return "", nil
}

// v1Write appends the value at an index of s, and returns its end.
type v1Write func(dst []byte, s string, at int) (out []byte, end int)

// v1Members returns how to write a member's value: nil leaves it as it is.
type v1Members func(key string) v1Write

// v1Drop marks a member that 1.0 does not have.
func v1Drop(dst []byte, s string, at int) ([]byte, int) { return dst, rawjson.SkipValue(s, at) }

func v1TaskMembers(key string) v1Write {
	switch key {
	case "kind":
		return v1Drop
	case "status":
		return v1Status
	case "artifacts":
		return v1Artifacts
	case "history":
		return v1Messages
	}
	return nil
}

func v1MessageMembers(key string) v1Write {
	switch key {
	case "kind":
		return v1Drop
	case "role":
		return v1Role
	case "parts":
		return v1Parts
	}
	return nil
}

func v1ArtifactMembers(key string) v1Write {
	if key == "parts" {
		return v1Parts
	}
	return nil
}

func v1StatusUpdate(key string) v1Write {
	switch key {
	case "kind", "final":
		return v1Drop
	case "status":
		return v1Status
	}
	return nil
}

func v1StatusMembers(key string) v1Write {
	switch key {
	case "state":
		return v1State
	case "message":
		return v1Message
	}
	return nil
}

func v1ArtifactUpdate(key string) v1Write {
	switch key {
	case "kind":
		return v1Drop
	case "artifact":
		return v1Artifact
	}
	return nil
}

func v1Response(key string) v1Write {
	switch key {
	case "task":
		return func(dst []byte, s string, at int) ([]byte, int) { return v1Object(dst, s, at, v1TaskMembers) }
	case "message":
		return v1Message
	case "statusUpdate":
		return func(dst []byte, s string, at int) ([]byte, int) { return v1Object(dst, s, at, v1StatusUpdate) }
	case "artifactUpdate":
		return func(dst []byte, s string, at int) ([]byte, int) { return v1Object(dst, s, at, v1ArtifactUpdate) }
	}
	return nil
}

func v1Status(dst []byte, s string, at int) ([]byte, int) {
	return v1Object(dst, s, at, v1StatusMembers)
}

func v1Message(dst []byte, s string, at int) ([]byte, int) {
	return v1Object(dst, s, at, v1MessageMembers)
}

func v1Artifact(dst []byte, s string, at int) ([]byte, int) {
	return v1Object(dst, s, at, v1ArtifactMembers)
}

func v1Messages(dst []byte, s string, at int) ([]byte, int)  { return v1Each(dst, s, at, v1Message) }
func v1Artifacts(dst []byte, s string, at int) ([]byte, int) { return v1Each(dst, s, at, v1Artifact) }
func v1Parts(dst []byte, s string, at int) ([]byte, int)     { return v1Each(dst, s, at, v1Part) }

// v1Copy appends a value as it is.
func v1Copy(dst []byte, s string, at int) ([]byte, int) {
	end := rawjson.SkipValue(s, at)
	return append(dst, s[at:end]...), end
}

// v1Object appends an object. It leaves out members that it knows if they are null: 0.3
// has them, and 1.0 does not.
func v1Object(dst []byte, s string, at int, members v1Members) ([]byte, int) {
	if at = rawjson.SkipSpace(s, at); at >= len(s) || s[at] != '{' {
		return v1Copy(dst, s, at)
	}
	dst = append(dst, '{')
	n := len(dst)
	end := rawjson.Walk(s, at, func(key string, at int) int {
		write := members(key)
		if write != nil && strings.HasPrefix(s[at:], "null") {
			return at + len("null")
		}
		before := len(dst)
		dst = appendKey(dst, n, key)
		if write == nil {
			write = v1Copy
		}
		began := len(dst)
		dst, at = write(dst, s, at)
		if len(dst) == began {
			dst = dst[:before] // dropped
		}
		return at
	})
	return append(dst, '}'), end
}

// appendKey begins a member of the object whose first member begins at n.
func appendKey(dst []byte, n int, key string) []byte {
	if len(dst) > n {
		dst = append(dst, ',')
	}
	return append(rawjson.AppendEscaped(append(dst, '"'), key), `":`...)
}

func v1Each(dst []byte, s string, at int, write v1Write) ([]byte, int) {
	if s[at] != '[' {
		return v1Copy(dst, s, at)
	}
	dst = append(dst, '[')
	n := len(dst)
	for at++; ; {
		if at = rawjson.SkipSpace(s, at); at < len(s) && s[at] == ',' {
			at = rawjson.SkipSpace(s, at+1)
		}
		if at >= len(s) || s[at] == ']' {
			return append(dst, ']'), min(at+1, len(s))
		}
		if len(dst) > n {
			dst = append(dst, ',')
		}
		before := at
		if dst, at = write(dst, s, at); at <= before {
			return append(dst, ']'), len(s) // not JSON
		}
	}
}

func v1State(dst []byte, s string, at int) ([]byte, int) {
	end := rawjson.SkipValue(s, at)
	if text := rawjson.Text(s[at:end]); text != "" {
		for _, state := range a2a.States() {
			if text == string(state) {
				return append(append(append(dst, '"'), stateName(state)...), '"'), end
			}
		}
	}
	return append(dst, s[at:end]...), end
}

func v1Role(dst []byte, s string, at int) ([]byte, int) {
	end := rawjson.SkipValue(s, at)
	switch s[at:end] {
	case `"user"`:
		return append(dst, `"ROLE_USER"`...), end
	case `"agent"`:
		return append(dst, `"ROLE_AGENT"`...), end
	}
	return append(dst, s[at:end]...), end
}

// v1Part moves the file's members into the part, as 1.0 has them.
func v1Part(dst []byte, s string, at int) ([]byte, int) {
	if s[at] != '{' {
		return v1Copy(dst, s, at)
	}
	dst = append(dst, '{')
	n := len(dst)
	member := func(key string, at int) int {
		dst, at = v1Copy(appendKey(dst, n, key), s, at)
		return at
	}
	end := rawjson.Walk(s, at, func(key string, at int) int {
		switch {
		case key == "kind":
			return rawjson.SkipValue(s, at)
		case key == "file" && s[at] == '{':
			return rawjson.Walk(s, at, func(key string, at int) int { return member(v1FileMember(key), at) })
		}
		return member(key, at)
	})
	return append(dst, '}'), end
}

// v1FileMember returns 1.0's name for a member of 0.3's file.
func v1FileMember(name string) string {
	switch name {
	case "bytes":
		return "raw"
	case "uri":
		return "url"
	case "name":
		return "filename"
	case "mimeType":
		return "mediaType"
	}
	return name
}
