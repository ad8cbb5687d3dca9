package acp

import "encoding/json"

// ElicitationRequest is elicitation/create's, about a request of the client's that
// is being served.
type ElicitationRequest struct {
	RequestID any    `json:"requestId"`
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

// ElicitationComplete is elicitation/complete's: what a URL was for is done.
type ElicitationComplete struct {
	ElicitationID string `json:"elicitationId"`
}

// The modes of an elicitation, and the answer that agrees. Any other says no.
const (
	ElicitForm   = "form"
	ElicitURL    = "url"
	ElicitAccept = "accept"
)

// ElicitationAnswer is the member of a form that [Elicitation] has for the user's words.
const ElicitationAnswer = "answer"

// Elicitation is elicitation/create's, with a form of one text.
type Elicitation struct {
	SessionID string            `json:"sessionId"`
	Mode      string            `json:"mode"`
	Message   string            `json:"message"`
	Schema    ElicitationSchema `json:"requestedSchema"`
}

// ElicitationString is a text in it.
type ElicitationString struct {
	Type      string `json:"type"`
	Title     string `json:"title"`
	MinLength int    `json:"minLength"`
}

// NewElicitation asks for an answer in words.
func NewElicitation(session, question string) *Elicitation {
	return &Elicitation{SessionID: session, Mode: "form", Message: question, Schema: ElicitationSchema{Type: "object",
		Properties: map[string]any{ElicitationAnswer: ElicitationString{Type: "string", Title: "Answer", MinLength: 1}}, Required: []string{ElicitationAnswer}}}
}
