package mapping

import (
	"strconv"
	"strings"

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
	// last chunk have it, and each part that is no text.
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
	// piece: TextJSON is without its quotes, and all there is of the text.
	piece bool
	// Subject and Description are StepThought's.
	Subject     string
	Description string // also the artifact's

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

	// mark is what a journal has to keep beside the editor's line: see [Marks].
	mark *mark
}

// OwnMeta is what a message or an artifact says beside its parts. Absent members are "".
type OwnMeta struct {
	// Metadata is an object, without what a dialect reads.
	Metadata a2a.JSON
	// ReferenceTaskIDs and Extensions are arrays of strings, of a message.
	ReferenceTaskIDs a2a.JSON
	Extensions       a2a.JSON
	// Part is the metadata of the text's part.
	Part a2a.JSON
}

// ToolStatus is the state of a tool call, in the RFC's order and numbers
// (development-tool extension, ToolCallStatus).
type ToolStatus uint8

// The states of a tool call.
const (
	ToolUnspecified ToolStatus = iota
	ToolPending
	ToolExecuting
	ToolSucceeded
	ToolFailed
	ToolCancelled
)

var toolStatusNames = [...]string{"STATUS_UNSPECIFIED", "PENDING", "EXECUTING", "SUCCEEDED", "FAILED", "CANCELLED"}

func (s ToolStatus) String() string { return toolStatusNames[s] }

// Ended reports whether the call is over.
func (s ToolStatus) Ended() bool { return s >= ToolSucceeded }

// ToolChange is a set of what has changed in a tool call.
type ToolChange uint8

// What may change.
const (
	ToolHead    ToolChange = 1 << iota // name, description, kind, input
	ToolState                          // status
	ToolContent                        // output so far, result, what is asked
	ToolCleared                        // the output that was shown is gone
)

// A ToolCall is a tool call as the development-tool extension has it (ToolCall),
// whatever dialect it came in.
type ToolCall struct {
	// ID is the agent's, which is unique within its task. Shown is the one that the
	// editor knows the call by: unique in the conversation.
	ID          string
	Shown       string
	Status      ToolStatus
	Name        string
	Description string
	// DisplayName and Kind (one of ACP's) are what Gemini's server adds.
	DisplayName string
	Kind        string
	// Input is the JSON object of the tool's parameters.
	Input a2a.JSON
	// OutputSoFar is the output so far, the whole of it.
	OutputSoFar string
	// Output or Error is the result.
	Output *ToolOutput
	Error  *ErrorDetails
	// Confirmation is what is asked, while the call is pending and ever after.
	Confirmation *Confirmation
	// Asks is set while the agent waits for an answer.
	Asks bool
	// Bare is set for a question that came without a tool call: ID is the bridge's own
	// then.
	Bare bool
	// Extra holds members that we do not know, as a JSON object.
	Extra a2a.JSON
	// Note is a word about the result, such as a command's exit code.
	Note string
	// QuestionID is the agent's name for what it asks, where that is not ID.
	QuestionID string
	// dialect is the one that the call came in, and that answers go out in.
	dialect dialect
	// sent is OutputSoFar as an event has it, until the [Fold] has read it; knownSoFar is what
	// it knows of that then. A call from elsewhere has neither.
	sent       sentText
	knownSoFar knownText
}

// ToolOutput is the output of a tool that succeeded: one of the three.
type ToolOutput struct {
	Text string
	Diff *FileDiff
	Data a2a.JSON
}

// ErrorDetails says why a tool failed.
type ErrorDetails struct {
	Message string
	Type    string
	// StatusCode is 0 if there is none.
	StatusCode int
}

// Said is what the user is told: the message, and the code, if that does not hold it.
func (e *ErrorDetails) Said(command bool) string {
	code := strconv.Itoa(e.StatusCode)
	switch {
	case e.StatusCode == 0 || strings.Contains(e.Message, code):
		return e.Message
	case command:
		return strings.TrimSpace(e.Message + " (exit code " + code + ")")
	}
	return strings.TrimSpace(e.Message + " (status " + code + ")")
}

// FileDiff is a change of a file.
type FileDiff struct {
	FileName string
	FilePath string
	// OldContent is nil for a new file.
	OldContent *string
	NewContent string
	Formatted  string
}

// onlyFormatted: the agent shows the change as text alone.
func (f *FileDiff) onlyFormatted() bool {
	return f != nil && f.Formatted != "" && f.NewContent == "" && f.OldContent == nil
}

// Confirmation is a request for the user's permission.
type Confirmation struct {
	Options []ConfirmationOption
	// Details are one of these, or none. An agent that asks about several at once
	// breaks the extension's rule (§3.2, ConfirmationRequest); then the user is shown
	// all of them.
	Execute *ExecuteDetails
	Edit    *FileDiff
	MCP     *MCPDetails
	Generic *GenericDetails
	// Unread holds members that we do not know, as a JSON object.
	Unread a2a.JSON
}

// ConfirmationOption is one of the user's choices.
type ConfirmationOption struct {
	ID          string
	Name        string
	Description string
	// Kind is ACP's kind of it, where the agent says one.
	Kind string
}

// ExecuteDetails is about a shell command.
type ExecuteDetails struct {
	Command          string
	WorkingDirectory string
}

// MCPDetails is about a tool of an MCP server.
type MCPDetails struct {
	ServerName string
	ToolName   string
}

// GenericDetails is about anything else.
type GenericDetails struct {
	Description string
	// Kind is what the dialect calls it, where it says: ask_user, info, …
	Kind string
}

// question is what the user is asked about, nil if nothing.
func (c *ToolCall) question() *Confirmation {
	if c.Asks {
		return c.Confirmation
	}
	return nil
}

// clone returns a copy whose strings do not point into an event. Values that old (which
// may be nil) has as well are shared with it: most events of a call repeat what it said
// before.
func (c *ToolCall) clone(old *ToolCall) *ToolCall {
	if old == nil {
		old = new(ToolCall)
	}
	d := *c
	d.sent = sentText{}
	d.ID = reuse(c.ID, old.ID)
	d.Shown = old.Shown
	d.Name = reuse(c.Name, old.Name)
	d.Description = reuse(c.Description, old.Description)
	d.DisplayName = reuse(c.DisplayName, old.DisplayName)
	d.Kind = reuse(c.Kind, old.Kind)
	d.Input = a2a.JSON(reuse(string(c.Input), string(old.Input)))
	d.Extra = a2a.JSON(reuse(string(c.Extra), string(old.Extra)))
	d.Note = reuse(c.Note, old.Note)
	d.QuestionID = reuse(c.QuestionID, old.QuestionID)
	if c.knownSoFar.json == "" { // else it is our own copy: see outputSoFar
		d.OutputSoFar = reuse(c.OutputSoFar, old.OutputSoFar)
	}
	if c.Output != nil {
		d.Output = &ToolOutput{Text: strings.Clone(c.Output.Text), Diff: c.Output.Diff.clone(), Data: cloneJSON(c.Output.Data)}
	}
	if c.Error != nil {
		d.Error = &ErrorDetails{strings.Clone(c.Error.Message), strings.Clone(c.Error.Type), c.Error.StatusCode}
	}
	if c.Confirmation != old.Confirmation {
		d.Confirmation = c.Confirmation.clone()
	}
	return &d
}

// reuse returns was if now is the same, or else a copy of now.
func reuse(now, was string) string {
	if now == was {
		return was
	}
	return strings.Clone(now)
}

func (f *FileDiff) clone() *FileDiff {
	if f == nil {
		return nil
	}
	d := &FileDiff{FileName: strings.Clone(f.FileName), FilePath: strings.Clone(f.FilePath),
		NewContent: strings.Clone(f.NewContent), Formatted: strings.Clone(f.Formatted)}
	if f.OldContent != nil {
		old := strings.Clone(*f.OldContent)
		d.OldContent = &old
	}
	return d
}

// size is what a confirmation takes, in bytes, as far as that can be much.
func (c *Confirmation) size() (n int) {
	if c == nil {
		return 0
	}
	n = len(c.Unread)
	if e := c.Edit; e != nil {
		n += len(e.NewContent) + len(e.Formatted)
		if e.OldContent != nil {
			n += len(*e.OldContent)
		}
	}
	if c.Execute != nil {
		n += len(c.Execute.Command)
	}
	if c.Generic != nil {
		n += len(c.Generic.Description)
	}
	return n
}

func (c *Confirmation) clone() *Confirmation {
	if c == nil {
		return nil
	}
	d := &Confirmation{Edit: c.Edit.clone(), Unread: cloneJSON(c.Unread)}
	for _, o := range c.Options {
		d.Options = append(d.Options, ConfirmationOption{strings.Clone(o.ID), strings.Clone(o.Name), strings.Clone(o.Description), strings.Clone(o.Kind)})
	}
	if c.Execute != nil {
		d.Execute = &ExecuteDetails{Command: strings.Clone(c.Execute.Command), WorkingDirectory: strings.Clone(c.Execute.WorkingDirectory)}
	}
	if c.MCP != nil {
		d.MCP = &MCPDetails{strings.Clone(c.MCP.ServerName), strings.Clone(c.MCP.ToolName)}
	}
	if c.Generic != nil {
		d.Generic = &GenericDetails{strings.Clone(c.Generic.Description), strings.Clone(c.Generic.Kind)}
	}
	return d
}

func cloneJSON(j a2a.JSON) a2a.JSON { return a2a.JSON(strings.Clone(string(j))) }
