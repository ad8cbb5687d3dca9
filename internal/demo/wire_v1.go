package demo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// v1 is A2A 1.0 in protobuf's JSON: a member's name tells an object's type, enums have
// prefixed names, and unknown fields are errors.
type v1 struct{}

type v1Part struct {
	Text      *string                    `json:"text,omitempty"`
	Raw       string                     `json:"raw,omitempty"`
	URL       string                     `json:"url,omitempty"`
	Data      json.RawMessage            `json:"data,omitempty"`
	Filename  string                     `json:"filename,omitempty"`
	MediaType string                     `json:"mediaType,omitempty"`
	Metadata  map[string]json.RawMessage `json:"metadata,omitempty"`
}

type v1Message struct {
	MessageID        string                     `json:"messageId"`
	Role             string                     `json:"role"`
	Parts            []v1Part                   `json:"parts"`
	TaskID           string                     `json:"taskId,omitempty"`
	ContextID        string                     `json:"contextId,omitempty"`
	Metadata         map[string]json.RawMessage `json:"metadata,omitempty"`
	Extensions       []string                   `json:"extensions,omitempty"`
	ReferenceTaskIDs []string                   `json:"referenceTaskIds,omitempty"`
}

type v1Status struct {
	State     string     `json:"state"`
	Message   *v1Message `json:"message,omitempty"`
	Timestamp time.Time  `json:"timestamp"`
}

type v1Task struct {
	ID        string      `json:"id"`
	ContextID string      `json:"contextId"`
	Status    v1Status    `json:"status"`
	History   []v1Message `json:"history,omitempty"`
}

type v1Update struct {
	TaskID    string         `json:"taskId"`
	ContextID string         `json:"contextId"`
	Status    v1Status       `json:"status"`
	Metadata  map[string]any `json:"metadata,omitempty"`
}

func (v1) extensionsHeader() string { return "A2A-Extensions" }

// subscribesToOver: 1.0 requires an error, not a stream of one event.
func (v1) subscribesToOver() bool { return false }

func (v1) method(name string) string {
	switch name {
	case "SendMessage":
		return "message/send"
	case "SendStreamingMessage":
		return "message/stream"
	case "GetTask":
		return "tasks/get"
	case "ListTasks":
		return "tasks/list"
	case "CancelTask":
		return "tasks/cancel"
	case "SubscribeToTask":
		return "tasks/resubscribe"
	case "GetExtendedAgentCard":
		return "agent/getAuthenticatedExtendedCard"
	case "CreateTaskPushNotificationConfig":
		return "tasks/pushNotificationConfig/set"
	case "GetTaskPushNotificationConfig":
		return "tasks/pushNotificationConfig/get"
	case "ListTaskPushNotificationConfigs":
		return "tasks/pushNotificationConfig/list"
	case "DeleteTaskPushNotificationConfig":
		return "tasks/pushNotificationConfig/delete"
	case "commands/get", "command/execute":
		return name // the extension's, in any version
	}
	return ""
}

// v1State returns a state's name, and v1.state is the inverse.
func v1State(state string) string {
	return "TASK_STATE_" + strings.ToUpper(strings.ReplaceAll(state, "-", "_"))
}

func (v1) state(name string) (string, bool) {
	for _, state := range []string{
		stateSubmitted, stateWorking, stateInputRequired, stateCompleted, stateCanceled, stateFailed, "rejected", "auth-required",
	} {
		if v1State(state) == name {
			return state, true
		}
	}
	return "", name == "TASK_STATE_UNSPECIFIED"
}

func (v1) send(params json.RawMessage) (*sendRequest, error) {
	var p struct {
		Tenant        string     `json:"tenant"`
		Message       *v1Message `json:"message"`
		Configuration struct {
			AcceptedOutputModes        []string `json:"acceptedOutputModes"`
			TaskPushNotificationConfig *v1Push  `json:"taskPushNotificationConfig"`
			HistoryLength              *int     `json:"historyLength"`
			ReturnImmediately          bool     `json:"returnImmediately"`
		} `json:"configuration"`
		Metadata map[string]json.RawMessage `json:"metadata"`
	}
	if len(params) == 0 {
		return nil, errors.New("params are missing")
	}
	// Some servers of 1.0 ignore unknown members, others refuse them. A client that still
	// writes "kind" should notice here.
	d := json.NewDecoder(bytes.NewReader(params))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return nil, err
	}
	if p.Message == nil {
		return nil, errors.New("message is missing")
	}
	m, err := p.Message.neutral()
	if err != nil {
		return nil, err
	}
	var push *pushConfig
	if c := p.Configuration.TaskPushNotificationConfig; c != nil {
		push = c.neutral()
	}
	return &sendRequest{
		message:       m,
		blocking:      !p.Configuration.ReturnImmediately,
		historyLength: p.Configuration.HistoryLength,
		push:          push,
	}, nil
}

func (m *v1Message) neutral() (*message, error) {
	if m.Role != "ROLE_USER" {
		return nil, fmt.Errorf("message.role is %q, want \"ROLE_USER\"", m.Role)
	}
	n := &message{
		id: m.MessageID, role: "user", taskID: m.TaskID, contextID: m.ContextID,
		metadata: m.Metadata, extensions: m.Extensions,
	}
	for i, p := range m.Parts {
		q, err := p.neutral()
		if err != nil {
			return nil, fmt.Errorf("message.parts[%d]: %v", i, err)
		}
		n.parts = append(n.parts, q)
	}
	return n, nil
}

func (p v1Part) neutral() (part, error) {
	members := 0
	for _, set := range []bool{p.Text != nil, p.Raw != "", p.URL != "", p.Data != nil} {
		if set {
			members++
		}
	}
	switch {
	case members != 1:
		return part{}, fmt.Errorf("it has %d of text, raw, url and data, want one", members)
	case p.Text != nil:
		return part{text: *p.Text}, nil
	case p.Data != nil:
		return part{data: p.Data}, nil // 1.0 allows any JSON
	}
	f, err := newFile(p.Filename, p.MediaType, p.URL, p.Raw)
	return part{file: f}, err
}

func (v1) message(m *message) *v1Message {
	if m == nil {
		return nil
	}
	w := &v1Message{
		MessageID: m.id, Role: "ROLE_" + strings.ToUpper(m.role), TaskID: m.taskID, ContextID: m.contextID,
		Metadata: m.metadata, Extensions: m.extensions,
	}
	for _, p := range m.parts {
		switch {
		case p.data != nil:
			w.Parts = append(w.Parts, v1Part{Data: p.json()})
		case p.file != nil:
			f := p.file
			w.Parts = append(w.Parts, v1Part{Raw: f.base64, URL: f.uri, Filename: f.name, MediaType: f.mimeType})
		default:
			w.Parts = append(w.Parts, v1Part{Text: &p.text})
		}
	}
	return w
}

func (v v1) task(t taskView) any {
	w := v1Task{
		ID: t.id, ContextID: t.contextID,
		Status: v1Status{State: v1State(t.state), Message: v.message(t.statusMessage), Timestamp: t.at},
	}
	for i := range t.history {
		w.History = append(w.History, *v.message(&t.history[i]))
	}
	return w
}

func (v v1) result(t taskView) any { return map[string]any{"task": v.task(t)} }

func (v v1) update(t *task, e event) any {
	return map[string]any{"statusUpdate": v1Update{
		TaskID: t.id, ContextID: t.session.contextID,
		Status:   v1Status{State: v1State(e.state), Message: v.message(e.message), Timestamp: e.at},
		Metadata: e.metadata(),
	}}
}

// fail adds the machine-readable reason that 1.0 requires for A2A's errors. For an
// extended card that the card does not declare, 1.0 has another error than 0.3
// (§3.3.4).
func (v1) fail(e rpcError) rpcError {
	if e.Code == codeNoExtendedCard {
		e.Code = codeUnsupported
	}
	reason := map[int]string{
		codeTaskNotFound:      "TASK_NOT_FOUND",
		codeNotCancelable:     "TASK_NOT_CANCELABLE",
		codePushNotSupported:  "PUSH_NOTIFICATION_NOT_SUPPORTED",
		codeUnsupported:       "UNSUPPORTED_OPERATION",
		codeExtensionRequired: "EXTENSION_SUPPORT_REQUIRED",
		codeVersionNotSupport: "VERSION_NOT_SUPPORTED",
	}[e.Code]
	if reason != "" {
		e.Data = []any{map[string]string{
			"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "a2a-protocol.org",
		}}
	}
	return e
}
