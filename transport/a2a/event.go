package a2a

import (
	"encoding/base64"
	"iter"
	"strings"

	"github.com/a2astdio/a2astdio/internal/fastpath"
)

// JSON is the text of one JSON value, as it was received. The zero value means
// that there was none.
type JSON string

// State is the state of a task, by its A2A 0.3 name (specification 0.3, §6.3;
// 1.0, §4.1.3).
type State string

// The states of a task.
const (
	StateSubmitted     State = "submitted"
	StateWorking       State = "working"
	StateInputRequired State = "input-required"
	StateCompleted     State = "completed"
	StateCanceled      State = "canceled"
	StateFailed        State = "failed"
	StateRejected      State = "rejected"
	StateAuthRequired  State = "auth-required"
	StateUnknown       State = "unknown"
)

// States lists every state that the protocol has, in its order.
func States() []State {
	return []State{
		StateSubmitted, StateWorking, StateInputRequired, StateCompleted, StateCanceled,
		StateFailed, StateRejected, StateAuthRequired, StateUnknown,
	}
}

// Waits reports whether a task in the state goes on when the user has done something.
func (s State) Waits() bool { return s == StateInputRequired || s == StateAuthRequired }

// Terminal reports whether a task in this state has ended for good.
func (s State) Terminal() bool {
	switch s {
	case StateCompleted, StateCanceled, StateFailed, StateRejected:
		return true
	}
	return false
}

// Each returns a list of an event's, such as its history, for ranging over: an empty one for nil.
func Each[T any](list iter.Seq[T]) iter.Seq[T] {
	if list == nil {
		return func(func(T) bool) {}
	}
	return list
}

// Any reports whether a list of an event's, which may be nil, has one of a kind.
func Any[T any](list iter.Seq[T], is func(T) bool) bool {
	for item := range Each(list) {
		if is(item) {
			return true
		}
	}
	return false
}

// Role says who wrote a message.
type Role string

// The roles of a message.
const (
	RoleUser  Role = "user"
	RoleAgent Role = "agent"
)

// EventKind says which of the protocol's stream payloads an event is.
type EventKind uint8

// The kinds of events. EventUnknown is one that this version of the bridge does
// not know; its Raw is all there is, and it is passed on, not dropped.
const (
	EventUnknown EventKind = iota
	EventTask
	EventMessage
	EventStatus
	EventArtifact
)

// An Event is one payload of a stream: a view (see the package comment).
type Event struct {
	Kind      EventKind
	TaskID    string
	ContextID string
	// State is the task's state, for EventTask and EventStatus.
	State State
	// EndsLeg is set where the agent has said, by the rule of its protocol version,
	// that nothing follows for the message that was sent: 0.3 final or a terminal
	// state, 1.x a terminal state or input-required. A stream that stops without such
	// an event was cut, unless it has ended behind a message, or with input-required.
	EndsLeg bool
	// MoreFollows is set where it has said the contrary, which agents do with terminal
	// states, too: 0.3 final:false.
	MoreFollows bool
	// Message is an EventMessage's message, or the status's of the others.
	// HasMessage tells an absent one from an empty one.
	Message    Message
	HasMessage bool
	// Artifact is for EventArtifact. Append: its parts follow those that are
	// there; otherwise they replace the artifact of that ID.
	Artifact  Artifact
	Append    bool
	LastChunk bool
	// Artifacts and History are for EventTask, nil elsewhere.
	Artifacts iter.Seq[Artifact]
	History   iter.Seq[Message]
	// Metadata is the event's own (for EventTask the task's): an object, keyed
	// by extension URI or by what the dialect uses.
	Metadata JSON
	// Timestamp is the status's, as sent: A2A servers differ in precision and
	// some leave the zone out, so it is for showing.
	Timestamp string
	// Raw is the whole payload.
	Raw JSON

	fast fastpath.Event[Event]
}

// FastPath returns what this module's packages know of the event beside what it says.
func (e *Event) FastPath() *fastpath.Event[Event] { return &e.fast }

// Message is a message in either direction, as received.
type Message struct {
	ID        string
	Role      Role
	TaskID    string
	ContextID string
	Parts     Parts
	Metadata  JSON
	// ReferenceTaskIDs and Extensions are JSON arrays of strings, "" if there is none.
	ReferenceTaskIDs JSON
	Extensions       JSON
}

// Artifact is an output of a task: all of it, or a piece (see [Event.Append]).
type Artifact struct {
	ID          string
	Name        string
	Description string
	Parts       Parts
	Metadata    JSON
	// Extensions is a JSON array of strings, "" if there is none.
	Extensions JSON
}

// Parts is a list of parts that is decoded as it is walked. The zero value is
// empty.
type Parts struct {
	// Raw is the JSON array; of a list that [Parts.Next] has taken from, the rest.
	Raw JSON

	fast fastpath.Parts[Part]
}

// FastPath returns how this module's packages decode the list.
func (p *Parts) FastPath() *fastpath.Parts[Part] { return &p.fast }

// Next decodes the first part into part and takes it off the list; it reports
// whether there was one. It allocates nothing, so whoever walks one list after
// the other keeps one Part for all of them:
//
//	for rest := m.Parts; rest.Next(&f.part); {
//
// The list is a copy there: m.Parts keeps its parts.
func (p *Parts) Next(part *Part) bool {
	if len(p.fast.List) > 0 {
		*part, p.fast.List = p.fast.List[0], p.fast.List[1:]
		return true
	}
	if p.fast.Only != nil {
		*part, p.fast.Only, p.Raw = *p.fast.Only, nil, ""
		return true
	}
	if p.fast.Step == nil || p.Raw == "" {
		return false
	}
	rest, ok := p.fast.Step(string(p.Raw), p.fast.Source, part)
	p.Raw = JSON(rest)
	return ok
}

// All yields each part. The pointer is valid for that step only.
func (p Parts) All() iter.Seq[*Part] {
	return func(yield func(*Part) bool) {
		part := new(Part)
		for rest := p; rest.Next(part) && yield(part); {
		}
	}
}

// Text is the text of all parts, joined.
func (p Parts) Text() string {
	if only := p.fast.Only; only != nil && len(p.fast.List) == 0 { // as mostly: nothing is allocated
		if only.Kind != PartText {
			return ""
		}
		return only.Text
	}
	var b strings.Builder
	for part := range p.All() {
		if part.Kind == PartText {
			b.WriteString(part.Text)
		}
	}
	return b.String()
}

// PartKind says what a part holds.
type PartKind uint8

// The kinds of parts. PartUnknown is one of a kind that we do not know.
const (
	PartUnknown PartKind = iota
	PartText
	PartFile
	PartData
)

// A Part is a piece of a message or of an artifact.
type Part struct {
	Kind PartKind
	// Text is a PartText's text, decoded. TextJSON is the same as it was sent,
	// quotes included: copying it spares encoding it again.
	Text     string
	TextJSON JSON
	// Data is a PartData's value.
	Data JSON
	File File
	// Metadata is the part's own.
	Metadata JSON
	// Raw is the whole part.
	Raw JSON

	fast fastpath.Part
}

// FastPath returns what this module's packages know of the part's text.
func (p *Part) FastPath() *fastpath.Part { return &p.fast }

// File is what a file part holds: either Bytes, still in base64, or a URI.
type File struct {
	Name      string
	MediaType string
	Bytes     string
	URI       string
}

// Content decodes Bytes, in either alphabet of base64.
func (f *File) Content() ([]byte, error) {
	encoded := strings.TrimSpace(f.Bytes)
	content, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		content, err = base64.RawURLEncoding.DecodeString(strings.TrimRight(encoded, "="))
	}
	return content, err
}

// Clone returns a copy of the event that outlives the stream's next read, by decoding it
// anew. One that no stream has read is copied as it is: its strings stay.
func (e *Event) Clone() *Event {
	if e.fast.Redecode == nil {
		c := *e
		return &c
	}
	return e.fast.Redecode(strings.Clone(string(e.Raw)))
}
