package talk

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file writes what an agent said as A2A 1.0, for -o json, whatever its version. It
// changes 0.3's names where it knows them and copies the rest: unknown members survive,
// and 1.0 stays as it is, but for the order of members.

// V1Task spells a task.
func V1Task(raw a2a.JSON) []byte { return v1Document(raw, taskToV1) }

// V1Event spells a payload of a stream as a StreamResponse: the member's name says what
// it is.
func V1Event(raw a2a.JSON) []byte { return v1Document(raw, eventToV1) }

// v1Document changes a document. What is not JSON stays as it is.
func v1Document(raw a2a.JSON, change func(any) any) []byte {
	decoder := json.NewDecoder(strings.NewReader(string(raw)))
	decoder.UseNumber() // a double would round a large number
	var v any
	if decoder.Decode(&v) != nil {
		return []byte(raw)
	}
	document, err := frame.Encode(change(v))
	if err != nil {
		return []byte(raw)
	}
	return bytes.TrimSuffix(document, []byte("\n"))
}

// members say how 1.0 spells the members of an object; nil: it has no such member.
type members map[string]func(any) any

// toV1 spells the members of an object. It leaves out those that it knows if they are
// null: 0.3 has them, and 1.0 does not.
func toV1(v any, members members) any {
	object, ok := v.(map[string]any)
	if !ok {
		return v
	}
	for name, change := range members {
		switch value, has := object[name]; {
		case !has:
		case value == nil || change == nil:
			delete(object, name)
		default:
			object[name] = change(value)
		}
	}
	return object
}

// each spells the elements of an array.
func each(change func(any) any) func(any) any {
	return func(v any) any {
		array, _ := v.([]any)
		for i := range array {
			array[i] = change(array[i])
		}
		return v
	}
}

func eventToV1(v any) any {
	object, ok := v.(map[string]any)
	if !ok {
		return v
	}
	has := func(name string) bool { return object[name] != nil }
	kind, _ := object["kind"].(string)
	switch {
	case has("task"), has("message"), has("statusUpdate"), has("artifactUpdate"):
		return toV1(object, members{"task": taskToV1, "message": messageToV1, "statusUpdate": statusUpdateToV1, "artifactUpdate": artifactUpdateToV1})
	case kind == "task", kind == "" && has("id") && has("status"):
		return map[string]any{"task": taskToV1(v)}
	case kind == "status-update", kind == "" && has("taskId") && has("status"):
		return map[string]any{"statusUpdate": statusUpdateToV1(v)}
	case kind == "artifact-update", kind == "" && has("artifact"):
		return map[string]any{"artifactUpdate": artifactUpdateToV1(v)}
	case kind == "message", kind == "" && (has("parts") || has("content")):
		return map[string]any{"message": messageToV1(v)}
	}
	return v
}

func taskToV1(v any) any {
	return toV1(v, members{"kind": nil, "status": statusToV1, "artifacts": each(artifactToV1), "history": each(messageToV1)})
}

func statusUpdateToV1(v any) any {
	return toV1(v, members{"kind": nil, "final": nil, "status": statusToV1})
}

func artifactUpdateToV1(v any) any {
	return toV1(v, members{"kind": nil, "artifact": artifactToV1})
}

func statusToV1(v any) any {
	rename(v, "update", "message") // 0.3's proto, which that version has over HTTP+JSON
	return toV1(v, members{"state": stateToV1, "message": messageToV1})
}

func artifactToV1(v any) any { return toV1(v, members{"parts": each(partToV1)}) }

func messageToV1(v any) any {
	part := partToV1
	if rename(v, "content", "parts") {
		part = protoPartToV1
	}
	return toV1(v, members{"kind": nil, "role": roleToV1, "parts": each(part)})
}

// rename gives a member its name of 1.0, and reports whether there was one to name.
func rename(v any, from, to string) bool {
	object, _ := v.(map[string]any)
	value, ok := object[from]
	if !ok || object[to] != nil {
		return false
	}
	delete(object, from)
	object[to] = value
	return true
}

// protoPartToV1 is partToV1 for 0.3's proto, which has data in a wrapper.
func protoPartToV1(v any) any {
	part, _ := v.(map[string]any)
	if data, ok := part["data"].(map[string]any); ok && data["data"] != nil {
		part["data"] = data["data"]
	}
	return partToV1(v)
}

func stateToV1(v any) any {
	if v == "TASK_STATE_CANCELLED" { // 0.3's proto
		return stateName(a2a.StateCanceled)
	}
	for _, state := range a2a.States() {
		if v == string(state) {
			return stateName(state)
		}
	}
	return v
}

func roleToV1(v any) any {
	if role, _ := v.(string); role == "user" || role == "agent" {
		return "ROLE_" + strings.ToUpper(role)
	}
	return v
}

// partToV1 moves the file's members into the part, as 1.0 has them.
func partToV1(v any) any {
	part, ok := v.(map[string]any)
	if !ok {
		return v
	}
	delete(part, "kind")
	file, ok := part["file"].(map[string]any)
	if !ok {
		return part
	}
	delete(part, "file")
	names := map[string]string{"bytes": "raw", "uri": "url", "name": "filename", "mimeType": "mediaType", "fileWithBytes": "raw", "fileWithUri": "url"}
	for name, value := range file {
		if names[name] == "" && name != "kind" && name != "file" {
			part[name] = value
		}
	}
	for from, to := range names {
		if value, ok := file[from]; ok {
			part[to] = value
		}
	}
	if outer, ok := file["fileWithBytes"].(string); ok {
		part["raw"] = decodedOnce(outer)
	}
	return part
}

// decodedOnce takes base64 off bytes that have it twice, as Go's and Python's servers
// write them in 0.3's proto.
func decodedOnce(outer string) string {
	inner, err := base64.StdEncoding.DecodeString(outer)
	if err != nil || len(inner) == 0 {
		return outer
	}
	if _, err := base64.StdEncoding.DecodeString(string(inner)); err != nil {
		return outer
	}
	return string(inner)
}

// stateName returns a state's 1.0 name.
func stateName(s a2a.State) string {
	if s == a2a.StateUnknown {
		return "TASK_STATE_UNSPECIFIED"
	}
	return "TASK_STATE_" + strings.ReplaceAll(strings.ToUpper(string(s)), "-", "_")
}
