package agent

import (
	"encoding/json"
	"strings"
)

// spellings are the words of both versions: 0.3 and 1.0 (proto-JSON).
var spellings = [...][2]string{
	{"message/stream", "SendStreamingMessage"}, {"tasks/get", "GetTask"}, {"tasks/resubscribe", "SubscribeToTask"}, {"tasks/cancel", "CancelTask"},
	{"agent", "ROLE_AGENT"}, {"user", "ROLE_USER"},
}

// A version is an A2A version: 0 is 0.3, 1 is 1.0.
type version int

// method is the name in 0.3 of a method on the wire.
func (v version) method(name string) string {
	for _, s := range spellings {
		if s[v] == name {
			return s[0]
		}
	}
	return ""
}

func (v version) word(name string) string {
	for _, s := range spellings {
		if s[0] == name {
			return s[v]
		}
	}
	return name
}

func (v version) state(s State) string {
	if v == 0 || s == "" {
		return string(s)
	}
	return "TASK_STATE_" + strings.ToUpper(strings.ReplaceAll(string(s), "-", "_"))
}

// kind is the member that 0.3 alone has.
func (v version) kind(name string) string {
	if v == 0 {
		return name
	}
	return ""
}

type wirePart struct {
	Kind      string          `json:"kind,omitempty"`
	Text      *string         `json:"text,omitempty"`
	Data      any             `json:"data,omitempty"`
	File      *wireFile       `json:"file,omitempty"`
	Bytes     []byte          `json:"raw,omitempty"`
	MediaType string          `json:"mediaType,omitempty"`
	Filename  string          `json:"filename,omitempty"`
	Metadata  map[string]any  `json:"metadata,omitempty"`
	whole     json.RawMessage // instead of all that
}

type wireFile struct {
	Name     string `json:"name,omitempty"`
	MimeType string `json:"mimeType,omitempty"`
	Bytes    []byte `json:"bytes"`
}

// MarshalJSON implements [json.Marshaler].
func (p wirePart) MarshalJSON() ([]byte, error) {
	if p.whole != nil {
		return p.whole, nil
	}
	type plain wirePart
	return json.Marshal(plain(p))
}

type wireMessage struct {
	Kind      string         `json:"kind,omitempty"`
	MessageID string         `json:"messageId"`
	Role      string         `json:"role"`
	TaskID    string         `json:"taskId,omitempty"`
	ContextID string         `json:"contextId,omitempty"`
	Parts     []wirePart     `json:"parts"`
	Metadata  map[string]any `json:"metadata,omitempty"`
}

type wireArtifact struct {
	ArtifactID string         `json:"artifactId"`
	Name       string         `json:"name,omitempty"`
	Extensions []string       `json:"extensions,omitempty"`
	Parts      []wirePart     `json:"parts"`
	Metadata   map[string]any `json:"metadata,omitempty"`
}

type wireStatus struct {
	State   string `json:"state,omitempty"`
	Message any    `json:"message,omitempty"`
}

// A wireEvent is each kind of event, and a task.
type wireEvent struct {
	Kind      string         `json:"kind,omitempty"`
	ID        string         `json:"id,omitempty"`
	TaskID    string         `json:"taskId,omitempty"`
	ContextID string         `json:"contextId,omitempty"`
	Status    *wireStatus    `json:"status,omitempty"`
	Artifact  *wireArtifact  `json:"artifact,omitempty"`
	Append    bool           `json:"append,omitempty"`
	LastChunk bool           `json:"lastChunk,omitempty"`
	Final     *bool          `json:"final,omitempty"`
	History   []any          `json:"history,omitempty"`
	Artifacts []wireArtifact `json:"artifacts,omitempty"`
	Metadata  map[string]any `json:"metadata,omitempty"`
}

func (v version) parts(list []Part) []wirePart {
	out := make([]wirePart, len(list))
	for i, p := range list {
		w := wirePart{Metadata: p.Metadata, whole: p.Raw}
		switch {
		case p.File != nil && v == 0:
			w.Kind, w.File = "file", &wireFile{p.File.Name, p.File.Type, p.File.Content}
		case p.File != nil:
			w.Bytes, w.MediaType, w.Filename = p.File.Content, p.File.Type, p.File.Name
		case p.Data != nil:
			w.Kind, w.Data = v.kind("data"), p.Data
		default:
			w.Kind, w.Text = v.kind("text"), &p.Text
		}
		out[i] = w
	}
	return out
}

// message is a message as an event, or in one.
func (v version) message(m *Message, task, context string) any {
	if m == nil {
		return nil
	}
	if m.Raw != nil {
		return m.Raw
	}
	role := "agent"
	if m.User {
		role = "user"
	}
	return &wireMessage{v.kind("message"), m.ID, v.word(role), task, context, v.parts(m.Parts), m.Metadata}
}

func (v version) artifact(a *Artifact) wireArtifact {
	return wireArtifact{a.ID, a.Name, a.Extensions, v.parts(a.Parts), a.Metadata}
}

func (v version) task(t *Task) *wireEvent {
	w := &wireEvent{Kind: v.kind("task"), ID: t.ID, ContextID: t.Context, Status: &wireStatus{v.state(t.State), v.message(t.Message, t.ID, t.Context)}, Metadata: t.Metadata}
	for _, m := range t.History {
		w.History = append(w.History, v.message(m, t.ID, t.Context))
	}
	for _, a := range t.Artifacts {
		w.Artifacts = append(w.Artifacts, v.artifact(a))
	}
	return w
}

// event is a step on the wire. t is the task behind it.
func (v version) event(s *Step, t *Task) json.RawMessage {
	if s.Raw != nil {
		return s.Raw
	}
	w, name := &wireEvent{TaskID: t.ID, ContextID: t.Context, Metadata: s.Metadata}, ""
	switch s.Kind {
	case Direct:
		return v.wrap("message", v.message(s.Message, "", t.Context))
	case TaskEvent:
		return v.wrap("task", v.task(t))
	case ArtifactUpdate:
		a := v.artifact(s.Artifact)
		w.Kind, w.Artifact, w.Append, w.LastChunk, name = v.kind("artifact-update"), &a, s.Append, s.Last, "artifactUpdate"
	default:
		w.Kind, w.Status, name = v.kind("status-update"), &wireStatus{v.state(t.State), v.message(s.Message, t.ID, t.Context)}, "statusUpdate"
		if v == 0 {
			w.Final = &s.Final
		}
	}
	return v.wrap(name, w)
}

// wrap puts a payload into the member that 1.0 has for it.
func (v version) wrap(name string, payload any) json.RawMessage {
	if v == 1 {
		payload = map[string]any{name: payload}
	}
	return encode(payload)
}

// encode is json.Marshal for what cannot fail.
func encode(x any) json.RawMessage {
	b, err := json.Marshal(x)
	if err != nil {
		panic(err)
	}
	return b
}

// card is the agent's.
func (s *Script) card() json.RawMessage {
	if s.Card != nil {
		return s.Card
	}
	var extensions []any
	for _, uri := range s.Extensions {
		extensions = append(extensions, map[string]any{"uri": uri})
	}
	card := map[string]any{"name": "scripted", "description": "An agent of a test", "version": "1", "skills": []any{},
		"defaultInputModes": []string{"text/plain"}, "defaultOutputModes": []string{"text/plain"},
		"capabilities": map[string]any{"streaming": true, "extensions": extensions}}
	if s.V1 {
		card["supportedInterfaces"] = []any{map[string]any{"url": URL, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}}
	} else {
		card["url"], card["protocolVersion"], card["preferredTransport"] = URL, "0.3.0", "JSONRPC"
	}
	return encode(card)
}
