package world

import "time"

// A Plan is one world: an agent, its acts in each turn, the faults, and what the user
// does. It is data, and does not change during a play.
type Plan struct {
	Replay
	Agent Habits
	// PerLine is the editor's time for each line, Idle the bridge's idle timeout; 0: none.
	PerLine, Idle time.Duration
	Turns         []*Turn
}

// Habits are an agent's choices where the specifications leave one.
type Habits struct {
	V1, Streams bool
	// Extension: its card has the development-tool extension.
	Extension bool
	Holds     Holding
	// HistoryHasStatus: the history also has the status's message.
	HistoryHasStatus bool
	// MergesParts: text appended to an artifact extends its one part; otherwise it is a
	// further part.
	MergesParts bool
	// Explicit: members that are false are written.
	Explicit bool
	Opens    Opening
	// FollowUpTask: a follow-up's stream begins with the task, too.
	FollowUpTask   bool
	Resume         Resume
	ResumeCode     int // the error of Refuses
	Echo           bool
	ErrorsInStream bool
	// ClosesAtInput: input-required ends the stream; otherwise it stays open (1.0).
	ClosesAtInput  bool
	SharedID       bool
	ConstantID     bool
	AnewIDs        bool
	OwnContexts    bool // refuses foreign contexts
	NewContexts    bool // gives each task a context of its own
	NamesNoContext bool // names no context in messages without a task
	// RefusesCompleted is the error for a message to a completed task; 0: the task
	// continues (development-tool extension, appendix A, step 10).
	RefusesCompleted int
	OnCancel         OnCancel
	Framing          Framing
	// EndsWithTask: the last event of a task is the task itself (0.3).
	EndsWithTask bool
	SplitsText   bool // into two parts
	// NoGet: there is no tasks/get. Pushes: events are also pushed, PushDelay later.
	NoGet, Pushes bool
	PushDelay     time.Duration
	Lingers       bool
}

// Holding is what an agent holds of a task's messages. By the specifications it always
// holds the artifacts.
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
	OpensSaying             // with a task whose status message is the first act
	OpensWithStatus         // with the first update (0.3)
)

// Resume is the answer to a subscription to a running task.
type Resume uint8

const (
	ResumesWithTask Resume = iota // the task, then what follows
	ResumesReplay                 // all events from the start, then what follows (0.3)
	ResumesLive                   // what follows, nothing earlier (0.3)
	ResumesMissing                // the method does not exist
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

// A Turn is a prompt and what the agent does about it.
type Turn struct {
	N       int // the turn's number in the world, whatever was removed
	Session int
	// Direct: the answer is a message, without a task.
	Direct bool
	Acts   []*Act
	End    Ending
	Faults []*Fault
	// Acts of the user and the user's machine, nil: none.
	Cancel, Kill, Dead *Moment
	// Hangs: at first the dead editor does not end its input, either.
	Hangs bool
}

// A Moment is a time in a turn: after this many events, and a little later. 0 is when
// the agent has accepted the prompt, -1 when it was sent.
type Moment struct {
	After int
	Wait  time.Duration
}

// ActKind is a kind of act.
type ActKind uint8

const (
	Say       ActKind = iota // a chunk of text
	Again                    // a whole answer, repeated
	Use                      // an update of a tool call
	Ask                      // calls that ask for approval
	Think                    // a thought
	Show                     // the task, in the middle of a stream
	Murmur                   // an event without content for the user
	WantsAuth                // auth-required, until the agent continues by itself
)

// An Act is an agent's act in a turn.
type Act struct {
	Label string
	Kind  ActKind
	Wait  time.Duration // before it

	// Answer, of Say and Again, is the answer's label.
	Answer  string
	Carrier Carrier
	Text    string // also Think's
	// Replaces: it replaces the artifact's text. Grows: it is the text so far and more.
	// Last: lastChunk is set.
	Replaces, Grows, Last bool
	Manner                WholeManner // Again

	Call  *Call // Use
	Step  Step
	Live  string  // Use, while it executes
	Calls []*Call // Ask
	Pause Pause

	Noise Noise
}

// Carrier is the kind of event that carries text.
type Carrier uint8

const (
	InStatus Carrier = iota // a working status message
	InArtifact
	InMessage // a message without a task
)

// WholeManner is how an answer is repeated.
type WholeManner uint8

const (
	WholeSameArtifact WholeManner = iota // the same text replaces its artifact
	WholeNewArtifact                     // another artifact, lastChunk
	WholeAtEnd                           // as the message of the terminal status
)

// Step is a step in the life of a tool call.
type Step uint8

const (
	CallPending Step = iota
	CallRuns
	CallEnds   // with Call.Result, if it was allowed to run
	CallRepeat // the question is repeated after its answer
)

// A Call is a tool call.
type Call struct {
	Label  string
	Name   string // unique in the world
	Server string // of DetailMCP
	Result Result
	Detail Detail
	// The rest is for calls that ask.
	Options []Option
	Pick    Pick
	// Forgotten: a rejected call gets no further event.
	Forgotten bool
	// Elsewhere: it continues by itself this long after it has asked; 0: it waits.
	Elsewhere time.Duration
}

// Result is the end of a call that runs.
type Result uint8

const (
	ResultText Result = iota
	ResultDiff
	ResultData
	ResultError
	ResultCancelled
)

// Detail is the kind of question.
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
	// Tells is what ID and name tell of it; Runs is what the agent does.
	Tells Telling
	Runs  bool
}

// Telling is what a reader can infer from an option.
type Telling uint8

const (
	TellsAllow   Telling = iota // ID and name say that it allows, or one does and the other says nothing
	TellsReject                 // the same for rejecting
	TellsNothing                // unknown, or contradictory
)

// Pick is the user's answer to a question.
type Pick struct {
	How PickHow
	// N counts from the agent's first option, modulo their number.
	N     int
	After time.Duration
}

// PickHow is the manner of the user's answer.
type PickHow uint8

const (
	PickOption  PickHow = iota
	PickDismiss         // closes the dialog
	PickError           // the editor answers with an error
	PickUnknown         // the editor answers with an option that nobody offered
	PickOwn             // the bridge's own rejection, if it adds one; otherwise N
)

// Pause is how an agent waits for approvals.
type Pause struct {
	// Together: the status's message has all questions; otherwise each has a message of
	// its own, Apart from each other.
	Together bool
	Apart    time.Duration
	// Working: the state stays working; otherwise it becomes input-required. Open: the
	// stream stays open.
	Working, Open bool
	// Meanwhile: this many of the following acts do not wait.
	Meanwhile int
}

// Noise is an event without content for the user.
type Noise uint8

const (
	NoiseState Noise = iota // the state again
	NoiseEcho               // the user's message comes back
	NoiseEmpty              // a message with an empty object as data
	NoiseBlank              // a message with an empty text
)

// Ending is a turn's end.
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

// FaultKind is a kind of fault.
type FaultKind uint8

const (
	// CutAt: the connection ends Permille into the event behind Event events of the turn's
	// stream number Stream; cleanly, or with an error.
	CutAt FaultKind = iota
	// SilentAt: from there on nothing comes on the stream for For; 0: for ever.
	SilentAt
	// RestartAt: the agent is restarted there: streams end, tasks are unknown.
	RestartAt
	// ReadsFail: the first Times reads of the task in the turn fail as Read says.
	ReadsFail
	// NoHead: stream number Stream gets no answer (For: a late one).
	NoHead
	// LostHead: the connection ends when the agent has taken the request of stream number
	// Stream, before its answer.
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

// ReadFault is a kind of failed read.
type ReadFault uint8

const (
	ReadUnavailable ReadFault = iota // HTTP 503
	ReadError                        // -32603
	ReadCut                          // in the middle of its body
	ReadReset                        // before its head
	ReadHangs                        // no answer
)

// A Fault is a fault in a turn.
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
