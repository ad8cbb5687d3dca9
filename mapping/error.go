package mapping

import (
	"errors"
	"fmt"
	"strings"

	"github.com/a2astdio/a2astdio/mapping/acp"
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
	case e.Text == "" || strings.Contains(e.Cause, e.Text):
		return "agent: " + e.Cause
	case e.Cause == "" || strings.Contains(e.Text, e.Cause):
		return "agent: " + e.Text
	}
	return "agent: " + e.Text + " (" + e.Cause + ")"
}

// ACPError spells an error for an ACP client, in ACP's codes only: the agent's
// own numbers mean other things there, so its code is said in the text. details
// is what goes into data.details, which is what editors show.
func ACPError(err error) (code int, message, details string) {
	var task *TaskError
	if errors.As(err, &task) {
		if task.State == a2a.StateAuthRequired {
			return acp.CodeAuthRequired, "authentication required", err.Error()
		}
		return acp.CodeInternal, "the agent has failed", err.Error()
	}
	var prompt *PromptError
	if errors.As(err, &prompt) {
		return acp.CodeInvalidParams, err.Error(), err.Error()
	}
	var agent *a2a.Error
	if errors.As(err, &agent) {
		if agent.Unauthenticated() {
			return acp.CodeAuthRequired, "authentication required", err.Error()
		}
		details = err.Error()
		if agent.Code != 0 && agent.Data != "" && len(agent.Data) < 1024 {
			details += fmt.Sprintf("; data: %s", agent.Data)
		}
		return acp.CodeInternal, "the agent reports an error", details
	}
	return acp.CodeInternal, err.Error(), err.Error()
}
