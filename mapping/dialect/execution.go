package dialect

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/mapping/ask"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// An Execution is the answer to command/execute (the development-tool extension's
// ExecuteSlashCommandResponse): what follows of the command is told of the task of
// that ID.
type Execution struct {
	ID string `json:"execution_id,omitempty"`
	// Status is STARTED, FAILED_TO_START, AWAITING_SHELL_CONFIRMATION,
	// AWAITING_ACTION_CONFIRMATION, UNSPECIFIED, or what else the agent says.
	Status  string `json:"status,omitempty"`
	Message string `json:"message,omitempty"`
}

// The statuses that are handled. What is awaited is asked for by the events that
// follow, and an unspecified status counts as started.
const (
	executionFailed = "FAILED_TO_START"
	executionShell  = "AWAITING_SHELL_CONFIRMATION"
	executionAction = "AWAITING_ACTION_CONFIRMATION"
)

var executionStatuses = [...]string{"UNSPECIFIED", "STARTED", executionFailed, executionShell, executionAction}

// ReadExecution reads one; ok is false if it is something else.
func ReadExecution(raw a2a.JSON) (e Execution, ok bool) {
	o := gjson.Parse(string(raw))
	id := first(o, "execution_id", "executionId")
	status := o.Get("status")
	if !id.Exists() && !(status.Exists() && o.Get("message").Exists()) || status.IsObject() {
		return e, false
	}
	n, name := enum(status, "COMMAND_EXECUTION_STATUS_")
	if 0 <= n && n < len(executionStatuses) {
		name = executionStatuses[n]
	}
	return Execution{ID: strings.Clone(id.String()), Status: strings.Clone(name), Message: strings.Clone(o.Get("message").String())}, true
}

// Err is the error of an execution that did not start; nil if it has.
func (e Execution) Err() error {
	if e.Status == executionFailed {
		return &CommandError{e.Message}
	}
	return nil
}

// Notice is what the user is told of it; "" if there is nothing to tell.
func (e Execution) Notice() string {
	text := ""
	switch e.Status {
	case executionShell:
		text = "The command waits until you allow what it runs in the shell"
	case executionAction:
		text = "The command waits until you allow what it does"
	}
	switch message := strings.TrimSpace(ask.WithoutEscapes(e.Message)); {
	case text == "" && message == "":
		return ""
	case text == "":
		return "[" + message + "]\n\n"
	case message == "":
		return "[" + text + ".]\n\n"
	default:
		return "[" + text + ": " + message + "]\n\n"
	}
}

// A CommandError is a slash command that the agent did not start.
type CommandError struct {
	// Message is the agent's; it may be empty.
	Message string
}

func (e *CommandError) Error() string {
	if e.Message == "" {
		return "agent: the command did not start, and the agent does not say why"
	}
	return "agent: the command did not start: " + e.Message
}
