package demo

import (
	"context"
	"fmt"
	"slices"
)

// maxExecutions bounds what an agent that is left running remembers of what it did.
const maxExecutions = 4096

// An Execution is one thing that the agent did. Commands, tools and the edits of
// some stories are only told, never done; for what the user allowed that makes no
// difference.
type Execution struct {
	TaskID     string
	ToolCallID string // empty where the request was in no tool call
	// OptionID is the option that was chosen for it; empty where nobody was
	// asked, as where an earlier choice has allowed it for good.
	OptionID string
	// Ran says exactly what was done, with strings in Go's quotes, so that
	// nothing in them is invisible. The story says it, too, after "ran: ".
	Ran string
}

// Executed returns what the agent did in all its tasks, the oldest first. Of more
// than 4096 it has the last ones. It may be called at any time.
func (a *Agent) Executed() []Execution {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.executed)
}

// ran records that something was done for a call.
func (r *run) ran(c toolCall, given answer, format string, args ...any) {
	e := Execution{TaskID: r.task.id, ToolCallID: c.ID, OptionID: given.option.ID, Ran: fmt.Sprintf(format, args...)}
	how := e.OptionID
	switch {
	case given.remembered:
		how = "allowed before"
	case how == "":
		how = "not asked"
	}
	r.done = append(r.done, fmt.Sprintf("ran: %s (%s)\n", e.Ran, how))
	if r.silent {
		return
	}
	a := r.agent
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.executed = append(a.executed, e); len(a.executed) > maxExecutions {
		a.executed = slices.Delete(a.executed, 0, len(a.executed)-maxExecutions)
	}
}

// report ends a story that asked for approval, or did something, with what it did, so that whoever
// reads it sees what came of the answers.
func (r *run) report(ctx context.Context) error {
	switch {
	case len(r.done) > 0:
		return r.say(ctx, r.done...)
	case r.asked:
		return r.say(ctx, "ran: nothing\n")
	}
	return nil
}
