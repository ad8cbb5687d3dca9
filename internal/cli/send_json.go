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

// eventsOutput writes events of A2A lines as they come.
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

// streamOutput writes the agent's events as they come, as A2A 1.0's StreamResponse.
// After a lost connection it leaves out what says nothing new.
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
		sayAside(o.say, s)
		// Several steps of one event share its bytes.
		if at := unsafe.StringData(string(s.Raw)); s.Raw != "" && at != last {
			last = at
			at := len(o.buf)
			o.buf = append(appendV1Event(o.buf, string(s.Raw)), '\n')
			if bytes.IndexByte(o.buf[at:len(o.buf)-1], '\n') >= 0 || bytes.IndexByte(o.buf[at:], '\r') >= 0 {
				o.compact(at)
			}
		}
	}
	if len(o.buf) == 0 {
		return nil
	}
	_, err := o.out.Write(o.buf)
	return err
}

// compact removes the line breaks from the JSON behind an index.
func (o *streamOutput) compact(at int) {
	var line bytes.Buffer
	if json.Compact(&line, o.buf[at:]) == nil { // steps hold nothing but JSON
		o.buf = append(append(o.buf[:at], line.Bytes()...), '\n')
	}
}

func (o *streamOutput) end(bridge.Result, string) error { return nil }

// jsonOutput collects the turn, and writes it at the end as an A2A 1.0 task
// (specification 1.0, §4.1), or as a message if the agent made no task. The history has
// what the agent said while it worked; the status has its last message. Thoughts and
// tool calls have no place in a task: events have them.
//
// It cannot write earlier: messages and artifacts may alternate, an artifact may begin
// anew, and the state at the end comes last. It holds each text once, in the form in
// which it is written.
type jsonOutput struct {
	out       io.Writer
	say       func(format string, args ...any)
	messages  sayings
	artifacts sayings
	timestamp string // of the last state
}

// sayings are messages, or artifacts, in the order of their beginning.
type sayings struct {
	list []*saying
	byID map[string]*saying
}

// find returns the saying with an ID, and makes it if there is none.
func (l *sayings) find(id string) (s *saying, isNew bool) {
	if s = l.byID[id]; s != nil {
		return s, false
	}
	s = &saying{id: strings.Clone(id)}
	if l.byID == nil {
		l.byID = map[string]*saying{}
	}
	l.byID[s.id] = s
	l.list = append(l.list, s)
	return s, true
}

// A saying is a message or an artifact, its parts as JSON.
type saying struct {
	id, name    string
	description string
	own         ownJSON
	parts       jsonPieces
	any         bool   // it has a part
	inText      bool   // the last part is a text without an end yet
	ofText      string // metadata of that text's part
}

// ownJSON holds the other members of a message or an artifact, as JSON.
type ownJSON struct{ metadata, references, extensions string }

func (o *ownJSON) write(w *pieceWriter) {
	for _, m := range [...]struct{ key, value string }{{"metadata", o.metadata}, {"referenceTaskIds", o.references}, {"extensions", o.extensions}} {
		if m.value != "" {
			w.add(`"` + m.key + `":`)
			w.add(m.value)
			w.add(",")
		}
	}
}

// encode is json.Marshal without HTML escapes: code is full of < and &.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return b.Bytes(), err
}

// show copies what it keeps, because steps are views.
func (o *jsonOutput) show(steps []mapping.Step) error {
	for i := range steps {
		s := &steps[i]
		switch s.Kind {
		case mapping.StepText:
			to := o.saying(s)
			to.text(s.Text)
			if to.ofText == "" {
				to.ofText = strings.Clone(string(s.Own.Part))
			}
		case mapping.StepPart:
			if err := o.saying(s).part(s.Part); err != nil {
				return err
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

// saying finds or makes the message or artifact of a step.
func (o *jsonOutput) saying(s *mapping.Step) *saying {
	if s.ArtifactID == "" {
		m, _ := o.messages.find(s.MessageID)
		m.own.note(&s.Own)
		return m
	}
	a, isNew := o.artifacts.find(s.ArtifactID)
	switch {
	case isNew:
		a.name, a.description = strings.Clone(s.Name), strings.Clone(s.Description)
	case !s.Append:
		*a = saying{id: a.id, name: a.name, description: a.description}
	}
	a.own.note(&s.Own)
	return a
}

// note takes the members of a step, which not every step repeats.
func (o *ownJSON) note(own *mapping.OwnMeta) {
	for _, m := range [...]struct {
		to   *string
		from a2a.JSON
	}{{&o.metadata, own.Metadata}, {&o.references, own.ReferenceTaskIDs}, {&o.extensions, own.Extensions}} {
		if m.from != "" {
			*m.to = strings.Clone(string(m.from))
		}
	}
}

// text appends text.
func (s *saying) text(text string) {
	if !s.inText {
		s.next()
		s.parts.add(`{"text":"`)
		s.inText = true
	}
	s.parts.addEscaped(text)
}

// part appends another part.
func (s *saying) part(p *a2a.Part) error {
	b, err := encode(partOf(p))
	if err != nil {
		return err
	}
	s.next()
	s.parts.add(strings.TrimSuffix(string(b), "\n"))
	return nil
}

// next ends the open part.
func (s *saying) next() {
	if s.inText {
		s.parts.add(s.endOfText())
	}
	if s.any {
		s.parts.add(",")
	}
	s.any, s.inText, s.ofText = true, false, ""
}

func (s *saying) endOfText() string {
	if s.ofText != "" {
		return `","metadata":` + s.ofText + "}"
	}
	return `"}`
}

func (s *saying) write(w *pieceWriter) {
	w.add(`"parts":[`)
	for _, piece := range s.parts {
		w.write(piece)
	}
	if s.inText {
		w.add(s.endOfText())
	}
	w.add(`]`)
}

// A partJSON is a part that is not text.
type partJSON struct {
	Raw   string          `json:"raw,omitempty"`
	URL   string          `json:"url,omitempty"`
	Data  json.RawMessage `json:"data,omitempty"`
	Name  string          `json:"filename,omitempty"`
	Media string          `json:"mediaType,omitempty"`
	Meta  json.RawMessage `json:"metadata,omitempty"`
}

func partOf(p *a2a.Part) partJSON {
	meta := json.RawMessage(p.Metadata)
	switch p.Kind {
	case a2a.PartData:
		return partJSON{Data: json.RawMessage(p.Data), Meta: meta}
	case a2a.PartFile:
		return partJSON{Raw: p.File.Bytes, URL: p.File.URI, Name: p.File.Name, Media: p.File.MediaType, Meta: meta}
	}
	return partJSON{Data: json.RawMessage(p.Raw)} // a part of an unknown kind
}

// end writes the document; none after an error without a task.
func (o *jsonOutput) end(result bridge.Result, failure string) error {
	w := &pieceWriter{w: o.out}
	switch n := len(o.messages.list); {
	case result.TaskID != "" && result.State != "":
		o.task(w, result, failure)
	case n > 0:
		w.add(`{"message":`)
		o.messages.list[n-1].message(w, result)
	default:
		return nil
	}
	w.add("}\n")
	return w.end()
}

// task writes the task without its last brace.
func (o *jsonOutput) task(w *pieceWriter, result bridge.Result, failure string) {
	w.add(`{"task":{`)
	w.member("id", result.TaskID)
	w.member("contextId", result.ContextID)
	w.add(`"status":{"state":`)
	w.string(stateName(result.State))
	if o.timestamp != "" {
		w.add(`,"timestamp":`)
		w.string(o.timestamp)
	}
	switch n := len(o.messages.list); {
	case failure != "":
		w.add(`,"message":`)
		var words saying
		words.text(failure)
		words.message(w, result)
	case n > 0:
		w.add(`,"message":`)
		o.messages.list[n-1].message(w, result)
	}
	w.add("}")
	for i, a := range o.artifacts.list {
		w.add(separator(i, `,"artifacts":[{`, `},{`))
		w.add(`"artifactId":`)
		w.string(a.id)
		w.add(",")
		w.member("name", a.name)
		w.member("description", a.description)
		a.own.write(w)
		a.write(w)
	}
	w.add(separator(len(o.artifacts.list), "", "}]"))
	for i, m := range o.messages.list {
		w.add(separator(i, `,"history":[`, ","))
		m.message(w, result)
	}
	w.add(separator(len(o.messages.list), "", "]"))
	w.add("}")
}

// separator returns first at index 0, and later otherwise.
func separator(i int, first, later string) string {
	if i == 0 {
		return first
	}
	return later
}

func (s *saying) message(w *pieceWriter, result bridge.Result) {
	w.add("{")
	w.member("messageId", s.id)
	w.member("contextId", result.ContextID)
	w.member("taskId", result.TaskID)
	w.add(`"role":"ROLE_AGENT",`)
	s.own.write(w)
	s.write(w)
	w.add("}")
}

// stateName returns a state's 1.0 name.
func stateName(s a2a.State) string {
	if s == a2a.StateUnknown {
		return "TASK_STATE_UNSPECIFIED"
	}
	return "TASK_STATE_" + strings.ReplaceAll(strings.ToUpper(string(s)), "-", "_")
}
