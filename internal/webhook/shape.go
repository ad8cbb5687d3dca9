package webhook

import (
	"errors"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

var errShape = errors.New("neither a task nor an event of A2A")

// readShape checks that a body is an A2A push: a task or an event, of any version, that
// names its task, or its message. The bridge reads the rest. grows: it is an event that
// appends. Two equal ones may still be two events.
func readShape(body []byte) (grows bool, err error) {
	if !utf8.Valid(body) || !rawjson.Valid(body) {
		return false, errors.New("not JSON in UTF-8")
	}
	ev := transport.ReadPushed(body)
	named := ev.TaskID
	if ev.Kind == a2a.EventMessage {
		named = ev.Message.ID
	}
	if ev.Kind == a2a.EventUnknown || named == "" {
		return false, errShape
	}
	return ev.Kind == a2a.EventArtifact && ev.Append, nil
}

// identity returns a key that a push shares with its repetition, "" if none is known.
// A2A has no ID for events. A repeated task or replacing event says nothing new. An
// appending event does, unless the agent has given it an ID.
func identity(id string, grows bool, body []byte) string {
	var of string
	switch {
	case id != "":
		of = "id " + id
	case grows:
		return ""
	default:
		of = "body " + string(body)
	}
	return hashed([]byte(of))
}
