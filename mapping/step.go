package mapping

import (
	"strings"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// StepKind says what a [Step] shows.
type StepKind uint8

// The kinds of steps.
const (
	// StepState: the task has changed its state.
	StepState StepKind = iota + 1
	// StepText: text follows what message MessageID, or artifact ArtifactID, has
	// shown so far.
	StepText
	// StepThought: the agent thinks. Subject may be empty.
	StepThought
	// StepTool: a tool call has appeared or changed; Tool is all of it.
	StepTool
	// StepPart: a file, or data that no dialect understands, as a message's or
	// an artifact's next part.
	StepPart
	// StepNotice: the bridge itself has to tell the user something.
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

	State a2a.State // StepState

	MessageID  string // StepText, StepThought, StepPart
	ArtifactID string // StepText and StepPart that come from an artifact
	// Name is the artifact's.
	Name string
	// Append is false where an artifact begins, or begins anew.
	Append    bool
	LastChunk bool
	// Text is StepText's, StepNotice's and StepError's. TextJSON, if set, is the
	// same as the agent encoded it, and Plain what it is in [a2a.Part].
	Text     string
	TextJSON a2a.JSON
	Plain    bool
	// piece: TextJSON is without its quotes, and all there is of the text.
	piece bool
	// Subject and Description are StepThought's.
	Subject     string
	Description string

	Part *a2a.Part // StepPart

	Tool *ToolCall // StepTool
	// New is set when the call is seen for the first time, Changed says what
	// differs from what was shown before.
	New     bool
	Changed ToolChange

	Connection Connection // StepConnection

	// Raw is the event's payload.
	Raw a2a.JSON

	// mark names a part that is not text, of the message or artifact markOf: see
	// [Marks].
	mark   uint64
	markOf string
}

// Connection is what happened to the connection to the agent.
type Connection struct {
	// Phase is lost, retrying, resumed or polling.
	Phase   string
	Attempt int
	// Gap is set with resumed where something was said that the agent does not
	// hold any more.
	Gap bool
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
	ToolContent                        // live content, result, what is asked
)

// A ToolCall is a tool call as the development-tool extension has it (ToolCall),
// whatever dialect it came in.
type ToolCall struct {
	ID          string
	Status      ToolStatus
	Name        string
	Description string
	// DisplayName and Kind (one of ACP's) are what Gemini's server adds.
	DisplayName string
	Kind        string
	// Input is the JSON object of the tool's parameters.
	Input a2a.JSON
	// Live is the output so far, the whole of it.
	Live string
	// Output or Error is the result.
	Output *ToolOutput
	Error  *ErrorDetails
	// Confirmation is what is asked, while the call is pending and ever after.
	Confirmation *Confirmation
	// Asks is set while the agent waits for an answer.
	Asks bool
	// Extra holds members that we do not know, as a JSON object.
	Extra a2a.JSON
	// dialect is the one that the call came in, and that answers go out in.
	dialect dialect
	// sent is Live as an event has it, until the [Fold] has read it; live is what
	// it knows of Live then. A call from elsewhere has neither.
	sent sentText
	live knownText
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

// FileDiff is a change of a file.
type FileDiff struct {
	FileName string
	FilePath string
	// OldContent is nil for a new file.
	OldContent *string
	NewContent string
	Formatted  string
}

// Confirmation is a request for the user's permission.
type Confirmation struct {
	Options []ConfirmationOption
	// One of these, or none.
	Execute *ExecuteDetails
	Edit    *FileDiff
	MCP     *MCPDetails
	Generic *GenericDetails
}

// ConfirmationOption is one of the user's choices.
type ConfirmationOption struct {
	ID          string
	Name        string
	Description string
}

// ExecuteDetails is about a shell command.
type ExecuteDetails struct {
	Command          string
	WorkingDirectory string
	// Roots are the programs that the command runs, if the agent says.
	Roots []string
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

// A Question is a tool call that waits for the user.
type Question struct {
	Call    *ToolCall
	Options []Option
}

// Answer is the user's to a [Question].
type Answer struct {
	Call *ToolCall
	// OptionID is the agent's name for the choice.
	OptionID string
	// NewContent, if set, replaces what the agent proposed to write.
	NewContent *string
}

// clone returns a copy whose strings do not point into an event. What is as old
// has it is shared with old, which may be nil: most of a call's events say again
// what it has said.
func (c *ToolCall) clone(old *ToolCall) *ToolCall {
	if old == nil {
		old = new(ToolCall)
	}
	d := *c
	d.sent = sentText{}
	d.ID = keep(c.ID, old.ID)
	d.Name = keep(c.Name, old.Name)
	d.Description = keep(c.Description, old.Description)
	d.DisplayName = keep(c.DisplayName, old.DisplayName)
	d.Kind = keep(c.Kind, old.Kind)
	d.Input = a2a.JSON(keep(string(c.Input), string(old.Input)))
	d.Extra = a2a.JSON(keep(string(c.Extra), string(old.Extra)))
	if c.live.json == "" { // else it is ours: see liveOutput
		d.Live = keep(c.Live, old.Live)
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

// keep returns was if now is the same, or else a copy of now.
func keep(now, was string) string {
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

func (c *Confirmation) clone() *Confirmation {
	if c == nil {
		return nil
	}
	d := &Confirmation{Edit: c.Edit.clone()}
	for _, o := range c.Options {
		d.Options = append(d.Options, ConfirmationOption{strings.Clone(o.ID), strings.Clone(o.Name), strings.Clone(o.Description)})
	}
	if c.Execute != nil {
		d.Execute = &ExecuteDetails{Command: strings.Clone(c.Execute.Command), WorkingDirectory: strings.Clone(c.Execute.WorkingDirectory)}
		for _, r := range c.Execute.Roots {
			d.Execute.Roots = append(d.Execute.Roots, strings.Clone(r))
		}
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
