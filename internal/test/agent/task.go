package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// A Task is a task as the A2A SDKs hold it: a status message that is replaced goes into
// the history, and artifacts are appended to or replaced.
type Task struct {
	ID, Context string
	State       State
	Message     *Message
	History     []*Message
	Artifacts   []*Artifact
	Metadata    map[string]any
}

// hear takes a message of the user's.
func (t *Task) hear(m *Message) {
	t.settle()
	t.History = append(t.History, m)
}

// settle moves the status message into the history.
func (t *Task) settle() {
	if t.Message != nil {
		t.History = append(t.History, t.Message)
		t.Message = nil
	}
}

// Take does to the task what a step says.
func (t *Task) Take(s *Step) {
	if s.Task != nil {
		*t = *s.Task
		return
	}
	if s.State != "" {
		t.State = s.State
	}
	if s.Kept != nil {
		t.Metadata = s.Kept
	}
	switch m := s.Message; {
	case s.Kind == Direct:
	case m == nil && s.State == "":
	case m == nil: // a status without a message has none of the one before
		t.settle()
	case m.User:
		t.hear(m)
	default:
		t.settle()
		t.Message = m
	}
	if s.Artifact == nil {
		return
	}
	a := *s.Artifact
	i := slices.IndexFunc(t.Artifacts, func(old *Artifact) bool { return old.ID == a.ID })
	switch {
	case i < 0:
		t.Artifacts = append(t.Artifacts, &a)
		return
	case s.Append:
		a.Parts = slices.Concat(t.Artifacts[i].Parts, a.Parts)
	}
	t.Artifacts = slices.Clone(t.Artifacts)
	t.Artifacts[i] = &a
}

// A kept task is one of an agent's, which plays a turn in it.
type kept struct {
	Task
	agent *Agent
	turn  *Turn
	// earlier is what others of the conversation hold, for HistoryAll.
	earlier []*Message
	// rest are the steps that are not said. waiting: they come with the next message.
	rest     []*Step
	waiting  bool
	asks     []string
	answers  map[string]string // by call
	rejected map[string]bool   // calls whose end was told
	busy     bool              // its steps are being played
	gone     bool              // cancelled
	streams  []*stream
	opened   int // streams of the turn
	versions []dated
	users    []string        // the IDs of the user's messages of the turn
	held     json.RawMessage // what tasks/get answers instead
	newest   json.RawMessage // event
}

type dated struct {
	at   time.Time
	json json.RawMessage
}

// shown is the task as it is shown.
func (t *kept) shown() *Task {
	s := t.Task
	switch t.agent.script.History {
	case HistoryNone:
		s.History = nil
	case HistoryAll:
		s.History = slices.Concat(t.earlier, t.History)
	case HistoryFresh:
		s.History = slices.Clone(t.History)
		for i, m := range s.History {
			fresh := *m
			fresh.ID = t.agent.number("fresh")
			s.History[i] = &fresh
		}
	}
	if t.agent.script.Keep != nil {
		s.Artifacts = slices.Clone(s.Artifacts)
		t.agent.script.Keep(&s)
	}
	return &s
}

// named puts the IDs of the user's messages in the place of those that stand for them.
func (t *kept) named(raw json.RawMessage) json.RawMessage {
	for i, id := range t.turn.Users[:min(len(t.turn.Users), len(t.users))] {
		if id != "" {
			raw = bytes.ReplaceAll(raw, []byte(strconv.Quote(id)), []byte(strconv.Quote(t.users[i])))
		}
	}
	return raw
}

// json is the task on the wire, as tasks/get answers it.
func (t *kept) json() json.RawMessage {
	if t.held != nil {
		return t.named(t.held)
	}
	now := t.named(encode(t.agent.v.task(t.shown())))
	if t.agent.script.Get != GetStale {
		return now
	}
	for _, d := range slices.Backward(t.versions) {
		if time.Since(d.at) >= Delay {
			return d.json
		}
	}
	return t.versions[0].json
}

// note keeps the version that GetStale shows later.
func (t *kept) note() {
	if t.agent.script.Get == GetStale {
		t.versions = append(t.versions, dated{time.Now(), encode(t.agent.v.task(t.shown()))})
	}
}

// number makes an ID.
func (a *Agent) number(kind string) string {
	a.numbers[kind]++
	return fmt.Sprintf("%s-%d", kind, a.numbers[kind])
}
