package bridge

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// nextRequest makes the request with which a turn goes on behind a leg that has ended, since the agent has
// refused its message; nil: the turn ends. For that it may look at the task, and leave that or its
// context (resendRequest), of which it tells the user.
func (t *turn) nextRequest(ctx context.Context, leg *leg) *request {
	r, refusal := leg.request, leg.refusal
	switch {
	case refusal == nil:
		return nil
	case r.steering != nil: // our newest message is the one before it, and its streams are not heard any more
		t.setSent(r.before)
		t.fold.Cut()
		return t.followRequest()
	case t.isCancelled() || r.message == nil:
		return nil
	case r.answers:
		// All that they are to may have gone on without them: somebody else has answered.
		if refusesMessage(refusal) && t.wentOnWithout(ctx, meanwhile{limit: lookLimit}, refusal, r.calls) {
			return t.followRequest()
		}
		return nil
	case t.fold.State != "": // a2a-js may refuse what it has executed, for a task that waits for input
		return nil
	}
	return t.resendRequest(ctx, r.message, refusal)
}

// resendRequest makes the request that sends a message otherwise which the agent has refused
// because of its webhook, its references, its task or its context; nil: that was not the reason. If the agent
// does not know the task any more (it was restarted), or the task is completed and takes no
// messages, the message goes to a new task in the same context; a context that the agent does
// not know is left out. This does not send a message twice: an error in answer to it says
// that it was not accepted.
func (t *turn) resendRequest(ctx context.Context, m *a2a.Outgoing, refusal *a2a.Error) *request {
	if without := t.withoutPush(m, refusal); without != nil {
		return t.sendRequest(without)
	}
	if without := t.withoutReferences(m, refusal); without != nil {
		return t.sendRequest(without)
	}
	s, again := t.session, *m
	leaves, lost := t.leavesTask(ctx, m.TaskID, refusal)
	switch {
	case leaves: // a new task, in the same context
		if lost && t.tellForgotten(ctx, true) != nil {
			return nil
		}
		s.previous = []string{strings.Clone(m.TaskID)}
		again.ReferenceTaskIDs = s.references()
		again.TaskID, s.taskID = "", ""
	case m.TaskID == "" && m.ContextID != "" && m.ContextID == s.contextID && !s.named && refusesContext(refusal, m):
		again.ContextID, again.ReferenceTaskIDs = "", nil
		s.contextID, s.previous, t.fold.ContextID, t.askedContext = "", nil, "", ""
		if t.tellForgotten(ctx, false) != nil {
			return nil
		}
	default:
		return nil
	}
	t.fold.SetTask("")
	if s.applySettings(&again, t.writing) != nil || t.forwardServers(ctx, &again) != nil {
		return nil
	}
	return t.sendRequest(&again)
}

// withoutReferences returns a refused message without the earlier tasks that it names, if the
// refusal is about these; nil otherwise. Microsoft's Agent Framework, for Go and for .NET, takes no
// message that names one, and says so in words alone: its code is that of an internal error. So has an error
// that comes behind work, and may spell the message: the words have to be of a refusal.
func (t *turn) withoutReferences(m *a2a.Outgoing, refusal *a2a.Error) *a2a.Outgoing {
	if len(m.ReferenceTaskIDs) == 0 || !slices.Equal(m.ReferenceTaskIDs, t.session.previous) {
		return nil // none, or the editor's own
	}
	said := strings.ToLower(strings.ReplaceAll(refusal.Message, "_", ""))
	if !strings.Contains(said, "referencetaskids is not supported") {
		return nil
	}
	t.agent.referencesRefused.Store(true)
	t.agent.opts.Log.Info("the agent refused a message that names an earlier task: it is sent without, as later ones are", "err", refusal)
	again := *m
	again.ReferenceTaskIDs = nil
	return &again
}

// followRequest is the request that follows the task from where it is.
func (t *turn) followRequest() *request { return &request{taskID: t.fold.TaskID, beyond: true} }

// lookLimit bounds a look at the task behind an answer that was refused. The client's own limit
// is a quarter of it, unless the user has set it.
const lookLimit = 2 * time.Minute

// wentOnWithout looks whether calls have gone on without the answers that the agent has
// refused, and tells the user if so.
func (t *turn) wentOnWithout(ctx context.Context, m meanwhile, refusal *a2a.Error, calls []string) bool {
	m.enough = func() bool { return !t.fold.Calls.Undelivered(calls...) }
	if t.lookAtTask(ctx, m) != nil || t.fold.Calls.Undelivered(calls...) {
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
// with, and a new one may take its place. lost: what was said there is lost, too.
func (t *turn) leavesTask(ctx context.Context, taskID string, refusal *a2a.Error) (leaves, lost bool) {
	s := t.session
	leftOff := taskID == s.leftOff
	switch named := taskID == s.namedTask; {
	case refusal.Code == a2a.CodeTaskNotFound:
		return taskID != "" && !named, true
	case taskID == "", named && !leftOff, !refusesMessage(refusal):
		return false, false
	case s.completed:
		return true, false
	}
	// Agents of a2a-python 1.x that fail break their stream off with an error, and only a look tells that
	// the task is over. Behind that error it would keep the user waiting. Where the agent has no such look,
	// nothing can tell that the task goes on, unless it has asked, or may have, in an earlier process: then the
	// answer is what it does not take.
	state, err := t.agent.taskState(ctx, taskID, promptLookTime)
	lost = hasNone(err) && !leftOff && t.fold.Rest(taskID).State == ""
	switch {
	case state.Waits(): // not where it is at work: there a second refusal counts
		s.refused = ""
	case a2a.ErrorOf(err).Has(a2a.CodeTaskNotFound): // which counts as a second refusal
		s.refused = strings.Clone(taskID)
	}
	return lost || err == nil && state.Terminal(), lost
}

// refusesMessage reports whether a refusal may say that the task takes no such message, as
// it stands: A2A has no code for that.
func refusesMessage(refusal *a2a.Error) bool {
	return refusal.Has(a2a.CodeInvalidRequest, a2a.CodeInvalidParams, a2a.CodeUnsupportedOperation)
}

// refusesContext reports whether the refusal of a message may be about its context: A2A
// has no code for that. What the agent finds invalid may as well be a file.
func refusesContext(refusal *a2a.Error, m *a2a.Outgoing) bool {
	other := func(p a2a.OutPart) bool { return p.File != nil || p.Data != nil }
	return refusal.Has(a2a.CodeTaskNotFound) ||
		refusal.Has(a2a.CodeInvalidRequest, a2a.CodeInvalidParams) && !slices.ContainsFunc(m.Parts, other)
}
