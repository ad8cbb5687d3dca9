package talk

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file writes what an agent said as A2A 1.0, for -o json, whatever its version. It
// changes 0.3's names where it knows them and copies the rest: unknown members survive,
// and 1.0 stays as it is, but for the order of members.

// V1Task spells a task.
func V1Task(raw a2a.JSON) []byte { return v1Document(raw, spellV1) }

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

func eventToV1(v any) any {
	object, ok := v.(map[string]any)
	if !ok {
		return v
	}
	has := func(name string) bool { return object[name] != nil }
	kind, _ := object["kind"].(string)
	switch {
	case has("task"), has("message"), has("statusUpdate"), has("artifactUpdate"):
		return spellV1(v)
	case kind == "task", kind == "" && has("id") && has("status"):
		return map[string]any{"task": spellV1(v)}
	case kind == "status-update", kind == "" && has("taskId") && has("status"):
		return map[string]any{"statusUpdate": spellV1(v)}
	case kind == "artifact-update", kind == "" && has("artifact"):
		return map[string]any{"artifactUpdate": spellV1(v)}
	case kind == "message", kind == "" && (has("parts") || has("content")):
		return map[string]any{"message": spellV1(v)}
	}
	return v
}

// ours are the members that hold objects of A2A, or lists of them. All other members may
// hold anything.
var ours = []string{"task", "message", "statusUpdate", "artifactUpdate", "status", "artifact", "artifacts", "history", "parts"}

// spellV1 spells an object of A2A, or a list of them. It leaves out members that it knows
// if they are null: 0.3 has such, and 1.0 does not.
func spellV1(v any) any {
	if list, ok := v.([]any); ok {
		for i := range list {
			list[i] = spellV1(list[i])
		}
		return list
	}
	o, ok := v.(map[string]any)
	if !ok {
		return v
	}
	delete(o, "kind")
	delete(o, "final")
	if o["state"] != nil { // 0.3's proto, which that version has over HTTP+JSON, names it otherwise
		rename(o, "update", "message")
	}
	if o["role"] != nil && rename(o, "content", "parts") {
		protoData(o["parts"])
	}
	for name, spell := range map[string]func(any) any{"state": stateToV1, "role": roleToV1} {
		if o[name] != nil {
			o[name] = spell(o[name])
		}
	}
	for _, name := range ours {
		if value, has := o[name]; has && value == nil {
			delete(o, name)
		} else if has {
			o[name] = spellV1(value)
		}
	}
	return partToV1(o)
}

// rename gives a member its name of 1.0, and reports whether there was one to name.
func rename(object map[string]any, from, to string) bool {
	value, ok := object[from]
	if !ok || object[to] != nil {
		return false
	}
	delete(object, from)
	object[to] = value
	return true
}

// protoData takes the data of parts out of the wrapper that 0.3's proto has.
func protoData(parts any) {
	list, _ := parts.([]any)
	for i := range list {
		part, _ := list[i].(map[string]any)
		if data, ok := part["data"].(map[string]any); ok && data["data"] != nil {
			part["data"] = data["data"]
		}
	}
}

func stateToV1(v any) any {
	if v == "TASK_STATE_CANCELLED" { // 0.3's proto
		return stateName(a2a.StateCanceled)
	}
	if state, ok := v.(string); ok && slices.Contains(a2a.States(), a2a.State(state)) {
		return stateName(a2a.State(state))
	}
	return v
}

func roleToV1(v any) any {
	if role, _ := v.(string); role == "user" || role == "agent" {
		return "ROLE_" + strings.ToUpper(role)
	}
	return v
}

// partToV1 moves a file's members into its part, as 1.0 has them. What is no part stays.
func partToV1(part map[string]any) any {
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

func stateName(s a2a.State) string {
	if s == a2a.StateUnknown {
		return "TASK_STATE_UNSPECIFIED"
	}
	return "TASK_STATE_" + strings.ReplaceAll(strings.ToUpper(string(s)), "-", "_")
}
