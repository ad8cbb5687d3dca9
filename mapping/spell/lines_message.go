package spell

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A sentMessage is a message as an editor writes it.
type sentMessage struct {
	Role             string
	MessageID        string
	TaskID           string
	ContextID        string
	ReferenceTaskIDs []string
	Extensions       []string
	Metadata         map[string]json.RawMessage
	Parts            []struct {
		Text     *string
		Data     json.RawMessage
		File     *sentFile
		Metadata map[string]json.RawMessage
		// A file, in 1.x.
		Raw, URL, Filename, MediaType string
	}
}

type sentFile struct{ Name, MimeType, MediaType, Bytes, URI string }

// ReadMessage reads a message as an editor writes it, in A2A 0.3's shape or in 1.x's,
// into one that can be sent to an agent of either version.
func ReadMessage(raw json.RawMessage) (*a2a.Outgoing, error) {
	var in sentMessage
	if err := json.Unmarshal(raw, &in); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return nil, promptError("%s must not be a JSON %s", strings.TrimSuffix("message."+wrong.Field, "."), wrong.Value)
		}
		return nil, promptError("message: %v", err)
	}
	switch in.Role {
	case "", "user", "ROLE_USER":
	default:
		return nil, promptError("message.role is %q: an editor sends as the user", in.Role)
	}
	m := &a2a.Outgoing{ID: in.MessageID, TaskID: in.TaskID, ContextID: in.ContextID, ReferenceTaskIDs: in.ReferenceTaskIDs,
		Extensions: in.Extensions, Metadata: in.Metadata}
	for i, p := range in.Parts {
		part, f := a2a.OutPart{Data: p.Data}, p.File
		if p.Metadata != nil {
			part.Metadata, _ = json.Marshal(p.Metadata)
		}
		if f == nil && p.Raw+p.URL != "" {
			f = &sentFile{Name: p.Filename, MediaType: p.MediaType, Bytes: p.Raw, URI: p.URL}
		}
		switch {
		case p.Text != nil:
			part = a2a.OutPart{Text: *p.Text, Metadata: part.Metadata}
		case p.Data != nil:
		case f == nil:
			return nil, promptError("message.parts[%d]: neither text, data nor file", i)
		case (f.Bytes == "") == (f.URI == ""):
			return nil, promptError("message.parts[%d]: a file has either bytes or a uri", i)
		default:
			part.File = &a2a.File{Name: f.Name, MediaType: cmp.Or(f.MimeType, f.MediaType), Bytes: f.Bytes, URI: f.URI}
		}
		m.Parts = append(m.Parts, part)
	}
	if len(m.Parts) == 0 {
		return nil, promptError("message.parts is empty")
	}
	return m, nil
}

// TaskJSON spells a task, or a message, as A2A 0.3 does: as the agent wrote it,
// if that is its version, else anew.
func TaskJSON(ev *a2a.Event) json.RawMessage {
	if gjson.Get(string(ev.Raw), "kind").Exists() {
		return rawjson.AppendValue(nil, string(ev.Raw))
	}
	if ev.Kind == a2a.EventMessage {
		return messageJSON(nil, &ev.Message)
	}
	dst := rawjson.AppendString([]byte(`{"kind":"task","id":`), ev.TaskID)
	dst = rawjson.AppendField(dst, "contextId", ev.ContextID)
	dst = rawjson.AppendString(append(dst, `,"status":{"state":`...), string(ev.State))
	if ev.HasMessage {
		dst = append(dst, `,"message":`...)
		dst = messageJSON(dst, &ev.Message)
	}
	dst = appendOptional(dst, "timestamp", ev.Timestamp)
	dst = append(dst, '}')
	if ev.Artifacts != nil {
		dst = append(dst, `,"artifacts":[`...)
		for a := range ev.Artifacts {
			dst = rawjson.AppendString(append(comma(dst), `{"artifactId":`...), a.ID)
			dst = appendOptional(dst, "name", a.Name)
			dst = appendOptional(dst, "description", a.Description)
			dst = partsJSON(dst, a.Parts)
			dst = rawjson.AppendJSON(dst, "extensions", string(a.Extensions))
			dst = append(rawjson.AppendJSON(dst, "metadata", string(a.Metadata)), '}')
		}
		dst = append(dst, ']')
	}
	if ev.History != nil {
		dst = append(dst, `,"history":[`...)
		for m := range ev.History {
			dst = messageJSON(comma(dst), &m)
		}
		dst = append(dst, ']')
	}
	return append(rawjson.AppendJSON(dst, "metadata", string(ev.Metadata)), '}')
}

// comma appends a comma before an element of an array that is not the first.
func comma(dst []byte) []byte {
	if dst[len(dst)-1] != '[' {
		dst = append(dst, ',')
	}
	return dst
}

func messageJSON(dst []byte, m *a2a.Message) []byte {
	dst = rawjson.AppendString(append(dst, `{"kind":"message","messageId":`...), m.ID)
	dst = rawjson.AppendField(dst, "role", string(m.Role))
	dst = appendOptional(dst, "taskId", m.TaskID)
	dst = appendOptional(dst, "contextId", m.ContextID)
	dst = partsJSON(dst, m.Parts)
	dst = rawjson.AppendJSON(dst, "referenceTaskIds", string(m.ReferenceTaskIDs))
	dst = rawjson.AppendJSON(dst, "extensions", string(m.Extensions))
	return append(rawjson.AppendJSON(dst, "metadata", string(m.Metadata)), '}')
}

func partsJSON(dst []byte, parts a2a.Parts) []byte {
	dst = append(dst, `,"parts":[`...)
	for p := range parts.All() {
		dst = append(comma(dst), partJSON(p)...)
	}
	return append(dst, ']')
}
