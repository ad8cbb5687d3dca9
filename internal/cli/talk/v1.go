package talk

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file writes what an agent said as A2A 1.0, for -o json, whatever its version. What
// came as 1.0 stays as it is. What came as 0.3, by either of its names, is spelled from what
// package transport reads of it.

// V1Task returns a task, to be encoded. from is how the agent was asked.
func V1Task(raw a2a.JSON, from transport.Chosen) any {
	if isV1(raw, from) {
		return json.RawMessage(raw)
	}
	return taskOf(from.Read(raw))
}

// V1Event returns a payload of a stream as a StreamResponse, to be encoded: the member's name
// says what it is.
func V1Event(raw a2a.JSON, from transport.Chosen) any {
	switch isOne := isV1(raw, from); {
	case isOne && gjson.Get(string(raw), "status").Exists(): // a task that was asked for
		return map[string]any{"task": json.RawMessage(raw)}
	case isOne:
		return json.RawMessage(raw)
	}
	ev := from.Read(raw)
	update := updateJSON{TaskID: ev.TaskID, ContextID: ev.ContextID, Metadata: json.RawMessage(ev.Metadata)}
	switch ev.Kind {
	case a2a.EventTask:
		return map[string]any{"task": taskOf(ev)}
	case a2a.EventMessage:
		return map[string]any{"message": messageOf(&ev.Message)}
	case a2a.EventStatus:
		update.Status = new(statusOf(ev))
		return map[string]any{"statusUpdate": update}
	case a2a.EventArtifact:
		update.Artifact, update.Append, update.LastChunk = artifactOf(&ev.Artifact), ev.Append, ev.LastChunk
		return map[string]any{"artifactUpdate": update}
	}
	return json.RawMessage(raw)
}

// isV1 reports whether a payload needs no change. Some servers answer 0.3's to whoever asks
// in 1.0.
func isV1(raw a2a.JSON, from transport.Chosen) bool {
	return from.Version == "1.0" && !gjson.Get(string(raw), "kind").Exists()
}

// An updateJSON is 1.0's TaskStatusUpdateEvent, or its TaskArtifactUpdateEvent.
type updateJSON struct {
	TaskID    string          `json:"taskId"`
	ContextID string          `json:"contextId,omitempty"`
	Status    *statusJSON     `json:"status,omitempty"`
	Artifact  *artifactJSON   `json:"artifact,omitempty"`
	Append    bool            `json:"append,omitempty"`
	LastChunk bool            `json:"lastChunk,omitempty"`
	Metadata  json.RawMessage `json:"metadata,omitempty"`
}

func taskOf(ev *a2a.Event) *taskJSON {
	t := &taskJSON{ID: ev.TaskID, ContextID: ev.ContextID, Status: statusOf(ev), Metadata: json.RawMessage(ev.Metadata)}
	for a := range a2a.Each(ev.Artifacts) {
		t.Artifacts = append(t.Artifacts, artifactOf(&a))
	}
	for m := range a2a.Each(ev.History) {
		t.History = append(t.History, messageOf(&m))
	}
	return t
}

func statusOf(ev *a2a.Event) statusJSON {
	s := statusJSON{State: stateName(ev.State), Timestamp: ev.Timestamp}
	if ev.HasMessage {
		s.Message = messageOf(&ev.Message)
	}
	return s
}

func messageOf(m *a2a.Message) *messageJSON {
	return &messageJSON{MessageID: m.ID, ContextID: m.ContextID, TaskID: m.TaskID, Role: "ROLE_" + strings.ToUpper(string(m.Role)),
		saidJSON: saidJSON{json.RawMessage(m.Metadata), json.RawMessage(m.ReferenceTaskIDs), json.RawMessage(m.Extensions), partsOf(&m.Parts)}}
}

func artifactOf(a *a2a.Artifact) *artifactJSON {
	return &artifactJSON{a.ID, a.Name, a.Description, saidJSON{Metadata: json.RawMessage(a.Metadata), Extensions: json.RawMessage(a.Extensions), Parts: partsOf(&a.Parts)}}
}

func partsOf(parts *a2a.Parts) []partJSON {
	all := []partJSON{}
	for p := range parts.All() {
		part := partOf(p)
		if p.Kind == a2a.PartText {
			part = partJSON{Text: &growingText{}, Meta: json.RawMessage(p.Metadata)}
			part.Text.WriteString(p.Text)
		}
		all = append(all, part)
	}
	return all
}

func stateName(s a2a.State) string {
	if s == a2a.StateUnknown {
		return "TASK_STATE_UNSPECIFIED"
	}
	return "TASK_STATE_" + strings.ReplaceAll(strings.ToUpper(string(s)), "-", "_")
}
