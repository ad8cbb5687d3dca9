package world

import "time"

// A Plan is one world: an agent, what it does in each turn, what goes wrong, and
// what the user does. It is data; nothing in it changes while it is played.
type Plan struct {
	Replay
	Agent Habits
	// PerLine is how long the editor takes for each line, Idle the bridge's idle
	// timeout; 0: none.
	PerLine, Idle time.Duration
	Turns         []*Turn
}

// Habits are how an agent does what the specifications leave to it.
type Habits struct {
	V1, Streams bool
	// Extension: its card has the development-tool extension.
	Extension bool
	Holds     Holding
	// HistoryHasStatus: the history has the message that is in the status as well.
	HistoryHasStatus bool
	// MergesParts: text that is appended to an artifact makes its one part longer,
	// else it is one more part.
	MergesParts bool
	// Explicit: members that are false are written.
	Explicit bool
	Opens    Opening
	// FollowUpTask: the stream of a follow-up begins with the task as well.
	FollowUpTask   bool
	Resume         Resume
	ResumeCode     int // the error of Refuses
	Echo           bool
	ErrorsInStream bool
	// ClosesAtInput: input-required ends the stream; else it stays open (1.0).
	ClosesAtInput  bool
	SharedID       bool
	ConstantID     bool
	AnewIDs        bool
	OwnContexts    bool // refuses a context that it has not given
	NewContexts    bool // gives each task a context of its own
	NamesNoContext bool // in messages without a task
	// RefusesCompleted is the error for a message to a completed task; 0: the task
	// goes on (development-tool extension, appendix A, step 10).
	RefusesCompleted int
	OnCancel         OnCancel
	Framing          Framing
	// EndsWithTask: the last event of a task is the task itself (0.3).
	EndsWithTask bool
	SplitsText   bool // into two parts
	// NoGet: there is no tasks/get. Pushes: what is said is pushed as well, PushDelay
	// later.
	NoGet, Pushes bool
	PushDelay     time.Duration
	Lingers       bool
}

// Holding is what an agent holds of the messages of a task. Artifacts it always
// holds, since they are in the task by the specifications.
type Holding uint8

const (
	HoldsAll     Holding = iota // status message and whole history
	HoldsNewest                 // the status message only
	HoldsNothing                // neither
	HoldsLast                   // the status message, and the two messages before it
)

// Opening is how the stream of a new task begins.
type Opening uint8

const (
	OpensWithTask   Opening = iota
	OpensSaying             // with a task whose status message is the first thing said
	OpensWithStatus         // with the first update (0.3)
)

// Resume is what an agent does with a subscription to a task at work.
type Resume uint8

const (
	ResumesWithTask Resume = iota // the task as it is, then what follows
	ResumesReplay                 // all events from the start, then what follows (0.3)
	ResumesLive                   // what follows, nothing of before (0.3)
	ResumesMissing                // there is no such method
	ResumesRefused                // an error
)

// OnCancel is what an agent does with tasks/cancel.
type OnCancel uint8

const (
	CancelObeyed OnCancel = iota
	CancelIgnored
	CancelRefused
	CancelUnsupported
	CancelHangs
)

// Framing is how an agent writes server-sent events.
type Framing struct{ IDs, CRLF, Comments, Names bool }

// A Turn is one prompt and what the agent does about it.
type Turn struct {
	N       int // which turn of the world, whatever was removed
	Session int
	// Direct: the answer is a message, without a task.
	Direct bool
	Acts   []*Act
	End    Ending
	Faults []*Fault
	// What the user and his machine do, nil: nothing of the kind.
	Cancel, Kill, Dead *Moment
	// Hangs: the dead editor does not end its input either, at first.
	Hangs bool
}

// A Moment is a time in a turn: so many events after its beginning, and a little
// later. After 0 is when the agent has taken the prompt, -1 when it was sent.
type Moment struct {
	After int
	Wait  time.Duration
}

// ActKind is what an agent does.
type ActKind uint8

const (
	Say       ActKind = iota // a chunk of text
	Again                    // an answer again, whole
	Use                      // an update of a tool call
	Ask                      // calls that want approval
	Think                    // a thought
	Show                     // the task, in the middle of a stream
	Murmur                   // an event that says nothing to the user
	WantsAuth                // auth-required, until the agent goes on by itself
)

// An Act is one thing that an agent does in a turn.
type Act struct {
	Label string
	Kind  ActKind
	Wait  time.Duration // before it

	// Answer, of Say and Again, is the label of the answer.
	Answer  string
	Carrier Carrier
	Text    string // also Think's
	// Replaces: the artifact's text gives way to this one. Grows: it is the text
	// so far and this one. Last: lastChunk is set.
	Replaces, Grows, Last bool
	Manner                WholeManner // Again

	Call  *Call // Use
	Step  Step
	Live  string  // Use, while it executes
	Calls []*Call // Ask
	Pause Pause

	Noise Noise
}

// Carrier is what text comes in.
type Carrier uint8

const (
	InStatus Carrier = iota // a working status message
	InArtifact
	InMessage // a message without a task
)

// WholeManner is where an answer is said again.
type WholeManner uint8

const (
	WholeSameArtifact WholeManner = iota // its artifact is replaced by the same text
	WholeNewArtifact                     // another artifact, lastChunk
	WholeAtEnd                           // the message of the terminal status
)

// Step is a step in the life of a tool call.
type Step uint8

const (
	CallPending Step = iota
	CallRuns
	CallEnds   // as Call.Result says, if it was allowed to run
	CallRepeat // the question again, after it was answered
)

// A Call is a tool call.
type Call struct {
	Label  string
	Name   string // unique in the world
	Server string // of DetailMCP
	Result Result
	Detail Detail
	// What follows is of calls that ask.
	Options []Option
	Pick    Pick
	// Forgotten: a call that was rejected is not mentioned again.
	Forgotten bool
	// Elsewhere: it goes on by itself so long after it has asked; 0: it waits.
	Elsewhere time.Duration
}

// Result is how a call ends that runs.
type Result uint8

const (
	ResultText Result = iota
	ResultDiff
	ResultData
	ResultError
	ResultCancelled
)

// Detail is what is asked.
type Detail uint8

const (
	DetailCommand Detail = iota
	DetailEdit
	DetailMCP
	DetailGeneric
	DetailNone
)

// An Option is a choice that an agent offers.
type Option struct {
	ID, Name, Description string
	// Tells is what can be told of it from ID and name; Runs what the agent does.
	Tells Telling
	Runs  bool
}

// Telling is what a reader can tell of an option.
type Telling uint8

const (
	TellsAllow   Telling = iota // ID and name say that it allows, or one does and the other says nothing
	TellsReject                 // likewise that it rejects
	TellsNothing                // unknown, or contradictory
)

// Pick is what the user does with a question.
type Pick struct {
	How PickHow
	// N counts from the first of the agent's options, modulo their number.
	N     int
	After time.Duration
}

// PickHow is how the user answers.
type PickHow uint8

const (
	PickOption  PickHow = iota
	PickDismiss         // closes the dialog
	PickError           // the editor answers with an error
	PickUnknown         // the editor answers with an option that nobody offered
	PickOwn             // the bridge's own rejection, if it adds one; else N
)

// Pause is how an agent waits for approvals.
type Pause struct {
	// Together: all questions are in one message, that of the status; else each
	// comes in a message of its own, Apart from each other.
	Together bool
	Apart    time.Duration
	// Working: the state stays working; else it becomes input-required. Open: the
	// stream stays open.
	Working, Open bool
	// Meanwhile: so many of the acts that follow are done without waiting.
	Meanwhile int
}

// Noise is an event that says nothing to the user.
type Noise uint8

const (
	NoiseState Noise = iota // the state again
	NoiseEcho               // the user's message comes back
	NoiseEmpty              // a message with an empty object as data
	NoiseBlank              // a message with an empty text
)

// Ending is how a turn ends.
type Ending struct {
	State State
	Wait  time.Duration
	// Reason is the text of its message, for failed and rejected.
	Reason string
}

// State is a task's state, as 0.3 spells it.
type State string

const (
	Submitted     State = "submitted"
	Working       State = "working"
	InputRequired State = "input-required"
	AuthRequired  State = "auth-required"
	Completed     State = "completed"
	Failed        State = "failed"
	Rejected      State = "rejected"
	Canceled      State = "canceled"
)

// Over reports whether the state is terminal.
func (s State) Over() bool {
	return s == Completed || s == Failed || s == Rejected || s == Canceled
}

// FaultKind is what goes wrong.
type FaultKind uint8

const (
	// CutAt: the connection ends Permille into the event behind Event events of
	// the turn's stream number Stream; cleanly, or with an error.
	CutAt FaultKind = iota
	// SilentAt: nothing more comes on the stream from there on, for For; then it
	// goes on. 0: for ever.
	SilentAt
	// RestartAt: the agent is restarted there: streams end, tasks are unknown.
	RestartAt
	// ReadsFail: the first Times reads of the task in the turn fail as Read says.
	ReadsFail
	// NoHead: stream number Stream is never answered (For: so late).
	NoHead
	// LostHead: the connection ends when the agent has taken the request of stream
	// number Stream, before the answer begins.
	LostHead
	// Refused: the connection is refused Times times, before stream number Stream.
	Refused
	// Undelivered: the request of stream number Stream is read, and lost.
	Undelivered
	// OutageAfter: nothing reaches the agent for For after the first cut.
	OutageAfter
	// RestartBefore: the agent is restarted before the prompt is sent.
	RestartBefore
)

// ReadFault is how a read fails.
type ReadFault uint8

const (
	ReadUnavailable ReadFault = iota // HTTP 503
	ReadError                        // -32603
	ReadCut                          // in the middle of its body
	ReadReset                        // before its head
	ReadHangs                        // no answer
)

// A Fault is one thing that goes wrong in a turn.
type Fault struct {
	Label    string
	Kind     FaultKind
	Stream   int
	Event    int
	Permille int
	Clean    bool
	For      time.Duration
	Times    int
	Read     ReadFault
}
