package spell

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// ReadMessage reads a message as an editor writes it, in A2A 0.3's shape or in 1.x's,
// into one that can be sent to an agent of either version. Members that [a2a.Outgoing]
// has no place for are refused, not dropped.
func ReadMessage(raw json.RawMessage) (*a2a.Outgoing, error) {
	o := gjson.ParseBytes(raw)
	if !o.IsObject() {
		return nil, promptError("message must be an object")
	}
	m := &a2a.Outgoing{
		ID: o.Get("messageId").String(), TaskID: o.Get("taskId").String(), ContextID: o.Get("contextId").String(),
	}
	switch role := o.Get("role").String(); role {
	case "", "user", "ROLE_USER":
	default:
		return nil, promptError("message.role is %q: an editor sends as the user", role)
	}
	o.Get("referenceTaskIds").ForEach(func(_, id gjson.Result) bool {
		m.ReferenceTaskIDs = append(m.ReferenceTaskIDs, id.String())
		return true
	})
	o.Get("extensions").ForEach(func(_, uri gjson.Result) bool {
		m.Extensions = append(m.Extensions, uri.String())
		return true
	})
	if metadata := o.Get("metadata"); metadata.Exists() {
		if err := json.Unmarshal([]byte(metadata.Raw), &m.Metadata); err != nil {
			return nil, promptError("message.metadata must be an object")
		}
	}
	parts := o.Get("parts")
	if !parts.IsArray() {
		return nil, promptError("message.parts must be an array")
	}
	var err error
	parts.ForEach(func(_, p gjson.Result) bool {
		var part a2a.OutPart
		if part, err = readPart(p); err != nil {
			err = promptError("message.parts[%d]: %v", len(m.Parts), err)
			return false
		}
		if metadata := p.Get("metadata"); metadata.Exists() {
			if !metadata.IsObject() {
				err = promptError("message.parts[%d].metadata must be an object", len(m.Parts))
				return false
			}
			part.Metadata = json.RawMessage(metadata.Raw)
		}
		m.Parts = append(m.Parts, part)
		return true
	})
	if err == nil && len(m.Parts) == 0 {
		err = promptError("message.parts is empty")
	}
	return m, err
}

func readPart(p gjson.Result) (a2a.OutPart, error) {
	switch text, data, file := p.Get("text"), p.Get("data"), p.Get("file"); {
	case text.Type == gjson.String:
		return a2a.OutPart{Text: text.Str}, nil
	case data.Exists():
		return a2a.OutPart{Data: json.RawMessage(data.Raw)}, nil
	case file.IsObject():
		f := &a2a.File{Name: file.Get("name").String(), MediaType: cmp.Or(file.Get("mimeType").String(), file.Get("mediaType").String()),
			Bytes: file.Get("bytes").String(), URI: file.Get("uri").String()}
		if (f.Bytes == "") == (f.URI == "") {
			return a2a.OutPart{}, fmt.Errorf("a file has either bytes or a uri")
		}
		return a2a.OutPart{File: f}, nil
	case p.Get("raw").Exists() || p.Get("url").Exists():
		return a2a.OutPart{File: &a2a.File{Name: p.Get("filename").String(), MediaType: p.Get("mediaType").String(),
			Bytes: p.Get("raw").String(), URI: p.Get("url").String()}}, nil
	}
	return a2a.OutPart{}, fmt.Errorf("neither text, data nor file")
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
	n := 0
	if ev.Artifacts != nil {
		dst = append(dst, `,"artifacts":[`...)
		for a := range ev.Artifacts {
			dst = comma(dst, &n)
			dst = rawjson.AppendString(append(dst, `{"artifactId":`...), a.ID)
			dst = appendOptional(dst, "name", a.Name)
			dst = appendOptional(dst, "description", a.Description)
			dst = partsJSON(dst, a.Parts)
			dst = rawjson.AppendJSON(dst, "extensions", string(a.Extensions))
			dst = append(rawjson.AppendJSON(dst, "metadata", string(a.Metadata)), '}')
		}
		dst = append(dst, ']')
	}
	n = 0
	if ev.History != nil {
		dst = append(dst, `,"history":[`...)
		for m := range ev.History {
			dst = comma(dst, &n)
			dst = messageJSON(dst, &m)
		}
		dst = append(dst, ']')
	}
	return append(rawjson.AppendJSON(dst, "metadata", string(ev.Metadata)), '}')
}

func comma(dst []byte, n *int) []byte {
	if *n++; *n > 1 {
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
	n := 0
	for p := range parts.All() {
		dst = comma(dst, &n)
		dst = append(dst, partJSON(p)...)
	}
	return append(dst, ']')
}
