package webhook

import (
	"crypto/sha256"
	"encoding/hex"
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
		Kind           string          `json:"kind"`
		ID             string          `json:"id"`
		TaskID         string          `json:"taskId"`
		MessageID      string          `json:"messageId"`
		Status         json.RawMessage `json:"status"`
		Append         bool            `json:"append"`
		Task           *identified     `json:"task"`
		Message        *identified     `json:"message"`
		StatusUpdate   *identified     `json:"statusUpdate"`
		ArtifactUpdate *identified     `json:"artifactUpdate"`
	}
	if err := json.Unmarshal(body, &p); err != nil {
		return shape{}, err
	}
	wrapped := 0
	for _, inner := range []*identified{p.Task, p.Message, p.StatusUpdate, p.ArtifactUpdate} {
		if inner != nil {
			wrapped++
		}
	}
	switch {
	case wrapped > 1:
		return shape{}, errShape
	case p.Task != nil && p.Task.ID != "", p.Message != nil && p.Message.MessageID != "", p.StatusUpdate != nil && p.StatusUpdate.TaskID != "":
		return shape{}, nil
	case p.ArtifactUpdate != nil && p.ArtifactUpdate.TaskID != "":
		return shape{grows: p.ArtifactUpdate.Append}, nil
	case wrapped > 0:
		return shape{}, errShape
	case p.Kind == "artifact-update" && p.TaskID != "":
		return shape{grows: p.Append}, nil
	case p.Kind == "status-update" && p.TaskID != "", p.Kind == "message" && p.MessageID != "",
		(p.Kind == "task" || p.Kind == "") && p.ID != "" && len(p.Status) > 0 && p.Status[0] == '{':
		return shape{}, nil
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
