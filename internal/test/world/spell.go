package world

import (
	"strconv"
	"strings"
)

// A spelling is an agent's form of A2A: 0.3 (specification §6, §7) or 1.0 (proto-JSON,
// §4). explicit writes false members.
type spelling struct{ v1, explicit bool }

// A part is text, or data if that is set.
type part struct{ text, data string }

// A message is the agent's or the user's.
type message struct {
	id       string
	user     bool
	parts    []part
	metadata string // a JSON object, "" for none
}

// An artifact is a task's artifact, or a piece of it.
type artifact struct {
	id, name string
	parts    []part
}

func quote(b []byte, s string) []byte { return strconv.AppendQuote(b, s) } // all of ours is ASCII

func (s spelling) member(b []byte, name, value string) []byte {
	b = append(b, '"')
	b = append(b, name...)
	b = append(b, `":`...)
	return quote(b, value)
}

func (s spelling) state(state State) string {
	if s.v1 {
		return "TASK_STATE_" + strings.ToUpper(strings.ReplaceAll(string(state), "-", "_"))
	}
	return string(state)
}

func (s spelling) part(b []byte, p part) []byte {
	b = append(b, '{')
	switch {
	case p.data != "" && s.v1:
		b = append(append(b, `"data":`...), p.data...)
	case p.data != "":
		b = append(append(b, `"kind":"data","data":`...), p.data...)
	case s.v1:
		b = s.member(b, "text", p.text)
	default:
		b = s.member(append(b, `"kind":"text",`...), "text", p.text)
	}
	return append(b, '}')
}

func (s spelling) parts(b []byte, parts []part) []byte {
	b = append(b, `"parts":[`...)
	for i, p := range parts {
		if i > 0 {
			b = append(b, ',')
		}
		b = s.part(b, p)
	}
	return append(b, ']')
}

func (s spelling) message(b []byte, m *message, task, context string) []byte {
	role := "agent"
	if m.user {
		role = "user"
	}
	if s.v1 {
		role = "ROLE_" + strings.ToUpper(role)
	}
	b = append(b, '{')
	if !s.v1 {
		b = append(b, `"kind":"message",`...)
	}
	b = append(s.member(b, "messageId", m.id), ',')
	b = append(s.member(b, "role", role), ',')
	if task != "" {
		b = append(s.member(b, "taskId", task), ',')
	}
	if context != "" {
		b = append(s.member(b, "contextId", context), ',')
	}
	b = s.parts(b, m.parts)
	return append(b, '}')
}

func (s spelling) artifact(b []byte, a *artifact) []byte {
	b = append(s.member(append(b, '{'), "artifactId", a.id), ',')
	if a.name != "" {
		b = append(s.member(b, "name", a.name), ',')
	}
	return append(s.parts(b, a.parts), '}')
}

func (s spelling) status(b []byte, state State, m *message) []byte {
	b = append(b, `"status":{`...)
	b = s.member(b, "state", s.state(state))
	if m != nil {
		b = append(b, `,"message":`...)
		b = s.message(b, m, "", "")
	}
	return append(b, `},`...)
}

// statusUpdate is the payload of a status update, which has the message's metadata.
func (s spelling) statusUpdate(t *task, state State, m *message, final bool) []byte {
	b := []byte(`{"kind":"status-update",`)
	if s.v1 {
		b = []byte(`{"statusUpdate":{`)
	}
	b = append(s.member(b, "taskId", t.id), ',')
	b = append(s.member(b, "contextId", t.context), ',')
	b = s.status(b, state, m)
	if m != nil && m.metadata != "" {
		b = append(append(append(b, `"metadata":`...), m.metadata...), ',')
	}
	if !s.v1 && (final || s.explicit) {
		b = append(strconv.AppendBool(append(b, `"final":`...), final), ',')
	}
	return s.end(b)
}

// end closes a payload.
func (s spelling) end(b []byte) []byte {
	b[len(b)-1] = '}' // where the last comma is
	if s.v1 {
		b = append(b, '}')
	}
	return b
}

func (s spelling) artifactUpdate(t *task, a *artifact, follows, last bool) []byte {
	b := []byte(`{"kind":"artifact-update",`)
	if s.v1 {
		b = []byte(`{"artifactUpdate":{`)
	}
	b = append(s.member(b, "taskId", t.id), ',')
	b = append(s.member(b, "contextId", t.context), ',')
	b = append(s.artifact(append(b, `"artifact":`...), a), ',')
	if follows || s.explicit {
		b = append(strconv.AppendBool(append(b, `"append":`...), follows), ',')
	}
	if last || s.explicit {
		b = append(strconv.AppendBool(append(b, `"lastChunk":`...), last), ',')
	}
	return s.end(b)
}

// direct is the payload of a message without a task.
func (s spelling) direct(m *message, context string) []byte {
	if s.v1 {
		return append(s.message([]byte(`{"message":`), m, "", context), '}')
	}
	return s.message(nil, m, "", context)
}

// task is a task as the agent shows it: with its status's message, nil for none, and
// the newest length messages of its history.
func (s spelling) task(t *task, m *message, length int) []byte {
	b := []byte(`{`)
	if !s.v1 {
		b = append(b, `"kind":"task",`...)
	}
	b = append(s.member(b, "id", t.id), ',')
	b = append(s.member(b, "contextId", t.context), ',')
	b = s.status(b, t.state, m)
	if history := t.history(); len(history) > 0 && length > 0 {
		b = append(b, `"history":[`...)
		for _, m := range history[max(0, len(history)-length):] {
			b = append(s.message(b, m, "", ""), ',')
		}
		b[len(b)-1] = ']'
		b = append(b, ',')
	}
	if len(t.artifacts) > 0 {
		b = append(b, `"artifacts":[`...)
		for _, a := range t.artifacts {
			b = append(s.artifact(b, a), ',')
		}
		b[len(b)-1] = ']'
		b = append(b, ',')
	}
	b[len(b)-1] = '}'
	return b
}

// wrapped is a task as an event, or as the answer to a message.
func (s spelling) wrapped(task []byte) []byte {
	if !s.v1 {
		return task
	}
	return append(append([]byte(`{"task":`), task...), '}')
}
