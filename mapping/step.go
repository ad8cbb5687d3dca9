package mapping

import (
	"strings"

	"github.com/a2astdio/a2astdio/mapping/ask"
	"github.com/a2astdio/a2astdio/mapping/calls"
	"github.com/a2astdio/a2astdio/mapping/dialect"
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// StepKind says what a [Step] shows.
type StepKind uint8

// The kinds of steps.
const (
	// StepState: the task has changed its state.
	StepState StepKind = iota + 1
	// StepText: a chunk of text, of any length, follows what message MessageID, or
	// artifact ArtifactID, has shown so far. Chunks of one message have the same Shown.
	StepText
	// StepThought: the agent thinks. Subject may be empty.
	StepThought
	// StepTool: a tool call has appeared or changed; Tool is all of it.
	StepTool
	// StepPart: a file, or data that no dialect understands, as a message's or
	// an artifact's next part.
	StepPart
	// StepNotice: the bridge itself has to tell the user something. Its Text is ready to be
	// shown among the agent's: most are in brackets, with line feeds before or behind.
	StepNotice
	// StepConnection: the connection to the agent was lost, or is back.
	StepConnection
	// StepUnknown: the agent said something that we do not know.
	StepUnknown
	// StepError: the agent reports an error and goes on.
	StepError
)

// A Step is one thing for the editor to show. Like the [a2a.Event] that it
// comes from it is a view, valid until the stream's next read; Tool alone
// outlives that.
type Step struct {
	Kind      StepKind
	TaskID    string
	ContextID string
	// Model and UserTier are the event's, where its dialect has them.
	Model    string
	UserTier string

	// Metadata is what the event's metadata says that no dialect reads, as an object:
	// other extensions' mostly. Text that goes on has it only where a key is a URI.
	Metadata a2a.JSON
	// Own is the metadata of the message or the artifact itself. Its first text and its
	// last chunk have it, and each part that is no text; further texts have their part's.
	Own OwnMeta

	State     a2a.State // StepState and StepError
	Timestamp string    // StepState: when, as the agent wrote it

	// MessageID and ArtifactID are the agent's, of StepText, StepThought and
	// StepPart. Those that come from an artifact have its ID in both.
	MessageID  string
	ArtifactID string
	// Shown is the name of what the editor shows as one message: unique in the
	// conversation, and the same for chunks that go on with one another.
	Shown string
	// Name and Description are the artifact's.
	Name string
	// Append is false where an artifact begins, or begins anew.
	Append    bool
	LastChunk bool
	// Harmless: a StepNotice about something usual.
	Harmless bool
	// Text is StepText's, StepNotice's and StepError's. TextJSON, if set, is the
	// same as the agent encoded it, and Plain what it is in [a2a.Part].
	Text     string
	TextJSON a2a.JSON
	Plain    bool
	// Subject and Description are StepThought's.
	Subject     string
	Description string // also the artifact's
	// Data is the thought as the agent wrote it, if it is a data part.
	Data a2a.JSON

	Part *a2a.Part // StepPart

	Tool *ToolCall // StepTool
	// New is set when the call is seen for the first time, Changed says what
	// differs from what was shown before.
	New     bool
	Changed ToolChange

	Connection Connection // StepConnection

	// Raw is the event's payload.
	Raw a2a.JSON

	// Event is the number of the event that it came from, for observers; 0 is none. The
	// [Fold] does not set it.
	Event int64

	// Repeats: it was shown before. Records have such steps, views for people leave them out.
	// Replaces: it stands in place of all that was shown of its artifact.
	Repeats, Replaces bool
	// op is what it does in its message or artifact.
	op shown.Op
}

// OwnMeta is what a message or an artifact says beside its parts. Absent members are "".
type OwnMeta struct {
	// Metadata is an object, without what a dialect reads.
	Metadata a2a.JSON
	// ReferenceTaskIDs, of a message, and Extensions are arrays of strings.
	ReferenceTaskIDs a2a.JSON
	Extensions       a2a.JSON
	// Part is the metadata of the part.
	Part a2a.JSON
}

// The types of a tool call are those of package calls.
type (
	ToolCall           = calls.ToolCall
	ToolStatus         = calls.Status
	ToolChange         = calls.Change
	ToolOutput         = calls.Output
	ErrorDetails       = calls.ErrorDetails
	FileDiff           = calls.FileDiff
	Confirmation       = calls.Confirmation
	ConfirmationOption = calls.ConfirmationOption
	ExecuteDetails     = calls.ExecuteDetails
	MCPDetails         = calls.MCPDetails
	GenericDetails     = calls.GenericDetails
)

// The states of a tool call.
const (
	ToolUnspecified = calls.Unspecified
	ToolPending     = calls.Pending
	ToolExecuting   = calls.Executing
	ToolSucceeded   = calls.Succeeded
	ToolFailed      = calls.Failed
	ToolCancelled   = calls.Cancelled
)

// What may change of a tool call.
const (
	ToolHead    = calls.Head
	ToolState   = calls.State
	ToolContent = calls.Content
	ToolCleared = calls.Cleared
)

func cloneJSON(j a2a.JSON) a2a.JSON { return a2a.JSON(strings.Clone(string(j))) }

// The types of a question are those of package ask.
type (
	Question = ask.Question
	Option   = ask.Option
	Answer   = ask.Answer
)

// NewQuestion returns the question that a call asks, with the choices of its dialect.
func NewQuestion(c *ToolCall) Question { return dialect.NewQuestion(c) }
