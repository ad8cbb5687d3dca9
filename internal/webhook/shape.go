package webhook

import (
	"encoding/json"
	"errors"
	"unicode/utf8"
)

// A shape is what the receiver reads of a push. The bridge interprets the rest.
type shape struct {
	// grows: an event that appends. Two equal ones may still be two events.
	grows bool
}

var errShape = errors.New("neither a task nor an event of A2A")

// readShape checks that a body is an A2A push: a Task or an event with its kind (0.3),
// or a StreamResponse, which has one of four members (1.x). It reads nothing else of
// the body.
func readShape(body []byte) (shape, error) {
	if !utf8.Valid(body) {
		return shape{}, errors.New("not UTF-8")
	}
	var p struct {
		identified
		Kind           string          `json:"kind"`
		Status         json.RawMessage `json:"status"`
		Task           *identified     `json:"task"`
		Message        *identified     `json:"message"`
		StatusUpdate   *identified     `json:"statusUpdate"`
		ArtifactUpdate *identified     `json:"artifactUpdate"`
	}
	if err := json.Unmarshal(body, &p); err != nil {
		return shape{}, err
	}
	kind, of, wrapped := p.Kind, &p.identified, 0
	for _, member := range [...]struct {
		kind string
		of   *identified
	}{{"task", p.Task}, {"message", p.Message}, {"status-update", p.StatusUpdate}, {"artifact-update", p.ArtifactUpdate}} {
		if member.of != nil {
			kind, of = member.kind, member.of
			wrapped++
		}
	}
	hasStatus := len(p.Status) > 0 && p.Status[0] == '{' // without a kind nothing else tells a task
	switch {
	case wrapped > 1:
	case (kind == "task" || kind == "") && of.ID != "" && (wrapped == 1 || hasStatus),
		kind == "message" && of.MessageID != "",
		kind == "status-update" && of.TaskID != "":
		return shape{}, nil
	case kind == "artifact-update" && of.TaskID != "":
		return shape{grows: of.Append}, nil
	}
	return shape{}, errShape
}

// identified has the members that identify one of a StreamResponse's members.
type identified struct {
	ID        string `json:"id"`
	TaskID    string `json:"taskId"`
	MessageID string `json:"messageId"`
	Append    bool   `json:"append"`
}

// identity returns a key that a push shares with its repetition, "" if none is known.
// A2A has no ID for events. A repeated task or replacing event says nothing new. An
// appending event does, unless the agent has given it an ID.
func identity(id string, s shape, body []byte) string {
	var of string
	switch {
	case id != "":
		of = "id " + id
	case s.grows:
		return ""
	default:
		of = "body " + string(body)
	}
	return hashed([]byte(of))
}
