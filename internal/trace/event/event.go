// Package event reads A2A's events in both spellings, 0.3 and 1.0. It reads what agents
// say and not what they should: members of another kind are as if they were missing.
package event

import (
	"strings"

	"github.com/tidwall/gjson"
)

// Values of [Event.Kind]. It is "" of a result that is no event.
const (
	Task     = "task"
	Message  = "message"
	Status   = "status"
	Artifact = "artifact"
)

// An Event is a task, a message, or news of a task.
type Event struct {
	Kind          string
	Task, Context string
	State         string // by its 0.3 name
	Final         bool   // 0.3's
	Append        bool   // of an artifact
	V1            bool   // in the form of 1.0
	Body          gjson.Result
}

// Of reads the result of a request, or of an event of a stream.
func Of(result gjson.Result) Event {
	e := Event{Body: result}
	switch result.Get("kind").Str {
	case "task":
		e.Kind = Task
	case "message":
		e.Kind = Message
	case "status-update":
		e.Kind = Status
	case "artifact-update":
		e.Kind = Artifact
	default:
		for _, name := range [...][2]string{{"task", Task}, {"statusUpdate", Status}, {"artifactUpdate", Artifact}, {"message", Message}} {
			if inner := result.Get(name[0]); e.Kind == "" && inner.IsObject() {
				e.Kind, e.Body, e.V1 = name[1], inner, true
			}
		}
		switch status := result.Get("status.state").Exists(); { // A2A 0.2 began without kinds
		case e.Kind != "":
		case result.Get("artifact").IsObject():
			e.Kind = Artifact
		case status && (result.Get("taskId").Exists() || result.Get("final").Exists()):
			e.Kind = Status
		case status:
			e.Kind = Task
		}
	}
	e.Task = e.Body.Get("taskId").Str
	if e.Kind == Task || e.Kind != Message && e.Task == "" {
		e.Task = e.Body.Get("id").Str
	}
	e.Context = e.Body.Get("contextId").Str
	e.State = State(e.Body.Get("status.state").Str)
	e.Final, e.Append = e.Body.Get("final").Bool(), e.Body.Get("append").Bool()
	return e
}

// OfPayload is Of for all of a payload, with JSON-RPC's envelope or without it. failed:
// it is an error, and no event.
func OfPayload(doc gjson.Result) (e Event, failed bool) {
	result := doc.Get("result")
	if !result.Exists() {
		if doc.Get("error").IsObject() {
			return Event{}, true
		}
		result = doc // HTTP+JSON has no envelope
	}
	return Of(result), false
}

// Message returns the message of an event: the event itself, or its status's.
func (e *Event) Message() gjson.Result {
	if e.Kind == Message {
		return e.Body
	}
	return e.Body.Get("status.message")
}

// Parts returns the parts of an event's message or artifact.
func (e *Event) Parts() gjson.Result {
	if e.Kind == Artifact {
		return e.Body.Get("artifact.parts")
	}
	return e.Message().Get("parts")
}

// ID returns the ID of an event's message or artifact.
func (e *Event) ID() string {
	if e.Kind == Artifact {
		return e.Body.Get("artifact.artifactId").Str
	}
	return e.Message().Get("messageId").Str
}

// MayEndStream reports whether a stream may end with an event: it is a message, or final, or its
// task is over or waits for somebody.
func (e *Event) MayEndStream() bool {
	return e.Kind == Message || e.Final || Terminal(e.State) || Waits(e.State)
}

// State returns the 0.3 name of a state in either spelling.
func State(s string) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(s, "TASK_STATE_"), "_", "-"))
}

// Terminal reports whether a task is over.
func Terminal(state string) bool {
	switch state {
	case "completed", "canceled", "failed", "rejected":
		return true
	}
	return false
}

// Waits reports whether a task waits for its user.
func Waits(state string) bool { return state == "input-required" || state == "auth-required" }

// Text joins the texts of parts.
func Text(parts gjson.Result) string {
	var b strings.Builder
	parts.ForEach(func(_, p gjson.Result) bool {
		b.WriteString(p.Get("text").Str)
		return true
	})
	return b.String()
}

// Method returns the JSON-RPC method of an HTTP+JSON request (A2A 1.0, section 11.3),
// or "GET /x" if there is none.
func Method(verb, path string) string {
	last := path[strings.LastIndexByte(path, '/')+1:]
	switch { // by the end: an ID may have colons
	case last == "message:send":
		return "SendMessage"
	case last == "message:stream":
		return "SendStreamingMessage"
	case strings.HasSuffix(last, ":cancel"):
		return "CancelTask"
	case strings.HasSuffix(last, ":subscribe"):
		return "SubscribeToTask"
	case verb == "GET" && last == "pushNotificationConfigs":
		return "ListTaskPushNotificationConfigs"
	case verb == "POST" && last == "pushNotificationConfigs":
		return "CreateTaskPushNotificationConfig"
	case verb == "DELETE" && strings.HasSuffix(strings.TrimSuffix(path, last), "/pushNotificationConfigs/"):
		return "DeleteTaskPushNotificationConfig"
	case verb == "GET" && last == "extendedAgentCard":
		return "GetExtendedAgentCard"
	case verb == "GET" && strings.HasSuffix(path, "/v1/card"):
		return "agent/getAuthenticatedExtendedCard"
	case verb == "GET" && last == "tasks":
		return "ListTasks"
	case verb == "GET" && strings.HasSuffix(strings.TrimSuffix(path, last), "/tasks/"):
		return "GetTask"
	}
	return verb + " " + path
}

// TaskOf returns the ID of the task that a request is about, "" for none: by its parameters, or in
// HTTP+JSON by the path, as /v1/tasks/ID:cancel.
func TaskOf(params gjson.Result, path string) string {
	for _, name := range [...]string{"message.taskId", "taskId", "id"} {
		if id := params.Get(name).Str; id != "" {
			return id
		}
	}
	_, id, _ := strings.Cut(path[max(0, strings.LastIndex(path, "/tasks/")):], "/tasks/")
	id, _, _ = strings.Cut(id, "?")
	id, _, _ = strings.Cut(id, "/")
	return strings.TrimSuffix(strings.TrimSuffix(id, ":cancel"), ":subscribe")
}
