package talk

import (
	"encoding/json"
	"io"
	"strings"
	"unsafe"

	"github.com/google/uuid"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/spell"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// eventsOutput writes events of A2A lines as they come.
type eventsOutput struct {
	nothingMore
	out   io.Writer
	lines spell.Lines
	buf   []byte
}

func (o *eventsOutput) show(steps []mapping.Step) error {
	o.buf = o.lines.Append(o.buf[:0], steps)
	_, err := o.out.Write(o.buf)
	return err
}

// streamOutput writes the agent's events as they come, as A2A 1.0's StreamResponse.
// After a lost connection it leaves out what says nothing new.
type streamOutput struct {
	nothingMore
	out  io.Writer
	say  func(format string, args ...any)
	from func() transport.Chosen // how the agent is asked
}

func (o *streamOutput) show(steps []mapping.Step) error {
	last := (*byte)(nil)
	for i := range steps {
		s := &steps[i]
		sayAside(o.say, s)
		at := unsafe.StringData(string(s.Raw))
		if s.Raw == "" || at == last { // several steps of one event share its bytes
			continue
		}
		last = at
		if err := frame.WriteJSON(o.out, V1Event(s.Raw, o.from())); err != nil {
			return err
		}
	}
	return nil
}

// nothingMore is the end of what is written as it comes.
type nothingMore struct{}

func (nothingMore) End(bridge.Result, string) error { return nil }

// jsonOutput collects the turn, and writes it at the end as an A2A 1.0 task
// (specification 1.0, §4.1), or as a message if the agent made no task. The history has
// what the agent said while it worked; the status has its last message. Thoughts and
// tool calls have no place in a task: events have them.
//
// It cannot write earlier: messages and artifacts may alternate, an artifact may begin
// anew, and the state at the end comes last.
type jsonOutput struct {
	out       io.Writer
	say       func(format string, args ...any)
	messages  ordered[messageJSON]
	artifacts ordered[artifactJSON]
	timestamp string // of the last state
	// alone is what messages said, without repetitions: a document has room for one message, and
	// outside of a task each token may be one (Microsoft's Agent Framework, Agno). shown is the
	// message that people saw last.
	alone saidJSON
	shown string
	// repeated is the message that the last step repeats, and known that the document had it.
	repeated string
	known    bool
}

// ordered are messages, or artifacts, in the order of their beginning.
type ordered[T any] struct {
	list []*T
	byID map[string]*T
}

// find returns what has an ID, and makes it if there is none.
func (o *ordered[T]) find(id string) (item *T, isNew bool) {
	if item = o.byID[id]; item != nil {
		return item, false
	}
	if o.byID == nil {
		o.byID = map[string]*T{}
	}
	item = new(T)
	o.byID[strings.Clone(id)] = item
	o.list = append(o.list, item)
	return item, true
}

type taskJSON struct {
	ID        string          `json:"id"`
	ContextID string          `json:"contextId,omitempty"`
	Status    statusJSON      `json:"status"`
	Artifacts []*artifactJSON `json:"artifacts,omitempty"`
	History   []*messageJSON  `json:"history,omitempty"`
	Metadata  json.RawMessage `json:"metadata,omitempty"`
}

type statusJSON struct {
	State     string       `json:"state"`
	Timestamp string       `json:"timestamp,omitempty"`
	Message   *messageJSON `json:"message,omitempty"`
}

type messageJSON struct {
	MessageID string `json:"messageId,omitempty"`
	ContextID string `json:"contextId,omitempty"`
	TaskID    string `json:"taskId,omitempty"`
	Role      string `json:"role"`
	saidJSON
}

type artifactJSON struct {
	ArtifactID  string `json:"artifactId"`
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
	saidJSON
}

// saidJSON is what messages and artifacts have both.
type saidJSON struct {
	Metadata   json.RawMessage `json:"metadata,omitempty"`
	References json.RawMessage `json:"referenceTaskIds,omitempty"`
	Extensions json.RawMessage `json:"extensions,omitempty"`
	Parts      []partJSON      `json:"parts"`
}

type partJSON struct {
	Text  *growingText    `json:"text,omitempty"`
	Raw   *string         `json:"raw,omitempty"` // may be empty
	URL   string          `json:"url,omitempty"`
	Data  json.RawMessage `json:"data,omitempty"`
	Name  string          `json:"filename,omitempty"`
	Media string          `json:"mediaType,omitempty"`
	Meta  json.RawMessage `json:"metadata,omitempty"`
}

// A growingText does not copy what it has for each text that comes.
type growingText struct{ strings.Builder }

func (t *growingText) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// show copies what it keeps, because steps are views.
func (o *jsonOutput) show(steps []mapping.Step) error {
	for i := range steps {
		s := &steps[i]
		if o.isKnown(s) {
			continue
		}
		switch s.Kind {
		case mapping.StepText, mapping.StepPart:
			o.said(s).add(s, false)
			if s.ArtifactID == "" && !s.Repeats {
				o.alone.add(s, s.Shown != o.shown)
				o.shown = strings.Clone(s.Shown)
			}
		case mapping.StepState:
			o.timestamp = strings.Clone(s.Timestamp)
		}
		sayAside(o.say, s)
	}
	return nil
}

// sayAside tells the user what has no place in what the agent said.
func sayAside(say func(format string, args ...any), s *mapping.Step) {
	switch {
	case s.Kind == mapping.StepError, s.Kind == mapping.StepNotice:
		say("%s", strings.TrimSpace(s.Text))
	case s.Kind == mapping.StepConnection && s.Connection.Gap:
		say("the connection was lost, and the agent may not hold all that it said meanwhile")
	}
}

// isKnown reports whether a step repeats what the document has of its message already. What
// repeats another's text belongs into the document.
func (o *jsonOutput) isKnown(s *mapping.Step) bool {
	if !s.Repeats || s.ArtifactID != "" {
		o.repeated = ""
		return false
	}
	if o.repeated != s.MessageID {
		o.repeated = strings.Clone(s.MessageID)
		o.known = len(o.message(s).Parts) > 0
	}
	return o.known
}

// message finds or makes the message of a step.
func (o *jsonOutput) message(s *mapping.Step) *messageJSON {
	m, isNew := o.messages.find(s.MessageID)
	if isNew {
		m.MessageID, m.Role = strings.Clone(s.MessageID), "ROLE_AGENT"
	}
	return m
}

// said finds or makes the message or artifact of a step.
func (o *jsonOutput) said(s *mapping.Step) (said *saidJSON) {
	if s.ArtifactID == "" {
		said = &o.message(s).saidJSON
	} else {
		a, isNew := o.artifacts.find(s.ArtifactID)
		if isNew {
			a.ArtifactID, a.Name, a.Description = strings.Clone(s.ArtifactID), strings.Clone(s.Name), strings.Clone(s.Description)
		} else if !s.Append { // it begins anew
			a.saidJSON = saidJSON{}
		}
		said = &a.saidJSON
	}
	copyJSON(&said.Metadata, s.Own.Metadata)
	copyJSON(&said.References, s.Own.ReferenceTaskIDs)
	copyJSON(&said.Extensions, s.Own.Extensions)
	return said
}

// copyJSON copies a member that not every step repeats.
func copyJSON(to *json.RawMessage, from a2a.JSON) {
	if from != "" {
		*to = json.RawMessage(strings.Clone(string(from)))
	}
}

// add adds a step's text or part. anew: the text does not go on with the one at the end.
func (s *saidJSON) add(step *mapping.Step, anew bool) {
	if step.Kind == mapping.StepText {
		s.text(step.Text, step.Own.Part, anew)
	} else {
		s.Parts = append(s.Parts, partOf(step.Part))
	}
}

// text goes on with the text at the end, or begins one.
func (s *saidJSON) text(text string, metadata a2a.JSON, anew bool) {
	n := len(s.Parts)
	if anew || n == 0 || s.Parts[n-1].Text == nil || metadata != "" && string(s.Parts[n-1].Meta) != string(metadata) {
		s.Parts = append(s.Parts, partJSON{Text: &growingText{}})
	}
	last := &s.Parts[len(s.Parts)-1]
	last.Text.WriteString(text)
	if last.Meta == nil {
		copyJSON(&last.Meta, metadata)
	}
}

// partOf returns a part that is no text.
func partOf(p *a2a.Part) (part partJSON) {
	switch p.Kind {
	case a2a.PartData:
		copyJSON(&part.Data, p.Data)
		copyJSON(&part.Meta, p.Metadata)
	case a2a.PartFile:
		part = partJSON{URL: strings.Clone(p.File.URI), Name: strings.Clone(p.File.Name), Media: strings.Clone(p.File.MediaType)}
		if raw := strings.Clone(p.File.Bytes); raw != "" || part.URL == "" { // each part has a content
			part.Raw = &raw
		}
		copyJSON(&part.Meta, p.Metadata)
	default:
		copyJSON(&part.Data, p.Raw)
	}
	return part
}

// End writes the document; none after an error without a task.
func (o *jsonOutput) End(result bridge.Result, failure string) error {
	var last *messageJSON
	for _, last = range o.messages.list {
		last.ContextID, last.TaskID = result.ContextID, result.TaskID
	}
	switch {
	case result.TaskID != "" && result.State != "":
		if failure != "" {
			last = &messageJSON{MessageID: uuid.NewString(), ContextID: result.ContextID, TaskID: result.TaskID, Role: "ROLE_AGENT"}
			last.text(failure, "", true)
		}
		return frame.WriteJSON(o.out, map[string]any{"task": taskJSON{
			ID: result.TaskID, ContextID: result.ContextID,
			Status:    statusJSON{stateName(result.State), o.timestamp, last},
			Artifacts: o.artifacts.list, History: o.messages.list,
		}})
	case last != nil:
		if len(o.messages.list) > 1 {
			last.Parts = o.alone.Parts
		}
		return frame.WriteJSON(o.out, map[string]any{"message": last})
	}
	return nil
}
