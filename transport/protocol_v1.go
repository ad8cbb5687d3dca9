package transport

import (
	"encoding/json"
	"net/http"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// protocolV1 is A2A 1.x.
type protocolV1 struct {
	// tenant is that of the chosen interface; it goes with every request.
	tenant string
}

var _ protocol = protocolV1{}

func openV1(i a2a.Interface) protocol { return protocolV1{tenant: i.Tenant} }

// v1Speaks takes any minor version: within 1.x they must not matter.
func v1Speaks(cardVersion string) bool {
	major, _ := majorMinor(cardVersion)
	return major == "1"
}

func (protocolV1) name() string { return "1.0" }

func (protocolV1) extensionHeader() string { return "A2A-Extensions" }

// header: exactly 1.0, whatever minor version the card says. The JS SDK selects
// its parser by it, and answers -32009 to 1.1 and to 1.0.1.
func (protocolV1) header(h http.Header) { h.Set("A2A-Version", "1.0") }

// The request shapes of 1.0 (specification 1.0, §4 and §9). Nothing may be in
// them that is not declared: Python's servers refuse a message for it.
type (
	v1Send struct {
		Tenant        string                     `json:"tenant,omitempty"`
		Message       v1Message                  `json:"message"`
		Configuration *v1Configuration           `json:"configuration,omitempty"`
		Metadata      map[string]json.RawMessage `json:"metadata,omitempty"`
	}
	v1Configuration struct {
		AcceptedOutputModes []string `json:"acceptedOutputModes,omitempty"`
		ReturnImmediately   bool     `json:"returnImmediately,omitempty"`
		Push                *v1Push  `json:"taskPushNotificationConfig,omitempty"`
		HistoryLength       *int     `json:"historyLength,omitempty"`
	}
	v1Message struct {
		MessageID        string                     `json:"messageId"`
		Role             string                     `json:"role"`
		ContextID        string                     `json:"contextId,omitempty"`
		TaskID           string                     `json:"taskId,omitempty"`
		ReferenceTaskIDs []string                   `json:"referenceTaskIds,omitempty"`
		Parts            []v1Part                   `json:"parts"`
		Metadata         map[string]json.RawMessage `json:"metadata,omitempty"`
		Extensions       []string                   `json:"extensions,omitempty"`
	}
	v1Part struct {
		Text      *string         `json:"text,omitempty"`
		Raw       *string         `json:"raw,omitempty"`
		URL       string          `json:"url,omitempty"`
		Data      json.RawMessage `json:"data,omitempty"`
		Filename  string          `json:"filename,omitempty"`
		MediaType string          `json:"mediaType,omitempty"`
		Metadata  json.RawMessage `json:"metadata,omitempty"`
	}
	v1Task struct {
		Tenant        string `json:"tenant,omitempty"`
		ID            string `json:"id"`
		HistoryLength *int   `json:"historyLength,omitempty"`
	}
)

func (p protocolV1) params(c *operation) (any, error) {
	switch c.kind {
	case opSend:
		// 0.3's flag with the opposite polarity: 1.x blocks unless it is told not to.
		return p.sendOf(c.message, !c.blocking)
	case opStream:
		return p.sendOf(c.message, false)
	case opGet:
		params := v1Task{Tenant: p.tenant, ID: c.taskID}
		if c.history >= 0 {
			params.HistoryLength = &c.history
		}
		return params, nil
	case opCancel, opSubscribe:
		return v1Task{Tenant: p.tenant, ID: c.taskID}, nil
	}
	return p.taskParams(c)
}

func (p protocolV1) sendOf(m *a2a.Outgoing, returnImmediately bool) (*v1Send, error) {
	if err := checkOutgoing(m); err != nil {
		return nil, err
	}
	params := &v1Send{Tenant: p.tenant, Message: v1Message{
		MessageID:        m.ID,
		Role:             "ROLE_USER",
		ContextID:        m.ContextID,
		TaskID:           m.TaskID,
		ReferenceTaskIDs: m.ReferenceTaskIDs,
		Parts:            make([]v1Part, len(m.Parts)),
		Metadata:         m.Metadata,
		Extensions:       m.Extensions,
	}}
	for i := range m.Parts {
		params.Message.Parts[i] = v1PartOf(&m.Parts[i])
	}
	push, err := v1PushOf(m.Push)
	if err != nil {
		return nil, err
	}
	params.Metadata = m.RequestMetadata
	if len(m.AcceptedOutputModes) > 0 || returnImmediately || push != nil || m.HistoryLength != nil {
		params.Configuration = &v1Configuration{m.AcceptedOutputModes, returnImmediately, push, m.HistoryLength}
	}
	return params, nil
}

func v1PartOf(p *a2a.OutPart) v1Part {
	switch {
	case p.File != nil:
		part := v1Part{URL: p.File.URI, Filename: p.File.Name, MediaType: p.File.MediaType, Metadata: p.Metadata}
		if part.URL == "" {
			part.Raw = &p.File.Bytes
		}
		return part
	case p.Data != nil:
		return v1Part{Data: p.Data, Metadata: p.Metadata}
	}
	return v1Part{Text: &p.Text, Metadata: p.Metadata}
}

func (protocolV1) decode(raw string, ev *a2a.Event) {
	r := reading{endsLeg: v1EndsLeg, again: v1Again}
	r.decode(raw, ev)
}

func v1Again(raw string) *a2a.Event {
	ev := new(a2a.Event)
	protocolV1{}.decode(raw, ev)
	return ev
}

// v1EndsLeg: a terminal state, or a change to input-required. A snapshot that says
// input-required is no end: the first event after an answer may be one, from
// before the answer was taken. auth-required is none either: the agent may go
// on by itself. final is 0.3's, and sent by Mastra.
func v1EndsLeg(kind a2a.EventKind, state a2a.State, final bool) bool {
	return kind == a2a.EventMessage || state.Terminal() ||
		kind == a2a.EventStatus && (final || state == a2a.StateInputRequired)
}
