package bridge

import (
	"context"
	"errors"
	"fmt"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file tells the user what is lost where an agent lacks the operations that follow
// a task after a cut. The client finds out which it lacks.

// cutNotice says what a cut costs with an agent that cannot be subscribed to. It is
// said once, at the first cut that it matters to.
const cutNotice = "\n[This agent offers no way back to an answer that is under way: it is asked for the task from time to time instead, " +
	"so the rest comes in pieces, and what the task does not keep is lost.]\n"

// cutCost is the notice of what a cut costs, if it costs anything: not where the first look
// shows the end, so that nothing comes in pieces. It is shown once for each agent.
func (t *turn) cutCost(l *leg) []mapping.Step {
	if l.over || l.resting() || !t.agent.opts.Client.Lacks().Subscribe || t.agent.cutTold.Swap(true) {
		return nil
	}
	return []mapping.Step{t.notice(cutNotice)}
}

// lostError is for a task whose connection was cut, of an agent that offers no way to
// go on.
type lostError struct {
	taskID string
	why    *a2a.Error
}

func (e *lostError) Error() string {
	if e.why.Code == a2a.CodeTaskNotFound {
		return fmt.Sprintf("agent: the connection was lost, task %s is not found any more, and this agent does not offer to ask for one: "+
			"what it has said since is lost", e.taskID)
	}
	return fmt.Sprintf("agent: the connection was lost, and this agent offers neither to follow a task again nor to ask for one: "+
		"what task %s has said since is lost, and it may still run", e.taskID)
}

func (e *lostError) Unwrap() error { return transport.ErrInterrupted }

// beyondReach returns the error for a task that cannot be followed any more: to
// subscribe to it and to ask for it were both refused for good. nil: it may be.
func (l *leg) beyondReach(ctx context.Context, subscribed, looked error) error {
	var refused *a2a.Error
	if !errors.Is(looked, errCannotLook) || l.request.pushes != nil || ctx.Err() != nil ||
		!errors.As(subscribed, &refused) || !isFinal(subscribed) || refused.Unauthenticated() {
		return nil
	}
	return &lostError{l.taskID, refused}
}

// notFound is the error of an attempt in which to subscribe has failed, and then to ask for
// the task.
func (l *leg) notFound(ctx context.Context, subscribed, looked error) error {
	if lost := l.beyondReach(ctx, subscribed, looked); lost != nil {
		return lost
	}
	if errors.Is(looked, errCannotLook) && subscribed != nil {
		if refused := (*a2a.Error)(nil); errors.As(subscribed, &refused) && refused.Code == a2a.CodeTaskNotFound {
			return &cutError{fmt.Sprintf("agent: task %s is not found any more (%s, %d), and it does not offer tasks/get", l.taskID, refused.Message, refused.Code)}
		}
		return &cutError{subscribed.Error() + ", and it does not offer tasks/get"}
	}
	return looked
}
