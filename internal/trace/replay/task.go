package replay

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// A task is what the events that were played have made of one. It answers requests
// that were not recorded.
type task struct {
	id string
	v1 bool // it is spelled as A2A 1.x has it
	// of is the exchange that was played last, and next the first of its events that
	// was not.
	of       *exchange
	next     int
	doc      map[string]any
	canceled chan struct{} // closed when it was cancelled
}

// results are the wrappers that events have in 1.x.
var results = []string{"task", "statusUpdate", "artifactUpdate", "message"}

// inner is an event without its wrapper, and its kind by the name that 1.x has.
func inner(doc gjson.Result) (kind string, ev gjson.Result, v1 bool) {
	ev = doc.Get("result")
	if !ev.Exists() {
		ev = doc
	}
	switch ev.Get("kind").Str {
	case "task":
		return "task", ev, false
	case "status-update":
		return "statusUpdate", ev, false
	case "artifact-update":
		return "artifactUpdate", ev, false
	case "message":
		return "message", ev, false
	}
	for _, name := range results {
		if e := ev.Get(name); e.IsObject() {
			return name, e, true
		}
	}
	return "", ev, false
}

// taskOf is the task that an event is about.
func taskOf(doc gjson.Result) string {
	kind, ev, _ := inner(doc)
	if kind == "task" {
		return ev.Get("id").Str
	}
	return ev.Get("taskId").Str
}

// apply takes an event into account.
func (t *task) apply(doc gjson.Result) {
	kind, ev, v1 := inner(doc)
	t.v1 = v1
	var m map[string]any
	if json.Unmarshal([]byte(ev.Raw), &m) != nil {
		return
	}
	if t.doc == nil {
		t.doc = map[string]any{"id": t.id, "contextId": m["contextId"], "status": map[string]any{}}
		if !v1 {
			t.doc["kind"] = "task"
		}
	}
	switch kind {
	case "task":
		t.doc = m
	case "statusUpdate":
		status, _ := m["status"].(map[string]any)
		message, said := status["message"].(map[string]any)
		if said && !ends(ev) {
			t.remember(message)
			status = maps.Clone(status)
			delete(status, "message")
		}
		t.doc["status"] = status
	case "artifactUpdate":
		t.artifact(m)
	}
}

// hear makes history of a message of the client's, as agents do: by finding it there
// a client knows that the task holds what was said. A task that is not there yet
// begins with its message.
func (t *task) hear(message gjson.Result) {
	var m map[string]any
	if t == nil || t.doc == nil || json.Unmarshal([]byte(message.Raw), &m) != nil {
		return
	}
	history, _ := t.doc["history"].([]any)
	t.doc["history"] = append(history, m)
}

// ends reports whether a status is a pause or an end: what is said with it is the
// status's, and what is said before is history.
func ends(ev gjson.Result) bool {
	switch strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(ev.Get("status.state").Str, "TASK_STATE_"), "_", "-")) {
	case "working", "submitted":
		return ev.Get("final").Bool()
	}
	return true
}

// remember makes history of a message. A text that came in pieces is one, and of a
// tool call the newest counts: a snapshot says each thing once.
func (t *task) remember(message map[string]any) {
	history, _ := t.doc["history"].([]any)
	parts, _ := message["parts"].([]any)
	for i, h := range history {
		old, ok := h.(map[string]any)
		if !ok {
			continue
		}
		was, _ := old["parts"].([]any)
		switch {
		case callOf(parts) != "" && callOf(parts) == callOf(was):
			history[i] = message
			return
		case message["messageId"] == old["messageId"] && callOf(parts) == "" && old["role"] == message["role"]:
			old["parts"] = joined(was, parts)
			return
		}
	}
	t.doc["history"] = append(history, message)
}

// joined are parts of which texts beside each other are one.
func joined(was, more []any) []any {
	all := append(slices.Clip(was), more...)
	kept := all[:0:0]
	for _, p := range all {
		part, _ := p.(map[string]any)
		text, ok := part["text"].(string)
		if n := len(kept); ok && n > 0 {
			last, _ := kept[n-1].(map[string]any)
			if before, ok := last["text"].(string); ok {
				last = maps.Clone(last)
				last["text"] = before + text
				kept[n-1] = last
				continue
			}
		}
		kept = append(kept, p)
	}
	return kept
}

// callOf is the ID of the tool call that is all that some parts have.
func callOf(parts []any) string {
	if len(parts) != 1 {
		return ""
	}
	part, _ := parts[0].(map[string]any)
	data, _ := part["data"].(map[string]any)
	if id, ok := data["tool_call_id"].(string); ok {
		return id
	}
	request, _ := data["request"].(map[string]any)
	id, _ := request["callId"].(string)
	return id
}

// artifact adds to an artifact, or replaces it (A2A 1.0, section 4.2.2).
func (t *task) artifact(m map[string]any) {
	update, ok := m["artifact"].(map[string]any)
	if !ok {
		return
	}
	list, _ := t.doc["artifacts"].([]any)
	for i, a := range list {
		old, ok := a.(map[string]any)
		if !ok || old["artifactId"] != update["artifactId"] {
			continue
		}
		if more, _ := m["append"].(bool); more {
			parts, _ := old["parts"].([]any)
			added, _ := update["parts"].([]any)
			old["parts"] = append(parts, added...)
			return
		}
		list[i] = update
		return
	}
	t.doc["artifacts"] = append(list, update)
}

// snapshot is the task as an answer; in a stream 1.x wraps it.
func (t *task) snapshot(stream bool) []byte {
	var v any = t.doc
	if t.v1 && stream {
		v = map[string]any{"task": t.doc}
	}
	b, _ := json.Marshal(v) // it was JSON
	return b
}

// cancel makes it a cancelled one.
func (t *task) cancel() {
	select {
	case <-t.canceled:
		return
	default:
	}
	close(t.canceled)
	state := "canceled"
	if t.v1 {
		state = "TASK_STATE_CANCELED"
	}
	t.doc["status"] = map[string]any{"state": state}
}

// canceledEvent says so in a stream.
func (t *task) canceledEvent() []byte {
	update := map[string]any{"taskId": t.id, "contextId": t.doc["contextId"], "status": t.doc["status"]}
	var v any = map[string]any{"statusUpdate": update}
	if !t.v1 {
		update["kind"], update["final"] = "status-update", true
		v = update
	}
	b, _ := json.Marshal(v) // it was JSON
	return b
}
