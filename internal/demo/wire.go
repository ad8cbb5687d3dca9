package demo

import (
	"bytes"
	"encoding/json"
	"time"
)

// The states of a task, by their 0.3 names, which are neutral here.
const (
	stateSubmitted     = "submitted"
	stateWorking       = "working"
	stateInputRequired = "input-required"
	stateCompleted     = "completed"
	stateCanceled      = "canceled"
	stateFailed        = "failed"
)

// states are all that the protocol has; a filter may name those that no story comes to.
var states = []string{
	stateSubmitted, stateWorking, stateInputRequired, stateCompleted, stateCanceled, stateFailed, "rejected", "auth-required",
}

func terminal(state string) bool {
	return state == stateCompleted || state == stateCanceled || state == stateFailed
}

// The objects of A2A. Here a message's role is user or agent, parts are those of 1.0, and what
// 0.3 alone has is empty: see [wire].

type message struct {
	Kind             string                     `json:"kind,omitempty"` // 0.3
	ID               string                     `json:"messageId"`
	Role             string                     `json:"role"`
	Parts            []part                     `json:"parts"`
	TaskID           string                     `json:"taskId,omitempty"`
	ContextID        string                     `json:"contextId,omitempty"`
	Metadata         map[string]json.RawMessage `json:"metadata,omitempty"`
	Extensions       []string                   `json:"extensions,omitempty"`
	ReferenceTaskIDs []string                   `json:"referenceTaskIds,omitempty"`

	call *toolCall // what its part has, if that is one
}

// A part is a text, data, or a file: by value (Raw, in base64) or by reference (URL).
type part struct {
	Kind      string                     `json:"kind,omitempty"` // 0.3
	Text      *string                    `json:"text,omitempty"`
	File      *fileV03                   `json:"file,omitempty"` // 0.3
	Raw       string                     `json:"raw,omitempty"`
	URL       string                     `json:"url,omitempty"`
	Data      json.RawMessage            `json:"data,omitempty"`
	Filename  string                     `json:"filename,omitempty"`
	MediaType string                     `json:"mediaType,omitempty"`
	Metadata  map[string]json.RawMessage `json:"metadata,omitempty"`
}

type fileV03 struct {
	Name     string `json:"name,omitempty"`
	MimeType string `json:"mimeType,omitempty"`
	Bytes    string `json:"bytes,omitempty"`
	URI      string `json:"uri,omitempty"`
}

type status struct {
	State   string    `json:"state"`
	Message *message  `json:"message,omitempty"`
	At      time.Time `json:"timestamp"`
}

// A taskView is a task at one moment.
type taskView struct {
	Kind      string    `json:"kind,omitempty"` // 0.3
	ID        string    `json:"id"`
	ContextID string    `json:"contextId"`
	Status    status    `json:"status"`
	History   []message `json:"history,omitempty"`
}

type statusUpdate struct {
	Kind      string         `json:"kind,omitempty"` // 0.3
	TaskID    string         `json:"taskId"`
	ContextID string         `json:"contextId"`
	Status    status         `json:"status"`
	Final     *bool          `json:"final,omitempty"` // 0.3
	Metadata  map[string]any `json:"metadata,omitempty"`
}

// A sendRequest is a client's message.
type sendRequest struct {
	message       *message
	blocking      bool
	historyLength *int
	push          bool // a webhook is named
}

// encoded is the JSON of our own structs, or of what has arrived as JSON.
func encoded(v any) json.RawMessage {
	var b bytes.Buffer
	_ = writeJSON(&b, v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// An event is one entry of a task's log.
type event struct {
	created bool // the task itself; message is the prompt
	state   string
	final   bool
	message *message
	kind    string // DevelopmentToolEventKind
	err     string // DevelopmentToolEvent.error
	at      time.Time
}

// metadata returns an event's DevelopmentToolEvent, under the extension's key.
func (e event) metadata() map[string]any {
	return map[string]any{ExtensionURI: developmentToolEvent{
		Kind: e.kind, Model: "demo-1", UserTier: "demo", Error: e.err,
	}}
}
