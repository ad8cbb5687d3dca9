package demo

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// v03 is A2A 0.3: each object has a kind, and an update tells whether it is the last.
type v03 struct{}

type v03Part struct {
	Kind string          `json:"kind"`
	Text *string         `json:"text,omitempty"`
	File *v03File        `json:"file,omitempty"`
	Data json.RawMessage `json:"data,omitempty"`
}

type v03File struct {
	Name     string `json:"name,omitempty"`
	MimeType string `json:"mimeType,omitempty"`
	Bytes    string `json:"bytes,omitempty"`
	URI      string `json:"uri,omitempty"`
}

type v03Message struct {
	Kind       string                     `json:"kind"`
	MessageID  string                     `json:"messageId"`
	Role       string                     `json:"role"`
	Parts      []v03Part                  `json:"parts"`
	TaskID     string                     `json:"taskId,omitempty"`
	ContextID  string                     `json:"contextId,omitempty"`
	Metadata   map[string]json.RawMessage `json:"metadata,omitempty"`
	Extensions []string                   `json:"extensions,omitempty"`
}

type v03Status struct {
	State     string      `json:"state"`
	Message   *v03Message `json:"message,omitempty"`
	Timestamp time.Time   `json:"timestamp"`
}

type v03Task struct {
	Kind      string       `json:"kind"`
	ID        string       `json:"id"`
	ContextID string       `json:"contextId"`
	Status    v03Status    `json:"status"`
	History   []v03Message `json:"history,omitempty"`
}

type v03Update struct {
	Kind      string         `json:"kind"`
	TaskID    string         `json:"taskId"`
	ContextID string         `json:"contextId"`
	Status    v03Status      `json:"status"`
	Final     bool           `json:"final"`
	Metadata  map[string]any `json:"metadata,omitempty"`
}

func (v03) extensionsHeader() string { return "X-A2A-Extensions" }

func (v03) method(name string) string {
	switch name {
	// A list, not "any name": other versions' internal names must not be reachable by
	// accident.
	case "message/send", "message/stream", "tasks/get", "tasks/list", "tasks/cancel", "tasks/resubscribe",
		"commands/get", "command/execute", "agent/getAuthenticatedExtendedCard",
		"tasks/pushNotificationConfig/set", "tasks/pushNotificationConfig/get",
		"tasks/pushNotificationConfig/list", "tasks/pushNotificationConfig/delete":
		return name
	}
	return ""
}

func (v03) state(name string) (string, bool) {
	switch name {
	case stateSubmitted, stateWorking, stateInputRequired, stateCompleted, stateCanceled, stateFailed,
		"rejected", "auth-required", "unknown":
		return name, true
	}
	return "", false
}

func (v03) send(params json.RawMessage) (*sendRequest, error) {
	var p struct {
		Message       *v03Message `json:"message"`
		Configuration struct {
			Blocking               *bool    `json:"blocking"`
			HistoryLength          *int     `json:"historyLength"`
			PushNotificationConfig *v03Push `json:"pushNotificationConfig"`
		} `json:"configuration"`
	}
	if err := readParams(params, &p); err != nil {
		return nil, err
	}
	if p.Message == nil {
		return nil, errors.New("message is missing")
	}
	m, err := p.Message.neutral()
	if err != nil {
		return nil, err
	}
	c := p.Configuration
	var push *pushConfig
	if c.PushNotificationConfig != nil {
		push = c.PushNotificationConfig.neutral()
	}
	return &sendRequest{
		message: m,
		// 0.3 leaves the default to the agent. A person who tries this agent with curl
		// expects it to wait.
		blocking:      c.Blocking == nil || *c.Blocking,
		historyLength: c.HistoryLength,
		push:          push,
	}, nil
}

func (m *v03Message) neutral() (*message, error) {
	if m.Kind != "" && m.Kind != "message" {
		return nil, fmt.Errorf("message.kind is %q", m.Kind)
	}
	if m.Role != "user" {
		return nil, fmt.Errorf("message.role is %q, want \"user\"", m.Role)
	}
	n := &message{
		id: m.MessageID, role: m.Role, taskID: m.TaskID, contextID: m.ContextID,
		metadata: m.Metadata, extensions: m.Extensions,
	}
	for i, p := range m.Parts {
		var q part
		var err error
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
		if err != nil {
			return nil, fmt.Errorf("message.parts[%d]: %v", i, err)
		}
		n.parts = append(n.parts, q)
	}
	return n, nil
}

func (v03) message(m *message) *v03Message {
	if m == nil {
		return nil
	}
	w := &v03Message{
		Kind: "message", MessageID: m.id, Role: m.role, Parts: []v03Part{}, TaskID: m.taskID, ContextID: m.contextID,
		Metadata: m.metadata, Extensions: m.extensions,
	}
	for _, p := range m.parts {
		switch {
		case p.data != nil:
			w.Parts = append(w.Parts, v03Part{Kind: "data", Data: p.json()})
		case p.file != nil:
			f := p.file
			w.Parts = append(w.Parts, v03Part{Kind: "file", File: &v03File{Name: f.name, MimeType: f.mimeType, Bytes: f.base64, URI: f.uri}})
		default:
			w.Parts = append(w.Parts, v03Part{Kind: "text", Text: &p.text})
		}
	}
	return w
}

func (v v03) task(t taskView) any {
	w := v03Task{
		Kind: "task", ID: t.id, ContextID: t.contextID,
		Status: v03Status{State: t.state, Message: v.message(t.statusMessage), Timestamp: t.at},
	}
	for i := range t.history {
		w.History = append(w.History, *v.message(&t.history[i]))
	}
	return w
}

func (v v03) result(t taskView) any { return v.task(t) }

func (v v03) update(t *task, e event) any {
	return v03Update{
		Kind: "status-update", TaskID: t.id, ContextID: t.session.contextID,
		Status:   v03Status{State: e.state, Message: v.message(e.message), Timestamp: e.at},
		Final:    e.final,
		Metadata: e.metadata(),
	}
}

func (v03) subscribesToOver() bool { return true }

// fail: servers of 0.3 report an ended task as bad parameters.
func (v03) fail(e rpcError) rpcError {
	if e.Code == codeUnsupported {
		e.Code = codeInvalidParams
	}
	return e
}
