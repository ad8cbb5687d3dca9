package demo

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A wire reads and writes one version of A2A: 0.3, where each object has a kind and an
// update tells whether it is the last, or 1.0 in protobuf's JSON, where a member's name
// tells an object's type, enums have prefixed names, and unknown fields are errors. It
// interprets nothing.
type wire struct{ v1 bool }

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
		Tenant        string   `json:"tenant"`
		Message       *message `json:"message"`
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
	if err := w.readMessage(p.Message); err != nil {
		return nil, err
	}
	// 0.3 leaves the default to the agent. A person who tries this agent with curl expects
	// it to wait.
	r := &sendRequest{message: p.Message, blocking: c.Blocking == nil || *c.Blocking, historyLength: c.HistoryLength, push: c.PushNotificationConfig != nil}
	if w.v1 {
		r.blocking, r.push = !c.ReturnImmediately, c.TaskPushNotificationConfig != nil
	}
	return r, nil
}

// readMessage checks a message, and leaves nothing of 0.3 in it.
func (w wire) readMessage(m *message) error {
	switch {
	case m.Kind != "" && m.Kind != "message":
		return fmt.Errorf("message.kind is %q", m.Kind)
	case m.Role != w.role("user"):
		return fmt.Errorf("message.role is %q, want %q", m.Role, w.role("user"))
	}
	m.Kind, m.Role = "", "user"
	for i := range m.Parts {
		if err := w.readPart(&m.Parts[i]); err != nil {
			return fmt.Errorf("message.parts[%d]: %v", i, err)
		}
	}
	return nil
}

func (w wire) readPart(p *part) error {
	if !w.v1 {
		switch f := p.File; {
		case p.Kind == "text" && p.Text != nil:
			*p = part{Text: p.Text}
		case p.Kind == "data" && len(p.Data) > 0 && p.Data[0] == '{': // 1.0 allows any JSON
			*p = part{Data: p.Data}
		case p.Kind == "file" && f != nil:
			*p = part{Raw: f.Bytes, URL: f.URI, Filename: f.Name, MediaType: f.MimeType}
		default:
			return fmt.Errorf("it has kind %q and no such content", p.Kind)
		}
	}
	members := 0
	for _, set := range []bool{p.Text != nil, p.Raw != "", p.URL != "", p.Data != nil} {
		if set {
			members++
		}
	}
	_, err := base64.StdEncoding.DecodeString(p.Raw)
	switch {
	case p.Kind != "" || p.File != nil:
		return errors.New("its kind and file are A2A 0.3's")
	case members != 1:
		return fmt.Errorf("it has %d of text, raw, url and data, want one", members)
	case err != nil:
		return fmt.Errorf("the bytes of a file part are not base64: %v", err)
	}
	return nil
}

func (w wire) message(m *message) *message {
	if m == nil {
		return nil
	}
	out := *m
	out.Kind, out.Role, out.Parts = w.kind("message"), w.role(m.Role), slices.Clone(m.Parts)
	for i := range out.Parts {
		switch p := &out.Parts[i]; {
		case w.v1:
		case p.Data != nil:
			p.Kind = "data"
		case p.Text != nil:
			p.Kind = "text"
		default:
			*p = part{Kind: "file", File: &fileV03{p.Filename, p.MediaType, p.Raw, p.URL}}
		}
	}
	return &out
}

func (w wire) status(s status) status {
	return status{w.state(s.State), w.message(s.Message), s.At}
}

// task is a task that is a whole result.
func (w wire) task(t taskView) taskView {
	t.Kind, t.Status, t.History = w.kind("task"), w.status(t.Status), slices.Clone(t.History)
	for i := range t.History {
		t.History[i] = *w.message(&t.History[i])
	}
	return t
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
	at := status{e.state, e.message, e.at}
	if e.created {
		at.Message = nil
		return w.result(taskView{ID: t.id, ContextID: t.session.contextID, Status: at, History: []message{*e.message}})
	}
	out := statusUpdate{Kind: w.kind("status-update"), TaskID: t.id, ContextID: t.session.contextID, Status: w.status(at), Metadata: e.metadata()}
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
