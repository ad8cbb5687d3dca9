package agent

import (
	"encoding/json"
	"time"
)

// URL is where the agent is.
const URL = "http://agent.invalid/"

const (
	// Pace is the time between two steps that name none: longer than a reader takes.
	Pace = 10 * time.Millisecond
	// Delay is how late tasks/get answers with GetSlow, and how old its answer is with GetStale.
	Delay = 1500 * time.Millisecond
)

// A State is a task's, in A2A 0.3's words.
type State string

// The states that scripts use.
const (
	Submitted     State = "submitted"
	Working       State = "working"
	InputRequired State = "input-required"
	AuthRequired  State = "auth-required"
	Completed     State = "completed"
	Failed        State = "failed"
	Canceled      State = "canceled"
	Rejected      State = "rejected"
)

// Over reports whether a task in this state goes on no more.
func (s State) Over() bool { return s == Completed || s == Failed || s == Canceled || s == Rejected }

// A Script is what an agent does.
type Script struct {
	V1         bool // A2A 1.0, and else 0.3
	Extensions []string
	Card       json.RawMessage // in the place of one that is made up
	// History is what of the conversation a task shows.
	History History
	// Turns are the answers to the prompts: each to the one that it names, or in their order.
	Turns []*Turn
	// Get, Subscribe and Cancel say how these requests are answered.
	Get       Get
	Subscribe Subscribe
	Cancel    Cancel
	// Tells says which of a task's open streams get its events.
	Tells Tells
	// OnSay, if not nil, is called when a step is said, with the number of steps so far. It
	// must not wait.
	OnSay func(n int)
	// Keep, if not nil, changes the copy of a task that tasks/get and subscriptions show.
	Keep func(*Task)
}

// History says which messages a task shows.
type History uint8

const (
	HistoryOurs  History = iota // those of the task, with the user's
	HistoryNone                 // none
	HistoryAll                  // those of the whole conversation
	HistoryFresh                // as HistoryOurs, with new IDs at each writing
)

// Tells says which streams get events.
type Tells uint8

const (
	TellAll    Tells = iota
	TellNewest       // that of the newest request
	TellFirst        // the prompt's; that of an answer gets the task, and ends
)

// Get says how tasks/get is answered.
type Get uint8

const (
	GetTask    Get = iota
	GetSlow        // late, by Delay
	GetStale       // with the task as it was Delay ago
	GetFails       // HTTP 502
	GetMissing     // -32601
)

// Subscribe says how tasks/resubscribe is answered.
type Subscribe uint8

const (
	SubscribeTask    Subscribe = iota // with the task, then its events
	SubscribeEvents                   // with its events
	SubscribeRefused                  // -32004
	SubscribeMissing                  // -32601
	SubscribeSilent                   // with a head, and no event
	SubscribeEnds                     // with the task, and an end
	SubscribeEcho                     // with the task, its newest event again, and its events: the queue is older than the look
)

// Cancel says how tasks/cancel is answered.
type Cancel uint8

const (
	CancelTask    Cancel = iota
	CancelRefused        // -32002
	CancelHangs          // never
	CancelMissing        // -32601
)

// A Turn is the answer to a prompt.
type Turn struct {
	Prompt string // "": the next one
	// Task is the ID of a new task, and Context that of its context; "": the agent makes
	// one up, or takes what the message names.
	Task, Context string
	// Users are the IDs in Raw events that stand for the user's messages, in their order.
	Users []string
	Steps []*Step
	// Open leaves the streams open behind the last step.
	Open   bool
	Faults []Fault
}

// Kind is the form of an event.
type Kind uint8

const (
	StatusUpdate Kind = iota
	TaskEvent         // the task as it is behind this step
	ArtifactUpdate
	Direct  // a message beside any task
	Nothing // no event: the step changes the task, or waits
)

// A Step is an event, and what follows it.
type Step struct {
	// After is the time since the step before; 0: Pace. Joined: it is read together with
	// the event before.
	After  time.Duration
	Joined bool

	Kind         Kind
	State        State // "": as it is
	Final        bool
	Message      *Message
	Artifact     *Artifact
	Append, Last bool
	Metadata     map[string]any
	Kept         map[string]any // what a status's metadata is in the task, as a2a-python keeps it; nil: nothing
	// Raw, if set, is the event on the wire; the rest says what it does to the task. Task, if
	// set, is the task from here on. Held is what tasks/get answers until the next step.
	Raw  json.RawMessage
	Task *Task
	Held json.RawMessage

	// Call is the call of which the step tells. If its question was answered by a
	// rejection, this and the call's later steps become one that says CANCELLED.
	Call *Call
	// Waits: the steps behind come with the next message to the task. Asks are the calls
	// that it has to answer; none: it may say anything.
	Waits bool
	Asks  []string
	// Ends: all streams end.
	Ends bool
}

// A Fault is something that happens to a stream of a turn, behind so many of its events.
type Fault struct {
	Stream int // in the turn: the prompt's is 0
	Events int
	Kind   FaultKind
	For    time.Duration // of Stall and Hang; 0: for ever
}

// FaultKind is what happens.
type FaultKind string

const (
	Cut    FaultKind = "cut"    // the connection breaks
	End    FaultKind = "end"    // it ends in order
	Stall  FaultKind = "stall"  // nothing more arrives, for some time
	Lost   FaultKind = "lost"   // the message is taken, and the connection breaks before the head
	Unsent FaultKind = "unsent" // the connection breaks before the message is taken
	Hang   FaultKind = "hang"   // the message is taken, and the head comes late
)

// A Message is the agent's, or the user's.
type Message struct {
	ID    string
	User  bool
	Parts []Part
	Raw   json.RawMessage // on the wire, if set
}

// An Artifact is one of a task's.
type Artifact struct {
	ID, Name   string
	Extensions []string
	Parts      []Part
	Metadata   map[string]any
}

// A Part is a text, data, a file, or whatever Raw is.
type Part struct {
	Text     string
	Data     any
	File     *File
	Metadata map[string]any
	Raw      json.RawMessage
}

// A File has its content in it.
type File struct {
	Name, Type string
	Content    []byte
}

// Text is a list of one text part.
func Text(s string) []Part { return []Part{{Text: s}} }

// Say is a status update with a message.
func Say(state State, id, text string) *Step {
	return &Step{State: state, Message: &Message{ID: id, Parts: Text(text)}}
}

// Done is the status update that ends a turn.
func Done(state State) *Step { return &Step{State: state, Final: true} }

// List makes a turn of steps and lists of them.
func List(parts ...any) (steps []*Step) {
	for _, p := range parts {
		switch p := p.(type) {
		case *Step:
			steps = append(steps, p)
		case []*Step:
			steps = append(steps, p...)
		}
	}
	return steps
}
