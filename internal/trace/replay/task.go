package replay

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/trace/event"
)

// A task is the result of the events played so far. It answers requests that were not
// recorded.
type task struct {
	id string
	v1 bool // in the form of A2A 1.x
	// of is the exchange that was played last, and next its first unplayed event.
	of       *exchange
	next     int
	doc      object
	canceled chan struct{} // closed by a cancel
}

type object = map[string]any

// apply applies an event.
func (t *task) apply(e *event.Event) {
	t.v1 = e.V1
	var m object
	if json.Unmarshal([]byte(e.Body.Raw), &m) != nil {
		return
	}
	if t.doc == nil {
		t.doc = object{"id": t.id, "contextId": m["contextId"], "status": object{}}
		if !t.v1 {
			t.doc["kind"] = "task"
		}
	}
	switch e.Kind {
	case event.Task:
		t.doc = m
	case event.Status:
		status, _ := m["status"].(object)
		message, said := status["message"].(object)
		// A state that pauses or ends the task has its message; what precedes it is history.
		if said && !e.Final && (e.State == "working" || e.State == "submitted") {
			t.remember(message)
			delete(status, "message")
		}
		t.doc["status"] = status
	case event.Artifact:
		update, _ := m["artifact"].(object)
		t.artifact(update, e.Append)
	}
}

// hear adds a client's message to the history, as agents do: there a client sees that
// the task holds the message.
func (t *task) hear(message gjson.Result) {
	var m object
	if t != nil && t.doc != nil && json.Unmarshal([]byte(message.Raw), &m) == nil {
		t.doc["history"] = append(listOf(t.doc, "history"), m)
	}
}

func listOf(o object, name string) []any {
	list, _ := o[name].([]any)
	return list
}

// remember adds a message to the history. It joins a text in pieces, and keeps the
// newest version of a tool call: a snapshot says each thing once.
func (t *task) remember(message object) {
	history, parts := listOf(t.doc, "history"), listOf(message, "parts")
	for i, h := range history {
		old, _ := h.(object)
		switch was := listOf(old, "parts"); {
		case callOf(parts) != "" && callOf(parts) == callOf(was):
			history[i] = message
			return
		case old != nil && message["messageId"] == old["messageId"] && callOf(parts) == "" && old["role"] == message["role"]:
			old["parts"] = joined(was, parts)
			return
		}
	}
	t.doc["history"] = append(history, message)
}

// joined joins neighbouring texts of parts.
func joined(was, more []any) []any {
	all := slices.Clip(was)
	for _, p := range more {
		part, _ := p.(object)
		text, ok := part["text"].(string)
		if n := len(all); ok && n > 0 {
			last, _ := all[n-1].(object)
			if before, ok := last["text"].(string); ok {
				last = maps.Clone(last)
				last["text"] = before + text
				all[n-1] = last
				continue
			}
		}
		all = append(all, p)
	}
	return all
}

// callOf returns the ID of the tool call, if parts hold nothing else.
func callOf(parts []any) string {
	if len(parts) != 1 {
		return ""
	}
	part, _ := parts[0].(object)
	data, _ := part["data"].(object)
	if id, ok := data["tool_call_id"].(string); ok {
		return id
	}
	request, _ := data["request"].(object)
	id, _ := request["callId"].(string)
	return id
}

// artifact appends to an artifact, or replaces it (A2A 1.0, section 4.2.2).
func (t *task) artifact(update object, more bool) {
	list := listOf(t.doc, "artifacts")
	for i, a := range list {
		old, _ := a.(object)
		switch {
		case old["artifactId"] != update["artifactId"]:
		case more:
			old["parts"] = append(listOf(old, "parts"), listOf(update, "parts")...)
			return
		default:
			list[i] = update
			return
		}
	}
	t.doc["artifacts"] = append(list, update)
}

// snapshot returns the task as an answer; in a stream 1.x wraps it.
func (t *task) snapshot(stream bool) []byte {
	var v any = t.doc
	if t.v1 && stream {
		v = object{"task": t.doc}
	}
	b, _ := json.Marshal(v) // it was JSON
	return b
}

// cancel cancels the task, once.
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
	t.doc["status"] = object{"state": state}
}

// canceledEvent is the event that reports it.
func (t *task) canceledEvent() []byte {
	update := object{"taskId": t.id, "contextId": t.doc["contextId"], "status": t.doc["status"]}
	v := object{"statusUpdate": update}
	if !t.v1 {
		update["kind"], update["final"] = "status-update", true
		v = update
	}
	b, _ := json.Marshal(v) // it was JSON
	return b
}
