package bridge

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// onward is the request with which a turn goes on after the agent has refused a message,
// nil if it does not.
func (t *turn) onward(ctx context.Context, leg *leg, err error, r *request) *request {
	if again := t.again(ctx, leg, err, r); again != nil {
		return t.send(again)
	}
	if t.wentOn(ctx, leg, err, r) {
		return t.followTask()
	}
	return nil
}

// followTask is the request that follows the task from where it is.
func (t *turn) followTask() *request { return &request{taskID: t.fold.TaskID, beyond: true} }

// again returns the message to send instead of one that the agent has refused because
// of its task or its context, nil if there is none: if the agent does not know the task
// any more (it was restarted), or the task is completed and takes no messages, the
// message goes to a new task in the same context; a context that the agent does not
// know is left out. This does not send a message twice: an error in answer to it says
// that it was not accepted. That does not hold for a task that waits for input: a2a-js
// may refuse what it has executed.
func (t *turn) again(ctx context.Context, leg *leg, err error, r *request) *a2a.Outgoing {
	m := r.message
	var refusal *a2a.Error
	if !leg.hasEnded() || !leg.refused || m == nil || r.answers || !errors.As(err, &refusal) || t.fold.State != "" || t.isCancelled() {
		return nil
	}
	if without := t.withoutPush(m, refusal); without != nil {
		return without
	}
	s, again := t.session, *m
	switch {
	case m.TaskID != "" && s.leavesTask(m.TaskID, refusal):
		if refusal.Code == a2a.CodeTaskNotFound && t.tellLost(ctx, true) != nil {
			return nil
		}
		again.ReferenceTaskIDs = []string{strings.Clone(m.TaskID)}
		again.TaskID, s.taskID = "", ""
	case m.TaskID == "" && m.ContextID != "" && m.ContextID == s.contextID && !s.named && refusesContext(refusal, m):
		again.ContextID, again.ReferenceTaskIDs = "", nil
		s.contextID, s.previous, t.fold.ContextID, t.askedContext = "", nil, "", ""
		if t.tellLost(ctx, false) != nil {
			return nil
		}
	default:
		return nil
	}
	t.fold.SetTask("")
	if t.furnish(ctx, &again) != nil {
		return nil
	}
	return &again
}

// lookLimit bounds a look at the task behind an answer that was refused. The client's own limit
// is a quarter of it, unless the user has set it.
const lookLimit = 2 * time.Minute

// wentOn reports whether the agent has refused answers because all that they are to has
// gone on without them, and shows that: somebody else has answered. The task is followed
// then.
func (t *turn) wentOn(ctx context.Context, leg *leg, err error, r *request) bool {
	var refusal *a2a.Error
	return r.answers && leg.hasEnded() && leg.refused && errors.As(err, &refusal) && refusesMessage(refusal) && !t.isCancelled() && t.hasGoneOn(ctx, nil, lookLimit, refusal, r.calls)
}

// hasGoneOn reports whether calls have gone on without the answers that the agent has
// refused, and tells the user. leg and limit: see [turn.showing].
func (t *turn) hasGoneOn(ctx context.Context, leg *leg, limit time.Duration, refusal *a2a.Error, calls []string) bool {
	taskID := t.fold.TaskID
	task, err := t.showing(ctx, leg, limit, func(ctx context.Context) (*a2a.Event, error) {
		return t.agent.opts.Client.Get(ctx, taskID, allHistory)
	}, func() bool { return !t.fold.Unheard(calls...) })
	if task != nil {
		err = t.showTask(ctx, task)
	}
	if err != nil || t.fold.Unheard(calls...) {
		return false
	}
	t.forgetRejected(calls)
	text := "\n[The agent has not taken the answer, because it had gone on without it: " + t.agent.opts.Mask(refusal.Message) + "]\n"
	return t.editor.Show(ctx, []mapping.Step{t.notice(text)}) == nil
}

// forgetRejected forgets that calls were rejected because nobody answered: the agent has not
// taken that.
func (t *turn) forgetRejected(calls []string) {
	t.unanswered = slices.DeleteFunc(t.unanswered, func(call *mapping.ToolCall) bool { return slices.Contains(calls, call.ID) })
}

// leavesTask reports whether a refusal is about the task that the session goes on
// with, and a new one may take its place.
func (s *Session) leavesTask(taskID string, refusal *a2a.Error) bool {
	if taskID == s.namedTask {
		return false
	}
	return refusal.Code == a2a.CodeTaskNotFound || s.completed && refusesMessage(refusal)
}

// refusesMessage reports whether a refusal may say that the task takes no such message, as
// it stands: A2A has no code for that.
func refusesMessage(refusal *a2a.Error) bool {
	switch refusal.Code {
	case a2a.CodeInvalidRequest, a2a.CodeInvalidParams, a2a.CodeUnsupportedOperation:
		return true
	}
	return false
}

// refusesContext reports whether the refusal of a message may be about its context: A2A
// has no code for that. What the agent finds invalid may as well be a file.
func refusesContext(refusal *a2a.Error, m *a2a.Outgoing) bool {
	switch refusal.Code {
	case a2a.CodeTaskNotFound:
		return true
	case a2a.CodeInvalidRequest, a2a.CodeInvalidParams:
		return !slices.ContainsFunc(m.Parts, func(p a2a.OutPart) bool { return p.File != nil || p.Data != nil })
	}
	return false
}
