package transport

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// protocolV03 is A2A 0.3 (and 0.2, which differs in nothing that we use).
type protocolV03 struct{}

var _ protocol = protocolV03{}

func openV03(a2a.Interface) protocol { return protocolV03{} }

// v03Speaks takes a card that says nothing for 0.3: trpc-a2a-go's does not, and
// 1.x made the member mandatory. Mastra's and hybrid cards say 0.3.0.
func v03Speaks(cardVersion string) bool {
	major, minor := majorMinor(cardVersion)
	return major == "" || major == "0" && (minor == "2" || minor == "3")
}

func (protocolV03) name() string { return "0.3" }

func (protocolV03) extensionHeader() string { return "X-A2A-Extensions" }

// header adds nothing: a 1.x server has to take the absence of A2A-Version for
// 0.3, and 0.3 servers do not know the header.
func (protocolV03) header(http.Header) {}

// The request shapes of 0.3 (specification 0.3, §7).
type (
	v03Send struct {
		Message       v03Message                 `json:"message"`
		Configuration *v03Configuration          `json:"configuration,omitempty"`
		Metadata      map[string]json.RawMessage `json:"metadata,omitempty"`
	}
	v03Configuration struct {
		AcceptedOutputModes    []string `json:"acceptedOutputModes,omitempty"`
		Blocking               *bool    `json:"blocking,omitempty"`
		PushNotificationConfig *v03Push `json:"pushNotificationConfig,omitempty"`
		HistoryLength          *int     `json:"historyLength,omitempty"`
	}
	v03Message struct {
		Kind             string                     `json:"kind"`
		MessageID        string                     `json:"messageId"`
		Role             string                     `json:"role"`
		ContextID        string                     `json:"contextId,omitempty"`
		TaskID           string                     `json:"taskId,omitempty"`
		ReferenceTaskIDs []string                   `json:"referenceTaskIds,omitempty"`
		Parts            []v03Part                  `json:"parts"`
		Metadata         map[string]json.RawMessage `json:"metadata,omitempty"`
		Extensions       []string                   `json:"extensions,omitempty"`
	}
	v03Part struct {
		Kind     string          `json:"kind"`
		Text     *string         `json:"text,omitempty"`
		File     *v03File        `json:"file,omitempty"`
		Data     json.RawMessage `json:"data,omitempty"`
		Metadata json.RawMessage `json:"metadata,omitempty"`
	}
	v03File struct {
		Name     string  `json:"name,omitempty"`
		MimeType string  `json:"mimeType,omitempty"`
		Bytes    *string `json:"bytes,omitempty"` // an empty file has them, empty
		URI      string  `json:"uri,omitempty"`
	}
	v03Task struct {
		ID            string `json:"id"`
		HistoryLength *int   `json:"historyLength,omitempty"`
	}
)

func (protocolV03) params(c *operation) (any, error) {
	switch c.kind {
	case opSend:
		// It says which it is in either case: 0.3 names no default.
		return v03SendOf(c.message, &c.blocking)
	case opStream:
		return v03SendOf(c.message, nil)
	case opGet:
		p := v03Task{ID: c.taskID}
		if c.history >= 0 {
			p.HistoryLength = &c.history
		}
		return p, nil
	case opCancel, opSubscribe:
		return v03Task{ID: c.taskID}, nil
	}
	return v03TaskParams(c), nil
}

func v03SendOf(m *a2a.Outgoing, blocking *bool) (*v03Send, error) {
	if err := checkOutgoing(m); err != nil {
		return nil, err
	}
	p := &v03Send{Message: v03Message{
		Kind:             "message",
		MessageID:        m.ID,
		Role:             string(a2a.RoleUser),
		ContextID:        m.ContextID,
		TaskID:           m.TaskID,
		ReferenceTaskIDs: m.ReferenceTaskIDs,
		Parts:            make([]v03Part, len(m.Parts)),
		Metadata:         m.Metadata,
		Extensions:       m.Extensions,
	}}
	for i := range m.Parts {
		p.Message.Parts[i] = v03PartOf(&m.Parts[i])
	}
	p.Metadata = m.RequestMetadata
	if len(m.AcceptedOutputModes) > 0 || m.Push != nil || blocking != nil || m.HistoryLength != nil {
		p.Configuration = &v03Configuration{m.AcceptedOutputModes, blocking, v03PushOf(m.Push), m.HistoryLength}
	}
	return p, nil
}

func v03PartOf(p *a2a.OutPart) v03Part {
	part := v03ContentOf(p)
	switch {
	case len(p.Metadata) == 0:
	case part.Metadata == nil:
		part.Metadata = p.Metadata
	default: // the marker, and what the caller says
		both := map[string]json.RawMessage{}
		for _, m := range []json.RawMessage{p.Metadata, part.Metadata} {
			_ = json.Unmarshal(m, &both) // both are objects: see checkOutgoing
		}
		part.Metadata, _ = json.Marshal(both)
	}
	return part
}

func v03ContentOf(p *a2a.OutPart) v03Part {
	switch {
	case p.File != nil:
		f := &v03File{Name: p.File.Name, MimeType: p.File.MediaType, URI: p.File.URI}
		if f.URI == "" {
			f.Bytes = &p.File.Bytes
		}
		return v03Part{Kind: "file", File: f}
	case p.Data != nil && !rawjson.IsObject(strings.TrimSpace(string(p.Data))):
		// 0.3 has objects only; this is how the SDKs carry the rest (parts.go).
		return v03Part{
			Kind:     "data",
			Data:     json.RawMessage(`{"value":` + string(p.Data) + `}`),
			Metadata: json.RawMessage(`{"` + compatMarker + `":true}`),
		}
	case p.Data != nil:
		return v03Part{Kind: "data", Data: p.Data}
	}
	return v03Part{Kind: "text", Text: &p.Text}
}

func (protocolV03) decode(raw string, ev *a2a.Event) {
	r := reading{endsLeg: v03EndsLeg, again: v03Again}
	r.decode(raw, ev)
}

func v03Again(raw string) *a2a.Event {
	ev := new(a2a.Event)
	protocolV03{}.decode(raw, ev)
	return ev
}

// v03EndsLeg: final is what 0.3 says for "nothing follows"; a terminal state
// means it also where final was forgotten. A snapshot of a task that waits for
// input is no end: it may be the first event of a stream that goes on.
func v03EndsLeg(kind a2a.EventKind, state a2a.State, final bool) bool {
	return kind == a2a.EventMessage || state.Terminal() || final && kind == a2a.EventStatus
}
