package demo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// A wire reads and writes one version of A2A: 0.3, where each object has a kind and an
// update tells whether it is the last, or 1.0 in protobuf's JSON, where a member's name
// tells an object's type, enums have prefixed names, and unknown fields are errors. It
// interprets nothing.
type wire struct{ v1 bool }

// The objects of both versions. A member of one version alone is left out in the other.

type wirePart struct {
	Kind      string                     `json:"kind,omitempty"` // 0.3
	Text      *string                    `json:"text,omitempty"`
	File      *wireFile                  `json:"file,omitempty"` // 0.3
	Raw       string                     `json:"raw,omitempty"`  // 1.0, and the next
	URL       string                     `json:"url,omitempty"`
	Data      json.RawMessage            `json:"data,omitempty"`
	Filename  string                     `json:"filename,omitempty"`  // 1.0
	MediaType string                     `json:"mediaType,omitempty"` // 1.0
	Metadata  map[string]json.RawMessage `json:"metadata,omitempty"`
}

type wireFile struct {
	Name     string `json:"name,omitempty"`
	MimeType string `json:"mimeType,omitempty"`
	Bytes    string `json:"bytes,omitempty"`
	URI      string `json:"uri,omitempty"`
}

type wireMessage struct {
	Kind             string                     `json:"kind,omitempty"` // 0.3
	MessageID        string                     `json:"messageId"`
	Role             string                     `json:"role"`
	Parts            []wirePart                 `json:"parts"`
	TaskID           string                     `json:"taskId,omitempty"`
	ContextID        string                     `json:"contextId,omitempty"`
	Metadata         map[string]json.RawMessage `json:"metadata,omitempty"`
	Extensions       []string                   `json:"extensions,omitempty"`
	ReferenceTaskIDs []string                   `json:"referenceTaskIds,omitempty"`
}

type wireStatus struct {
	State     string       `json:"state"`
	Message   *wireMessage `json:"message,omitempty"`
	Timestamp time.Time    `json:"timestamp"`
}

type wireTask struct {
	Kind      string        `json:"kind,omitempty"` // 0.3
	ID        string        `json:"id"`
	ContextID string        `json:"contextId"`
	Status    wireStatus    `json:"status"`
	History   []wireMessage `json:"history,omitempty"`
}

type wireUpdate struct {
	Kind      string         `json:"kind,omitempty"` // 0.3
	TaskID    string         `json:"taskId"`
	ContextID string         `json:"contextId"`
	Status    wireStatus     `json:"status"`
	Final     *bool          `json:"final,omitempty"` // 0.3
	Metadata  map[string]any `json:"metadata,omitempty"`
}

// methods are the methods' names in 0.3, which the dispatcher uses, and in 1.0. The
// extension's are the same in any version.
var methods = [...]struct{ v03, v1 string }{
	{"message/send", "SendMessage"},
	{"message/stream", "SendStreamingMessage"},
	{"tasks/get", "GetTask"},
	{"tasks/list", "ListTasks"},
	{"tasks/cancel", "CancelTask"},
	{"tasks/resubscribe", "SubscribeToTask"},
	{"agent/getAuthenticatedExtendedCard", "GetExtendedAgentCard"},
	{"tasks/pushNotificationConfig/set", "CreateTaskPushNotificationConfig"},
	{"tasks/pushNotificationConfig/get", "GetTaskPushNotificationConfig"},
	{"tasks/pushNotificationConfig/list", "ListTaskPushNotificationConfigs"},
	{"tasks/pushNotificationConfig/delete", "DeleteTaskPushNotificationConfig"},
	{"commands/get", "commands/get"},
	{"command/execute", "command/execute"},
}

// method returns the 0.3 name of a method, or "" if this version has no such method.
func (w wire) method(name string) string {
	for _, m := range methods {
		if name == m.v1 && w.v1 || name == m.v03 && !w.v1 {
			return m.v03
		}
	}
	return ""
}

func (w wire) extensionsHeader() string {
	if w.v1 {
		return "A2A-Extensions"
	}
	return "X-A2A-Extensions"
}

// kind is the kind of an object, which 1.0 has not.
func (w wire) kind(name string) string {
	if w.v1 {
		return ""
	}
	return name
}

func (w wire) state(state string) string {
	if w.v1 {
		return "TASK_STATE_" + strings.ToUpper(strings.ReplaceAll(state, "-", "_"))
	}
	return state
}

// readState reads a task state, as a filter of the task list.
func (w wire) readState(name string) (string, bool) {
	for _, s := range states {
		if w.state(s) == name {
			return s, true
		}
	}
	return "", w.v1 && name == "TASK_STATE_UNSPECIFIED"
}

func (w wire) role(role string) string {
	if w.v1 {
		return "ROLE_" + strings.ToUpper(role)
	}
	return role
}

// read decodes a method's parameters. Some servers of 1.0 ignore unknown members, others
// refuse them: a client that writes one should notice here.
func (w wire) read(params json.RawMessage, into any) error {
	if !w.v1 {
		return readParams(params, into)
	}
	if len(params) == 0 {
		return errors.New("params are missing")
	}
	d := json.NewDecoder(bytes.NewReader(params))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// send reads the parameters of both methods that carry a message.
func (w wire) send(params json.RawMessage) (*sendRequest, error) {
	var p struct {
		Tenant        string       `json:"tenant"`
		Message       *wireMessage `json:"message"`
		Configuration struct {
			AcceptedOutputModes        []string       `json:"acceptedOutputModes"`
			Blocking                   *bool          `json:"blocking"`               // 0.3
			PushNotificationConfig     map[string]any `json:"pushNotificationConfig"` // 0.3
			TaskPushNotificationConfig map[string]any `json:"taskPushNotificationConfig"`
			HistoryLength              *int           `json:"historyLength"`
			ReturnImmediately          bool           `json:"returnImmediately"`
		} `json:"configuration"`
		Metadata map[string]json.RawMessage `json:"metadata"`
	}
	if err := w.read(params, &p); err != nil {
		return nil, err
	}
	c := p.Configuration
	switch {
	case p.Message == nil:
		return nil, errors.New("message is missing")
	case w.v1 && (p.Message.Kind != "" || c.Blocking != nil || c.PushNotificationConfig != nil):
		return nil, errors.New("message.kind, configuration.blocking and configuration.pushNotificationConfig are A2A 0.3's")
	}
	m, err := w.readMessage(p.Message)
	if err != nil {
		return nil, err
	}
	// 0.3 leaves the default to the agent. A person who tries this agent with curl expects
	// it to wait.
	r := &sendRequest{message: m, blocking: c.Blocking == nil || *c.Blocking, historyLength: c.HistoryLength, push: c.PushNotificationConfig != nil}
	if w.v1 {
		r.blocking, r.push = !c.ReturnImmediately, c.TaskPushNotificationConfig != nil
	}
	return r, nil
}

func (w wire) readMessage(m *wireMessage) (*message, error) {
	if m.Kind != "" && m.Kind != "message" {
		return nil, fmt.Errorf("message.kind is %q", m.Kind)
	}
	if m.Role != w.role("user") {
		return nil, fmt.Errorf("message.role is %q, want %q", m.Role, w.role("user"))
	}
	n := &message{
		id: m.MessageID, role: "user", taskID: m.TaskID, contextID: m.ContextID,
		metadata: m.Metadata, extensions: m.Extensions,
	}
	for i := range m.Parts {
		q, err := w.readPart(&m.Parts[i])
		if err != nil {
			return nil, fmt.Errorf("message.parts[%d]: %v", i, err)
		}
		n.parts = append(n.parts, q)
	}
	return n, nil
}

func (w wire) readPart(p *wirePart) (q part, err error) {
	if w.v1 {
		return p.readV1()
	}
	switch {
	case p.Kind == "text" && p.Text != nil:
		q.text = *p.Text
	case p.Kind == "data" && len(p.Data) > 0 && p.Data[0] == '{':
		q.data = p.Data
	case p.Kind == "file" && p.File != nil:
		q.file, err = newFile(p.File.Name, p.File.MimeType, p.File.URI, p.File.Bytes)
	default:
		err = fmt.Errorf("it has kind %q and no such content", p.Kind)
	}
	return q, err
}

func (p *wirePart) readV1() (part, error) {
	members := 0
	for _, set := range []bool{p.Text != nil, p.Raw != "", p.URL != "", p.Data != nil} {
		if set {
			members++
		}
	}
	switch {
	case p.Kind != "" || p.File != nil:
		return part{}, errors.New("its kind and file are A2A 0.3's")
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

func (w wire) message(m *message) *wireMessage {
	if m == nil {
		return nil
	}
	out := &wireMessage{
		Kind: w.kind("message"), MessageID: m.id, Role: w.role(m.role), Parts: []wirePart{}, TaskID: m.taskID, ContextID: m.contextID,
		Metadata: m.metadata, Extensions: m.extensions,
	}
	for _, p := range m.parts {
		switch f := p.file; {
		case p.data != nil:
			out.Parts = append(out.Parts, wirePart{Kind: w.kind("data"), Data: p.json()})
		case f != nil && w.v1:
			out.Parts = append(out.Parts, wirePart{Raw: f.base64, URL: f.uri, Filename: f.name, MediaType: f.mimeType})
		case f != nil:
			out.Parts = append(out.Parts, wirePart{Kind: "file", File: &wireFile{Name: f.name, MimeType: f.mimeType, Bytes: f.base64, URI: f.uri}})
		default:
			out.Parts = append(out.Parts, wirePart{Kind: w.kind("text"), Text: &p.text})
		}
	}
	return out
}

// task is a task that is a whole result.
func (w wire) task(t taskView) any {
	out := wireTask{
		Kind: w.kind("task"), ID: t.id, ContextID: t.contextID,
		Status: wireStatus{State: w.state(t.state), Message: w.message(t.statusMessage), Timestamp: t.at},
	}
	for i := range t.history {
		out.History = append(out.History, *w.message(&t.history[i]))
	}
	return out
}

// result is a task in place of a possible message: the answer to a message, and the
// first event of a stream.
func (w wire) result(t taskView) any {
	if w.v1 {
		return map[string]any{"task": w.task(t)}
	}
	return w.task(t)
}

func (w wire) event(t *task, e event) any {
	if e.created {
		return w.result(taskView{id: t.id, contextID: t.session.contextID, state: e.state, at: e.at, history: []message{*e.message}})
	}
	out := wireUpdate{
		Kind: w.kind("status-update"), TaskID: t.id, ContextID: t.session.contextID,
		Status:   wireStatus{State: w.state(e.state), Message: w.message(e.message), Timestamp: e.at},
		Metadata: e.metadata(),
	}
	if w.v1 {
		return map[string]any{"statusUpdate": out}
	}
	out.Final = &e.final
	return out
}

// fail converts an error to this version. Servers of 0.3 report an ended task as bad
// parameters. 1.0 requires a machine-readable reason of A2A's errors, and has another
// error for an extended card that the card does not declare (§3.3.4).
func (w wire) fail(e rpcError) rpcError {
	if !w.v1 {
		if e.Code == codeUnsupported {
			e.Code = codeInvalidParams
		}
		return e
	}
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
