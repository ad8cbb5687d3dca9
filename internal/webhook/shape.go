package webhook

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"unicode/utf8"
)

// A shape is what the receiver looks at in a push. What it means is the bridge's
// business.
type shape struct {
	// grows: an event that appends to what is there. Two of them may be the same
	// and still be two.
	grows bool
}

var errShape = errors.New("neither a task nor an event of A2A")

// readShape checks that a body is what A2A pushes: a Task or an event with its kind
// (0.3), or a StreamResponse, which has one of four members (1.x). What a body holds
// beside that is not looked at.
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

// identified is what tells one of a StreamResponse's members.
type identified struct {
	ID        string `json:"id"`
	TaskID    string `json:"taskId"`
	MessageID string `json:"messageId"`
	Append    bool   `json:"append"`
}

// identity returns what is the same for a push and its repetition, "" if nothing
// can tell. A2A has no ID for events. A whole task, or an event that replaces, says
// nothing new the second time; an event that appends does, unless the agent has
// given it an ID.
func identity(p proof, s shape, body []byte) string {
	var of string
	switch {
	case p.id != "":
		of = "id " + p.id
	case s.grows:
		return ""
	default:
		of = "body " + string(body)
	}
	sum := sha256.Sum256([]byte(of))
	return hex.EncodeToString(sum[:])
}
