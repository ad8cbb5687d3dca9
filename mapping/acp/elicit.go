package acp

// ElicitationRequest is elicitation/create's, in a session, or about a request of the client's
// that is being served. Mode is left out where MCP asks by a form: its clients before 2025-11-25
// know no other.
type ElicitationRequest struct {
	SessionID string `json:"sessionId,omitempty"`
	RequestID any    `json:"requestId,omitempty"`
	Mode      string `json:"mode,omitempty"`
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

// The modes of an elicitation, and the answer that agrees. Any other says no.
const (
	ElicitForm   = "form"
	ElicitURL    = "url"
	ElicitAccept = "accept"
)
