package acp

import (
	"encoding/json"
)

// This file has the words of version 2 that version 1 lacks, or has otherwise.

// Version2 is the version of the protocol beside [Version].
const Version2 = 2

// The methods of version 2 that version 1 has under other names, or lacks. Steering is a
// convention of agents and clients.
const (
	MethodAuthLogin  = "auth/login"
	MethodAuthLogout = "auth/logout"
	MethodSteering   = "_session/steering"

	MethodSessionUpdate = "session/update"
)

// CodeUnsupportedVersion says that no version is served that the client could speak.
const CodeUnsupportedVersion = -32022

// The states of a session.
const (
	StateRunning        = "running"
	StateRequiresAction = "requires_action"
	StateIdle           = "idle"
)

// StopError is the stop reason of a turn that has failed.
const StopError = "error"

// ToolCancelled is the state of a tool call that was cancelled.
const ToolCancelled = "cancelled"

// What became of a message for a turn that runs.
const (
	SteeringInjected = "injected"
	SteeringNewTurn  = "startedNewTurn"
	SteeringPrompt   = "promptRequired"
	SteeringFailed   = "failed"
)

// ElicitationRequest is elicitation/create's, in a session, or about a request of the client's
// that is being served.
type ElicitationRequest struct {
	SessionID string `json:"sessionId,omitempty"`
	RequestID any    `json:"requestId,omitempty"`
	Mode      string `json:"mode"`
	Message   string `json:"message"`
	// Schema is of mode form; ElicitationID and URL are of mode url.
	Schema        *ElicitationSchema `json:"requestedSchema,omitempty"`
	ElicitationID string             `json:"elicitationId,omitempty"`
	URL           string             `json:"url,omitempty"`
}

// ElicitationSchema is a form.
type ElicitationSchema struct {
	Type       string         `json:"type"`
	Properties map[string]any `json:"properties"`
	Required   []string       `json:"required,omitempty"`
}

// ElicitationResponse answers it.
type ElicitationResponse struct {
	Action  string                     `json:"action"`
	Content map[string]json.RawMessage `json:"content,omitempty"`
}

// The modes of an elicitation, and the answer that agrees. Any other says no.
const (
	ElicitForm   = "form"
	ElicitURL    = "url"
	ElicitAccept = "accept"
)

// ElicitationAnswer is the member for the user's words in the form of [NewElicitation].
const ElicitationAnswer = "answer"

// NewElicitation asks for an answer in words.
func NewElicitation(session, question string) *ElicitationRequest {
	field := json.RawMessage(`{"type":"string","title":"Answer","minLength":1}`)
	return &ElicitationRequest{SessionID: session, Mode: ElicitForm, Message: question, Schema: &ElicitationSchema{Type: "object",
		Properties: map[string]any{ElicitationAnswer: field}, Required: []string{ElicitationAnswer}}}
}

// The methods of a client that serves its files; version 2 has none.
const (
	MethodReadTextFile  = "fs/read_text_file"
	MethodWriteTextFile = "fs/write_text_file"
)

// ReadTextFileRequest is fs/read_text_file's. Line, from 1, and Limit are optional.
type ReadTextFileRequest struct {
	SessionID string `json:"sessionId"`
	Path      string `json:"path"`
	Line      int    `json:"line,omitempty"`
	Limit     int    `json:"limit,omitempty"`
}
