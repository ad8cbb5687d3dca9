package world

import "time"

// A Record is the record of a play: what the agent did and heard, and what the editor
// saw. Times are since the world's beginning.
type Record struct {
	Said     []*Said
	Heard    []*Heard
	Happened []Happening
	Turns    map[int]*TurnRecord // by Turn.N
	Loaded   []*Loading
	// Open counts the streams that were open at the end; Left is the bubble's report on
	// goroutines.
	Open int
	Left string
	// Served is how long the last bridge took to end after its input had, at Closing;
	// ServeErr is its error.
	Closing, Served time.Duration
	ServeErr        string
	// Story has all lines, if a story was wanted.
	Story []Line
}

// Said is one act of the agent.
type Said struct {
	At   time.Duration
	Turn int
	Act  *Act  // nil for the beginning and the end of a turn
	Call *Call // of tool calls
	// Status is a call's.
	Status string
	Live   string
	// Answer is the answer's label; Carrier, ID, Text and Follows are its form. Text is
	// the event's.
	Answer  string
	Carrier Carrier
	ID      string
	Text    string
	Follows bool // it continues an artifact's text
	Task    string
	Whole   bool // a repeated answer
	Ends    bool // it ends the turn
	Closes  bool // it ends the stream
	State   State
	// Arrived: the event has reached the bridge, on a stream of the newest leg. Pushed: it
	// was pushed.
	Arrived, Pushed bool
}

// HeardKind is a kind of request.
type HeardKind uint8

const (
	HeardPrompt HeardKind = iota
	HeardAnswer           // to one question
	HeardCancel
	HeardResume
	HeardRead
	HeardStranger // something that nobody wrote
	HeardHangUp   // the bridge has closed a stream
)

// Heard is something that has reached the agent.
type Heard struct {
	At   time.Duration
	Kind HeardKind
	Turn int
	// Message is its ID; Task and Context are what it named.
	Message, Task, Context string
	// Refused is the agent's error, 0 if it accepted.
	Refused int
	Call    *Call
	Option  string
	// Waited: the call was waiting for the answer.
	Waited bool
	// Settings: the message has AgentSettings; First: it is the first accepted one of its
	// conversation.
	Settings bool
	What     string
}

// A Happening is a fault that happened.
type Happening struct {
	At    time.Duration
	Turn  int
	Fault *Fault
	// Known: the bridge knew the turn's task before.
	Known bool
	// Over: the bridge had the turn's end before. Old: nobody reads the connection any
	// more, since a newer leg has begun.
	Over, Old bool
}

// TurnRecord is what the editor saw of a turn.
type TurnRecord struct {
	Turn      *Turn
	Session   string
	Sent      time.Duration
	Shown     []*Shown
	Replied   time.Duration // 0: there was no reply
	Stop      string        // ACP's stop reason, or the state of the last leg
	Err       string
	Cancelled time.Duration // when the user cancelled; 0: never
	Killed    time.Duration
	Died      bool     // the editor has ended in the turn
	Results   []string // A2A lines: the text of each leg's result
	// Known: the bridge knew the turn's task when it was killed. ContextNamed is the
	// context that the agent has named in the turn, if that has arrived.
	Known        bool
	ContextNamed string
	// Stuck: the turn did not end in time; StuckForGood: nor after its cancel.
	Stuck, StuckForGood bool
	// CancelledBetween: the user cancelled while no leg was under way.
	CancelledBetween bool
}

// ShownKind is what an editor shows.
type ShownKind uint8

const (
	ShownText ShownKind = iota
	ShownThought
	ShownTool
	ShownQuestion
	ShownGap
	ShownNotice
	ShownUser
)

// Shown is one thing that an editor shows.
type Shown struct {
	At   time.Duration
	Kind ShownKind
	// ID is the message's or the call's, as the editor knows it.
	ID   string
	Text string
	// Data: it is a file or data, with Text as its JSON.
	Data bool
	// New: a call is announced. Name is the tool's; Status and Content are the current
	// values, and Set tells which of them this update had.
	New             bool
	Name            string
	Status, Content string
	HasContent      bool
	// Options are a question's; Picked is the user's choice, "" for none.
	Options []Offered
	Picked  string
	Answer  time.Duration // when; 0: never
	// Request is its request of A2A lines.
	Request int
}

// Offered is an option as the editor got it. Kind is ACP's, "" in A2A lines.
type Offered struct{ ID, Name, Kind, Description string }

// A Loading is what an editor got when it loaded a session.
type Loading struct {
	Session string
	At      time.Duration
	After   int // the turn in which the bridge was killed
	Err     string
	Shown   []*Shown
}

// A Line is a line of the story.
type Line struct {
	At   time.Duration
	Who  string // "editor>", "editor<", "agent>", "agent<", "world"
	Text string
}
