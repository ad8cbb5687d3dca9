package demo

import (
	"context"
	"fmt"
	"slices"
)

// maxExecutions bounds the record of a long-running agent.
const maxExecutions = 4096

// An Execution is one action of the agent. Commands, tools and the edits of some
// stories are only told, not done; that makes no difference to what the user has
// allowed.
type Execution struct {
	TaskID     string
	ToolCallID string // empty if the request had no tool call
	// OptionID is the chosen option; empty if nobody was asked, for example because of an
	// earlier "always".
	OptionID string
	// Ran describes the action exactly, with strings in Go's quotes, so that nothing in
	// them is invisible. The story has it, too, after "ran: ".
	Ran string
}

// Executed returns the agent's actions in all tasks, the oldest first, of more than
// 4096 the last. It may be called at any time.
func (a *Agent) Executed() []Execution {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.executed)
}

// ran records an action for a call.
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
	a := r.agent
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.executed = append(a.executed, e); len(a.executed) > maxExecutions {
		a.executed = slices.Delete(a.executed, 0, len(a.executed)-maxExecutions)
	}
}

// report ends a story with its actions, if it has asked for approval or acted, so that
// the user sees the result of the answers.
func (r *run) report(ctx context.Context) error {
	switch {
	case len(r.done) > 0:
		return r.say(ctx, r.done...)
	case r.asked:
		return r.say(ctx, "ran: nothing\n")
	}
	return nil
}
