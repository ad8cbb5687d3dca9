package world

import "time"

// A Record is what happened when a plan was played: what the agent did and heard,
// and what the editor saw. Times are since the world's beginning.
type Record struct {
	Said     []*Said
	Heard    []*Heard
	Happened []Happening
	Turns    map[int]*TurnRecord // by Turn.N
	Loaded   []*Loading
	// Open are the streams that were still open when all was over, Left what the
	// bubble said of goroutines.
	Open int
	Left string
	// Served is how long the last bridge took to end, after its input had, at
	// Closing; ServeErr is what it ended with.
	Closing, Served time.Duration
	ServeErr        string
	// Story is the whole, line by line, if that was wanted.
	Story []Line
}

// Said is one thing that the agent did.
type Said struct {
	At   time.Duration
	Turn int
	Act  *Act  // nil for what begins and ends turns
	Call *Call // of tool calls
	// Status is a call's.
	Status string
	Live   string
	// Answer is the label of the answer, Carrier, ID, Text and Follows are how it
	// was said; Text is what the event held.
	Answer  string
	Carrier Carrier
	ID      string
	Text    string
	Follows bool // an artifact's text that follows what it said before
	Task    string
	Whole   bool // an answer again
	Ends    bool // the turn is over with it
	Closes  bool // the stream ends with it
	State   State
	// Arrived: the event has reached the bridge, on a stream of the newest leg. Pushed: it
	// was pushed.
	Arrived, Pushed bool
}

// HeardKind is what came to the agent.
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

// Heard is something that came to the agent.
type Heard struct {
	At   time.Duration
	Kind HeardKind
	Turn int
	// Message is its ID; Task and Context are what it named.
	Message, Task, Context string
	// Refused is the agent's error, 0 if it was taken.
	Refused int
	Call    *Call
	Option  string
	// Waited: the call was waiting for the answer.
	Waited bool
	// Settings: the message has AgentSettings; First: it is the first of its
	// conversation that was taken.
	Settings bool
	What     string
}

// A Happening is a fault that came to pass.
type Happening struct {
	At    time.Duration
	Turn  int
	Fault *Fault
	// Known: the turn's task had been named to the bridge before.
	Known bool
	// Over: the turn's end had reached the bridge before. Old: the connection was one
	// that nobody reads any more, since a newer leg had begun.
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
	Cancelled time.Duration // when the user cancelled, 0: he did not
	Killed    time.Duration
	Died      bool     // the editor has ended in the turn
	Results   []string // A2A lines: the text of each leg's result
	// Known: the turn's task had been named to the bridge when the bridge was
	// killed. ContextNamed is the context that the agent has named in the turn, if
	// that has arrived.
	Known        bool
	ContextNamed string
	// Stuck: the turn did not end in the time that it has; StuckForGood: nor when
	// it was cancelled.
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

// Shown is one thing that the editor shows.
type Shown struct {
	At   time.Duration
	Kind ShownKind
	// ID is of the message or call, as the editor knows it.
	ID   string
	Text string
	// Data: what is shown is a file or data, and Text its JSON.
	Data bool
	// New: a call is announced. Name is the name of the tool; Status and Content
	// are as they are now, Set which of the two were said.
	New             bool
	Name            string
	Status, Content string
	HasContent      bool
	// Options are those of a question; Picked what the user chose, "" for none.
	Options []Offered
	Picked  string
	Answer  time.Duration // when; 0: not at all
	// Request is the request of A2A lines that it belongs to.
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
