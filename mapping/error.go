package mapping

import (
	"strings"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A TaskError is a task that has ended, for now, in a state that is no success.
type TaskError struct {
	State a2a.State
	// Text is what the agent said in its last message, Cause what it reported
	// before: either may be empty.
	Text  string
	Cause string
}

func (e *TaskError) Error() string {
	if e.State == a2a.StateAuthRequired {
		return "agent: wants you to authenticate, and has stopped: do so where it says, then prompt again"
	}
	switch {
	case e.Text == "" && e.Cause == "":
		return "agent: the task " + string(e.State) + ", and the agent does not say why"
	case strings.Contains(e.Cause, e.Text):
		return "agent: " + e.Cause
	case strings.Contains(e.Text, e.Cause):
		return "agent: " + e.Text
	}
	return "agent: " + e.Text + " (" + e.Cause + ")"
}

// A PromptError is a prompt that cannot be sent as it is: the editor's mistake,
// or more than the agent takes.
type PromptError struct{ Text string }

func (e *PromptError) Error() string { return "editor: " + e.Text }
