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
	doc      map[string]any
	canceled chan struct{} // closed by a cancel
}

// apply applies an event.
func (t *task) apply(doc gjson.Result) {
	e, _ := event.OfPayload(doc)
	t.v1 = e.V1
	var m map[string]any
	if json.Unmarshal([]byte(e.Body.Raw), &m) != nil {
		return
	}
	if t.doc == nil {
		t.doc = map[string]any{"id": t.id, "contextId": m["contextId"], "status": map[string]any{}}
		if !t.v1 {
			t.doc["kind"] = "task"
		}
	}
	switch e.Kind {
	case event.Task:
		t.doc = m
	case event.Status:
		status, _ := m["status"].(map[string]any)
		message, said := status["message"].(map[string]any)
		// A state that pauses or ends the task has its message; what precedes it is history.
		if said && !e.Final && (e.State == "working" || e.State == "submitted") {
			t.remember(message)
			status = maps.Clone(status)
			delete(status, "message")
		}
		t.doc["status"] = status
	case event.Artifact:
		t.artifact(m)
	}
}

// hear adds a client's message to the history, as agents do: there a client sees that
// the task holds the message. It begins a task that does not exist yet.
func (t *task) hear(message gjson.Result) {
	var m map[string]any
	if t == nil || t.doc == nil || json.Unmarshal([]byte(message.Raw), &m) != nil {
		return
	}
	history, _ := t.doc["history"].([]any)
	t.doc["history"] = append(history, m)
}

// remember adds a message to the history. It joins a text in pieces, and keeps the
// newest version of a tool call: a snapshot says each thing once.
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

// joined joins neighbouring texts of parts.
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

// callOf returns the ID of the tool call, if parts hold nothing else.
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

// artifact appends to an artifact, or replaces it (A2A 1.0, section 4.2.2).
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

// snapshot returns the task as an answer; in a stream 1.x wraps it.
func (t *task) snapshot(stream bool) []byte {
	var v any = t.doc
	if t.v1 && stream {
		v = map[string]any{"task": t.doc}
	}
	b, _ := json.Marshal(v) // it was JSON
	return b
}

// cancel cancels the task.
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

// canceledEvent is the event that reports it.
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
