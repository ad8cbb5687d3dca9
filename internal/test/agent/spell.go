package agent

import (
	"encoding/json"
	"reflect"
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

// object makes an object of names and values, without what is empty.
func object(members ...any) map[string]any {
	o := map[string]any{}
	for i := 0; i < len(members); i += 2 {
		if v := reflect.ValueOf(members[i+1]); v.IsValid() && !v.IsZero() {
			o[members[i].(string)] = members[i+1]
		}
	}
	return o
}

// kinds gives an object the member that 0.3 alone has.
func (v version) kinds(o map[string]any, kind string) map[string]any {
	if v == 0 {
		o["kind"] = kind
	}
	return o
}

func (v version) parts(list []Part) []any {
	out := make([]any, len(list))
	for i, p := range list {
		o := object("metadata", p.Metadata)
		switch f := p.File; {
		case p.Raw != nil:
			out[i] = p.Raw
			continue
		case f != nil && v == 0:
			o["file"] = object("name", f.Name, "mimeType", f.Type, "bytes", f.Content)
			v.kinds(o, "file")
		case f != nil:
			o = object("metadata", p.Metadata, "raw", f.Content, "mediaType", f.Type, "filename", f.Name)
		case p.Data != nil:
			o["data"] = p.Data
			v.kinds(o, "data")
		default:
			o["text"] = p.Text
			v.kinds(o, "text")
		}
		out[i] = o
	}
	return out
}

// message is a message as an event, or in one; nil if there is none.
func (v version) message(m *Message, task, context string) any {
	switch {
	case m == nil:
		return nil
	case m.Raw != nil:
		return m.Raw
	}
	role := "agent"
	if m.User {
		role = "user"
	}
	o := object("role", v.word(role), "taskId", task, "contextId", context)
	o["messageId"], o["parts"] = m.ID, v.parts(m.Parts)
	return v.kinds(o, "message")
}

func (v version) artifact(a *Artifact) map[string]any {
	o := object("name", a.Name, "extensions", a.Extensions, "metadata", a.Metadata)
	o["artifactId"], o["parts"] = a.ID, v.parts(a.Parts)
	return o
}

// status is a task's with a message.
func (v version) status(t *Task, m *Message) map[string]any {
	return object("state", v.state(t.State), "message", v.message(m, t.ID, t.Context))
}

func (v version) task(t *Task) map[string]any {
	var history, artifacts []any
	for _, m := range t.History {
		history = append(history, v.message(m, t.ID, t.Context))
	}
	for _, a := range t.Artifacts {
		artifacts = append(artifacts, v.artifact(a))
	}
	o := object("id", t.ID, "contextId", t.Context, "history", history, "artifacts", artifacts, "metadata", t.Metadata)
	o["status"] = v.status(t, t.Message)
	return v.kinds(o, "task")
}

// event is a step on the wire. t is the task behind it.
func (v version) event(s *Step, t *Task) json.RawMessage {
	o := object("taskId", t.ID, "contextId", t.Context, "metadata", s.Metadata, "append", s.Append, "lastChunk", s.Last)
	switch {
	case s.Raw != nil:
		return s.Raw
	case s.Kind == Direct:
		return v.wrap("message", v.message(s.Message, "", t.Context))
	case s.Kind == TaskEvent:
		return v.wrap("task", v.task(t))
	case s.Kind == ArtifactUpdate:
		o["artifact"] = v.artifact(s.Artifact)
		return v.wrap("artifactUpdate", v.kinds(o, "artifact-update"))
	}
	o["status"] = v.status(t, s.Message)
	if v == 0 {
		o["final"] = s.Final
	}
	return v.wrap("statusUpdate", v.kinds(o, "status-update"))
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
