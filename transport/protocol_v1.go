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
		Tenant        string           `json:"tenant,omitempty"`
		Message       v1Message        `json:"message"`
		Configuration *v1Configuration `json:"configuration,omitempty"`
	}
	v1Configuration struct {
		AcceptedOutputModes []string `json:"acceptedOutputModes,omitempty"`
		ReturnImmediately   bool     `json:"returnImmediately,omitempty"`
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
	}
	v1Task struct {
		Tenant        string `json:"tenant,omitempty"`
		ID            string `json:"id"`
		HistoryLength *int   `json:"historyLength,omitempty"`
	}
)

func (p protocolV1) send(m *a2a.Outgoing, stream bool) (string, any, error) {
	if !stream {
		return p.sendOnce(m, false) // for 0.3's reason
	}
	params, err := p.sendOf(m, false)
	return "SendStreamingMessage", params, err
}

// sendOnce has 0.3's flag with the opposite polarity: 1.x blocks unless it is
// told not to.
func (p protocolV1) sendOnce(m *a2a.Outgoing, blocking bool) (string, any, error) {
	params, err := p.sendOf(m, !blocking)
	return "SendMessage", params, err
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
	if len(m.AcceptedOutputModes) > 0 || returnImmediately {
		params.Configuration = &v1Configuration{m.AcceptedOutputModes, returnImmediately}
	}
	return params, nil
}

func v1PartOf(p *a2a.OutPart) v1Part {
	switch {
	case p.File != nil:
		part := v1Part{URL: p.File.URI, Filename: p.File.Name, MediaType: p.File.MediaType}
		if part.URL == "" {
			part.Raw = &p.File.Bytes
		}
		return part
	case p.Data != nil:
		return v1Part{Data: p.Data}
	}
	return v1Part{Text: &p.Text}
}

func (p protocolV1) resubscribe(taskID string) (string, any) {
	return "SubscribeToTask", v1Task{Tenant: p.tenant, ID: taskID}
}

func (p protocolV1) get(taskID string, historyLength int) (string, any) {
	params := v1Task{Tenant: p.tenant, ID: taskID}
	if historyLength >= 0 {
		params.HistoryLength = &historyLength
	}
	return "GetTask", params
}

func (p protocolV1) cancel(taskID string) (string, any) {
	return "CancelTask", v1Task{Tenant: p.tenant, ID: taskID}
}

func (protocolV1) decode(raw string, ev *a2a.Event) {
	r := reading{endsLeg: v1EndsLeg, again: v1Again}
	r.decode(raw, ev)
}

func v1Again(raw a2a.JSON) *a2a.Event {
	ev := new(a2a.Event)
	protocolV1{}.decode(string(raw), ev)
	return ev
}

// v1EndsLeg: a terminal state, or input-required as news. A snapshot that says
// input-required is no end: the first event after an answer may be one, from
// before the answer was taken. auth-required is none either: the agent may go
// on by itself. final is 0.3's, and sent by Mastra.
func v1EndsLeg(kind a2a.EventKind, state a2a.State, final bool) bool {
	return kind == a2a.EventMessage || state.Terminal() ||
		kind == a2a.EventStatus && (final || state == a2a.StateInputRequired)
}
