package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"unsafe"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// eventsOutput writes the events of the A2A lines protocol, as they come.
type eventsOutput struct {
	out   io.Writer
	lines mapping.Lines
	buf   []byte
}

func (o *eventsOutput) show(steps []mapping.Step) error {
	o.buf = o.lines.Append(o.buf[:0], steps)
	_, err := o.out.Write(o.buf)
	return err
}

func (o *eventsOutput) end(bridge.Result, string) error { return nil }

// streamOutput writes what the agent sends, as it comes, as A2A 1.0's
// StreamResponse. What says nothing new, after a lost connection, is left out.
type streamOutput struct {
	out io.Writer
	say func(format string, args ...any)
	buf []byte
}

func (o *streamOutput) show(steps []mapping.Step) error {
	o.buf = o.buf[:0]
	last := (*byte)(nil)
	for i := range steps {
		s := &steps[i]
		if s.Kind == mapping.StepNotice || s.Kind == mapping.StepError {
			o.say("%s", strings.TrimSpace(s.Text))
		}
		// Several steps may be one event's: they have the very same bytes.
		if at := unsafe.StringData(string(s.Raw)); s.Raw != "" && at != last {
			last = at
			var line bytes.Buffer
			if err := json.Compact(&line, v1Event(s.Raw)); err != nil {
				return err
			}
			o.buf = append(append(o.buf, line.Bytes()...), '\n')
		}
	}
	if len(o.buf) == 0 {
		return nil
	}
	_, err := o.out.Write(o.buf)
	return err
}

func (o *streamOutput) end(bridge.Result, string) error { return nil }

// jsonOutput collects the turn, and writes it at the end as A2A 1.0 spells a task
// (specification 1.0, §4.1), or a message if the agent made no task of it. What
// the agent says while it works is the history; the last of it is the status's
// message. Thoughts and tools have no place there: events have them.
type jsonOutput struct {
	out       io.Writer
	say       func(format string, args ...any)
	messages  []*messageJSON
	artifacts []*artifactJSON
}

type taskJSON struct {
	ID        string          `json:"id"`
	ContextID string          `json:"contextId,omitempty"`
	Status    statusJSON      `json:"status"`
	Artifacts []*artifactJSON `json:"artifacts,omitempty"`
	History   []*messageJSON  `json:"history,omitempty"`
}

type statusJSON struct {
	State   string       `json:"state"`
	Message *messageJSON `json:"message,omitempty"`
}

type messageJSON struct {
	ID        string     `json:"messageId,omitempty"`
	ContextID string     `json:"contextId,omitempty"`
	TaskID    string     `json:"taskId,omitempty"`
	Role      string     `json:"role"`
	Parts     []partJSON `json:"parts"`
}

type artifactJSON struct {
	ID    string     `json:"artifactId"`
	Name  string     `json:"name,omitempty"`
	Parts []partJSON `json:"parts"`
}

type partJSON struct {
	Raw   string          `json:"raw,omitempty"`
	URL   string          `json:"url,omitempty"`
	Data  json.RawMessage `json:"data,omitempty"`
	Name  string          `json:"filename,omitempty"`
	Media string          `json:"mediaType,omitempty"`

	text *strings.Builder // of a part that is text
}

// MarshalJSON implements [json.Marshaler].
func (p partJSON) MarshalJSON() ([]byte, error) {
	if p.text != nil {
		return encode(struct {
			Text string `json:"text"`
		}{p.text.String()})
	}
	type plain partJSON
	return encode(plain(p))
}

// encode is json.Marshal without its escapes for HTML: code is full of < and &.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return b.Bytes(), err
}

// show keeps copies: steps are views.
func (o *jsonOutput) show(steps []mapping.Step) error {
	for i := range steps {
		s := &steps[i]
		switch s.Kind {
		case mapping.StepText:
			o.add(s, partJSON{text: new(strings.Builder)})
		case mapping.StepPart:
			o.add(s, partOf(s.Part))
		case mapping.StepError, mapping.StepNotice:
			o.say("%s", strings.TrimSpace(s.Text))
		}
	}
	return nil
}

// add adds a part to its message or artifact; text goes on with the text before.
func (o *jsonOutput) add(s *mapping.Step, part partJSON) {
	parts := o.parts(s)
	if part.text != nil {
		if n := len(*parts); n > 0 && (*parts)[n-1].text != nil {
			part = (*parts)[n-1]
		} else {
			*parts = append(*parts, part)
		}
		part.text.WriteString(s.Text)
		return
	}
	*parts = append(*parts, part)
}

// parts finds the message or artifact that a step belongs to, or begins it.
func (o *jsonOutput) parts(s *mapping.Step) *[]partJSON {
	if s.ArtifactID != "" {
		for _, a := range o.artifacts {
			if a.ID == s.ArtifactID {
				if !s.Append {
					a.Parts = nil
				}
				return &a.Parts
			}
		}
		a := &artifactJSON{ID: strings.Clone(s.ArtifactID), Name: strings.Clone(s.Name)}
		o.artifacts = append(o.artifacts, a)
		return &a.Parts
	}
	for _, m := range o.messages {
		if m.ID == s.MessageID {
			return &m.Parts
		}
	}
	m := &messageJSON{ID: strings.Clone(s.MessageID), Role: "ROLE_AGENT"}
	o.messages = append(o.messages, m)
	return &m.Parts
}

func partOf(p *a2a.Part) partJSON {
	switch p.Kind {
	case a2a.PartData:
		return partJSON{Data: json.RawMessage(strings.Clone(string(p.Data)))}
	case a2a.PartFile:
		return partJSON{Raw: strings.Clone(p.File.Bytes), URL: strings.Clone(p.File.URI),
			Name: strings.Clone(p.File.Name), Media: strings.Clone(p.File.MediaType)}
	}
	return partJSON{Data: json.RawMessage(strings.Clone(string(p.Raw)))} // of a kind that nobody knows yet
}

// end writes the document. After an error that left no task there is none.
func (o *jsonOutput) end(result bridge.Result, failure string) error {
	for _, m := range o.messages {
		m.TaskID, m.ContextID = result.TaskID, result.ContextID
	}
	var document any
	switch n := len(o.messages); {
	case result.TaskID != "" && result.State != "":
		task := taskJSON{ID: result.TaskID, ContextID: result.ContextID, Status: statusJSON{State: stateName(result.State)},
			Artifacts: o.artifacts, History: o.messages}
		switch {
		case failure != "":
			words := new(strings.Builder)
			words.WriteString(failure)
			task.Status.Message = &messageJSON{Role: "ROLE_AGENT", TaskID: result.TaskID, ContextID: result.ContextID, Parts: []partJSON{{text: words}}}
		case n > 0:
			task.Status.Message = o.messages[n-1]
		}
		document = map[string]any{"task": task}
	case n > 0:
		document = map[string]any{"message": o.messages[n-1]}
	default:
		return nil
	}
	b, err := encode(document)
	if err != nil {
		return err
	}
	_, err = o.out.Write(b)
	return err
}

// stateName is a state by its 1.0 name.
func stateName(s a2a.State) string {
	if s == a2a.StateUnknown {
		return "TASK_STATE_UNSPECIFIED"
	}
	return "TASK_STATE_" + strings.ReplaceAll(strings.ToUpper(string(s)), "-", "_")
}
