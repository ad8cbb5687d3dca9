package calls

import (
	"strconv"
	"strings"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// Status is the state of a tool call, in the order and with the numbers of the
// development-tool extension (ToolCallStatus).
type Status uint8

// The states of a tool call.
const (
	Unspecified Status = iota
	Pending
	Executing
	Succeeded
	Failed
	Cancelled
)

// StatusNames are the names of the states, by their numbers.
var StatusNames = [...]string{"STATUS_UNSPECIFIED", "PENDING", "EXECUTING", "SUCCEEDED", "FAILED", "CANCELLED"}

func (s Status) String() string { return StatusNames[s] }

// Ended reports whether the call is over.
func (s Status) Ended() bool { return s >= Succeeded }

// rank orders states by how far a call has come. All ends are as far.
func (s Status) rank() Status { return min(s, Succeeded) }

// Change is a set of what has changed in a tool call.
type Change uint8

// What may change.
const (
	Head    Change = 1 << iota // name, description, kind, input
	State                      // status
	Content                    // output so far, result, what is asked
	Cleared                    // the output that was shown is gone
)

// A ToolCall is a tool call as the development-tool extension has it (ToolCall),
// whatever dialect it came in. In JSON, which journals keep, its members have the extension's
// names, where that has them.
type ToolCall struct {
	// ID is the agent's, which is unique within its task. Shown is the one that the
	// editor knows the call by: unique in the conversation.
	ID          string `json:"tool_call_id,omitzero"`
	Shown       string `json:"shown,omitzero"`
	Status      Status `json:"status,omitzero"`
	Name        string `json:"tool_name,omitzero"`
	Description string `json:"description,omitzero"`
	// DisplayName and Kind (one of ACP's) are what Gemini's server adds.
	DisplayName string `json:"display_name,omitzero"`
	Kind        string `json:"kind,omitzero"`
	// Input is the JSON object of the tool's parameters.
	Input a2a.JSON `json:"input_parameters,omitzero"`
	// OutputSoFar is the output so far, the whole of it.
	OutputSoFar string `json:"live_content,omitzero"`
	// Output or Error is the result.
	Output *Output       `json:"output,omitzero"`
	Error  *ErrorDetails `json:"error,omitzero"`
	// Confirmation is what is asked, while the call is pending and ever after.
	Confirmation *Confirmation `json:"confirmation_request,omitzero"`
	// Asks is set while the agent waits for an answer.
	Asks bool `json:"asks,omitzero"`
	// Bare is set for a question that came without a tool call: ID is the bridge's own
	// then.
	Bare bool `json:"bare,omitzero"`
	// Extra holds members that we do not know, as a JSON object.
	Extra a2a.JSON `json:"extra,omitzero"`
	// Note is a word about the result, such as a command's exit code.
	Note string `json:"note,omitzero"`
	// QuestionID is the agent's name for what it asks, where that is not ID.
	QuestionID string `json:"question_id,omitzero"`
	// Dialect is the one that the call came in, and that answers go out in: its place in
	// package dialect's list, counted from 1. 0 is none. The fold sets it, so that a
	// dialect cannot forget to.
	Dialect uint8 `json:"dialect,omitzero"`
	// Differences: events of this call leave out what has not changed.
	Differences bool `json:"differences,omitzero"`

	// sent is OutputSoFar as an event has it, until [Calls] has read it; outputJSON is OutputSoFar
	// then as rawjson.AppendEscaped writes it. A call from elsewhere has neither.
	sent       Sent
	outputJSON string
	// outputInResult: see [Calls.Result].
	outputInResult bool
}

// Output is the output of a tool that succeeded: one of the three.
type Output struct {
	Text string    `json:"text,omitzero"`
	Diff *FileDiff `json:"diff,omitzero"`
	Data a2a.JSON  `json:"structured_data,omitzero"`
}

// ErrorDetails says why a tool failed.
type ErrorDetails struct {
	Message string `json:"message"`
	Type    string `json:"type,omitzero"`
	// StatusCode is 0 if there is none.
	StatusCode int `json:"status_code,omitzero"`
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
	FileName string `json:"file_name"`
	FilePath string `json:"file_path"`
	// OldContent is nil for a new file.
	OldContent *string `json:"old_content,omitzero"`
	NewContent string  `json:"new_content"`
	Formatted  string  `json:"formatted_diff,omitzero"`
}

// OnlyFormatted reports whether the agent shows the change as text alone.
func (f *FileDiff) OnlyFormatted() bool {
	return f != nil && f.Formatted != "" && f.NewContent == "" && f.OldContent == nil
}

// Confirmation is a request for the user's permission.
type Confirmation struct {
	Options []ConfirmationOption `json:"options,omitzero"`
	// Details are one of these, or none. An agent that asks about several at once
	// breaks the extension's rule (§3.2, ConfirmationRequest); then the user is shown
	// all of them.
	Execute *ExecuteDetails `json:"execute_details,omitzero"`
	Edit    *FileDiff       `json:"file_edit_details,omitzero"`
	MCP     *MCPDetails     `json:"mcp_details,omitzero"`
	Generic *GenericDetails `json:"generic_details,omitzero"`
	// Unread holds members that we do not know, as a JSON object.
	Unread a2a.JSON `json:"extra,omitzero"`
}

// ConfirmationOption is one of the user's choices.
type ConfirmationOption struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitzero"`
}

// ExecuteDetails is about a shell command.
type ExecuteDetails struct {
	Command          string `json:"command"`
	WorkingDirectory string `json:"working_directory,omitzero"`
}

// MCPDetails is about a tool of an MCP server.
type MCPDetails struct {
	ServerName string `json:"server_name"`
	ToolName   string `json:"tool_name"`
}

// GenericDetails is about anything else.
type GenericDetails struct {
	Description string `json:"description"`
	// Kind is what the dialect calls it, where it says: ask_user, info, …
	Kind string `json:"kind,omitzero"`
}

// Question is what the user is asked about, nil if nothing.
func (c *ToolCall) Question() *Confirmation {
	if c.Asks {
		return c.Confirmation
	}
	return nil
}

// Kinds counts the kinds of details.
func (q *Confirmation) Kinds() (n int) {
	for _, is := range [...]bool{q.Execute != nil, q.Edit != nil, q.MCP != nil, q.Generic != nil} {
		if is {
			n++
		}
	}
	return n
}

// unsaidEnd is the error of a call that may have run.
const unsaidEnd = "The agent has not said what became of this call."

// EndUnknown reports whether the bridge has ended a call that may have run, since the agent
// has left it without an end. Its status is [Cancelled].
func (c *ToolCall) EndUnknown() bool {
	return c.Status == Cancelled && c.Error != nil && c.Error.Message == unsaidEnd
}

// OutputJSON is OutputSoFar as it is written in a JSON string, without the quotes, if that
// is known; else "".
func (c *ToolCall) OutputJSON() string { return c.outputJSON }
