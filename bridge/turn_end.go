package bridge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/dialect"
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/mapping/spell"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// stopped says why a turn has stopped reading a leg. err is the leg's, the editor's or that of the turn's context.
type stopped struct {
	how how
	err error
}

type how uint8

const (
	ended   how = iota // the leg is over, or the turn has failed
	paused             // calls wait for the user
	overdue            // cancelled, and the agent went on for too long
	steered            // a message of the user's goes to the task
)

// errDetached is the cause of the end of a turn's context where its task goes on without the
// bridge, for a later process to come back to.
var errDetached = errors.New("bridge: it has ended, and the task goes on")

func isDetached(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errDetached) }

// finish ends what the editor still shows as open, and returns how the turn ended, by why it has
// stopped reading its last leg.
func (t *turn) finish(ctx context.Context, why stopped) (Result, error) {
	if errors.Is(why.err, errRejected) {
		why.err = nil
	}
	undelivered := t.delivery != noAnswers && t.fold.Calls.Undelivered()
	defer t.endPushesOfOver()
	if why.how == overdue && !t.fold.State.Terminal() { // else all is said
		t.fold.Doubt()
	}
	var showErr error
	if why.how != paused {
		over := why.err != nil || t.fold.State.Terminal() || t.isCancelled() || t.rejected
		steps := t.fold.EndTurn(over, why.err != nil, t.unsaid(ctx, why.err))
		if text := t.session.unkeptNotice(); text != "" {
			steps = append(steps, t.notice("\n"+text))
		}
		if len(steps) > 0 {
			showErr = t.editor.Show(ctx, steps)
		}
	}
	r, err := t.result(ctx, why, undelivered)
	for _, call := range t.unanswered {
		r.Unanswered = append(r.Unanswered, mapping.Title(call))
	}
	if why.how == paused {
		return r, err
	}
	var marks []byte // why it has failed, which no step tells
	if err = cmp.Or(err, showErr); err != nil && !t.isCancelled() {
		marks = t.session.entries.Append(nil, []mapping.Step{t.notice("\n[" + t.agent.opts.Mask(err.Error()) + "]\n")})
	}
	t.session.record(spell.EndLine(marks, r.State))
	return r, err
}

// unsaid looks at a task that is over, and nothing was heard of but its states, and returns the steps of what it
// holds: none, if the agent has said nothing, or does not tell. ggcode, before it was mended (its #565), streamed
// the states alone of a task that was quickly done, and its newest does of one that fails, whose reason is in the
// history.
func (t *turn) unsaid(ctx context.Context, err error) []mapping.Step { // rule: unsaid
	f := t.fold
	if err != nil || !f.MayHold() || t.isCommand || t.isCancelled() || t.agent.opts.Client.Unsupported().Get {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, promptLookTime)
	defer stop()
	defer context.AfterFunc(t.cancelled, stop)()
	task, err := t.agent.opts.Client.Get(ctx, f.TaskID, transport.AllHistory)
	if err != nil || task.TaskID != f.TaskID || task.State != f.State {
		return nil
	}
	isOurs := func(m a2a.Message) bool {
		return m.ID == t.sent.id || m.Role == a2a.RoleUser && m.Parts.Text() == t.sent.text
	}
	if !a2a.Any(task.History, isOurs) {
		task.History = nil // it may be that of the turns before, under other IDs
	}
	return f.Event(shown.Snapshot, task, nil)
}

// stopAtEnd is why a turn stops reading a leg that is over: paused, if calls wait, or ended, as the leg.
func (t *turn) stopAtEnd(leg *leg) stopped {
	if leg.err == nil && t.fold.Calls.Waits() && !t.fold.State.Terminal() && !t.isCancelled() {
		return stopped{how: paused}
	}
	return stopped{err: leg.err}
}

// unsent ends a turn that was cancelled before its request, nil if there is none, was made.
// If that was to answer calls, the task waits, and is cancelled: the cancel may as well have
// come behind the answer.
func (t *turn) unsent(ctx context.Context, r *request) (Result, error) {
	if r == nil || !r.answers && r.leg == nil {
		return Result{StopReason: acp.StopCancelled, State: a2a.StateCanceled}, nil
	}
	if r.leg != nil {
		r.leg.leave(true)
	}
	t.identify(t.fold.TaskID)
	return t.finish(ctx, stopped{})
}

// taskError is the error of a turn that has failed by the agent's own report, nil if it has not.
func (t *turn) taskError() error {
	switch f := t.fold; {
	case f.State == a2a.StateFailed || f.State == a2a.StateAuthRequired && !f.WaitsForWords():
		return &mapping.TaskError{State: f.State, Text: f.FailText, Cause: f.Err}
	case f.Err != "":
		// Gemini's server reports a model's error and then ends the turn as if
		// nothing were.
		return &mapping.TaskError{State: f.State, Cause: f.Err}
	}
	return nil
}

// result makes the turn's result, waits until the agent was told of a cancel, and decides where the
// session goes on.
func (t *turn) result(ctx context.Context, why stopped, undelivered bool) (Result, error) {
	f, s := t.fold, t.session
	if t.isCommand {
		// The conversation goes on where it was.
		defer func(context, task string, previous []string) {
			s.contextID, s.taskID, s.previous = context, task, previous
		}(s.contextID, s.taskID, s.previous)
	}
	r := Result{StopReason: acp.StopEndTurn, State: f.State, TaskID: f.TaskID, ContextID: f.ContextID, Usage: f.Usage,
		Execution: cmp.Or(t.execution, f.Execution)}
	switch err := why.err; {
	case t.isCancelled():
		err = t.endCancelled(ctx, &r, why.how) // before r is read: Go does not say which of two results comes first
		return r, err
	case t.rejected:
		s.dropTask()
		return r, err
	case err != nil:
		t.keepTaskAfter(err, undelivered)
		if f.State == a2a.StateFailed && f.FailText != "" && a2a.ErrorOf(err) != nil {
			err = t.taskError() // inference-gateway's says why, and then "streaming failed"
		}
		return r, err
	}
	t.leaveOpen(&r, why.how)
	s.keepTask(t.writing)
	if f.GivenUp() {
		// In its context, too, the agent would ask again, and take a prompt for an answer.
		s.dropTask()
		s.contextID, s.previous, f.ContextID = "", nil, ""
	}
	if r.ContextID == "" && !t.isCommand {
		r.ContextID = s.contextID
	}
	return t.tellEnd(ctx, r)
}

// endCancelled completes the result of a turn that was cancelled, once the agent was told, and tells the
// user what may still run.
func (t *turn) endCancelled(ctx context.Context, r *Result, how how) error {
	r.StopReason = acp.StopCancelled
	isOver := t.fold.State.Terminal()
	if !isOver {
		r.State = a2a.StateCanceled // for whoever asked
	}
	var runs error
	switch {
	case t.fold.TaskID == "" && how == overdue:
		runs = errNoTask
	case t.fold.TaskID != "" && !isOver: // else there is nothing to tell
		runs = t.awaitCancelSent(ctx)
	}
	if t.fold.TaskID != "" && !isOver && !t.wasSpared() {
		// It waits for an answer, or works: neither is what the user's next prompt is for.
		t.session.lostConversation = t.writing.Traits().TaskIsConversation
		t.session.dropTask()
	} else {
		t.session.keepTask(t.writing)
	}
	return errors.Join(t.tellStillRuns(ctx, runs), t.tellRejection(ctx))
}

// errNoTask: an agent that answers with a message, at the end, has nothing that could be cancelled.
var errNoTask = errors.New("it has named no task to cancel, and may refuse prompts until it is done")

// tellStillRuns says that a task, or an agent without one, may go on though it was cancelled, and
// why, if that is not nil.
func (t *turn) tellStillRuns(ctx context.Context, why error) error {
	if why == nil {
		return nil
	}
	who := "The agent"
	if t.fold.TaskID != "" {
		who = "Task " + t.fold.TaskID
	}
	text := fmt.Sprintf("\n[%s may still run: %s.]\n", who, strings.TrimPrefix(t.agent.opts.Mask(why.Error()), "agent: "))
	return t.editor.Show(ctx, []mapping.Step{t.notice(text)})
}

// leaveOpen puts into the result what the task waits for.
func (t *turn) leaveOpen(r *Result, how how) {
	f := t.fold
	if how == paused {
		for _, call := range t.undecided() {
			r.Pending = append(r.Pending, call.ID)
		}
	}
	if len(r.Pending) > 0 {
		return
	}
	if (f.State == a2a.StateInputRequired || f.WaitsForWords()) && !t.isCommand {
		r.Question = f.Question
	}
	r.Waits = t.session.leavesWaiting(t.writing)
}

// leavesWaiting reports whether a task that no turn works on waits for the user, for a sign-in or
// an answer in prose. (Where all turns end with input-required, nobody waits without a question.)
func (s *Session) leavesWaiting(w dialect.Writing) bool {
	switch f := s.fold; f.State {
	case a2a.StateAuthRequired:
		return true
	case a2a.StateInputRequired:
		return f.Question != "" || f.WaitsForWords() || !w.Traits().EndsAsking
	}
	return false
}

// waitsUntoldNotice is for a turn that would end without a word.
const waitsUntoldNotice = "\n[The agent waits for your input, and does not say for what. Your next prompt is the answer.]\n"

// unreadNotice is for a turn that would end without a word, as with Cogitator and MothX, whose shapes are
// their own.
const unreadNotice = "\n[The agent has answered, and nothing of that can be shown. a2astdio doctor --prompt hello says what its author has to mend.]\n"

// tellEnd adds the reason why the turn has ended, by the task's state. It shows what the task asks
// again, and a notice at an end without a word.
func (t *turn) tellEnd(ctx context.Context, r Result) (Result, error) {
	f := t.fold
	switch f.State {
	case "", a2a.StateCompleted:
		if r.Unread = t.sent.id != "" && f.Unread(); r.Unread {
			return r, t.editor.Show(ctx, []mapping.Step{t.notice(unreadNotice)})
		}
	case a2a.StateInputRequired, a2a.StateAuthRequired:
		if len(r.Pending) > 0 {
			break
		}
		if steps := f.Reask(nil); len(steps) > 0 {
			r.Question, r.Waits = f.Question, true
			return r, t.editor.Show(ctx, steps)
		}
		if f.State == a2a.StateInputRequired && f.SaidNothing() && !t.writing.Traits().EndsAsking {
			return r, t.editor.Show(ctx, []mapping.Step{t.notice(waitsUntoldNotice)})
		}
	case a2a.StateCanceled:
		r.StopReason = acp.StopCancelled
	case a2a.StateRejected:
		r.StopReason = acp.StopRefusal
		if f.FailText != "" {
			return r, t.tellRejection(ctx)
		}
	}
	if failure := t.taskError(); failure != nil && len(r.Pending) == 0 {
		return r, failure
	}
	return r, nil
}

// tellRejection shows why the agent has rejected the task, if it has said so.
func (t *turn) tellRejection(ctx context.Context) error {
	step, ok := t.fold.Rejection()
	if !ok {
		return nil
	}
	return t.editor.Show(ctx, []mapping.Step{step})
}

// keepTaskAfter decides whether the session goes on with the task after an error.
// undelivered says that the user's answers have not reached the agent.
func (t *turn) keepTaskAfter(err error, undelivered bool) {
	f, s := t.fold, t.session
	if undelivered {
		f.Doubt()
	}
	refusal := a2a.ErrorOf(err)
	if refusal != nil || errors.As(err, new(*undeliveredError)) {
		f.Unreply()
	}
	switch refused := refusal != nil && !refusal.Unauthenticated(); {
	case errors.As(err, new(*taskLostError)) || refusal != nil && f.State == "" && !t.keepsQuestion(refusal):
		// The next prompt begins a new task, in the same context.
		s.dropTask()
	case undelivered && (refused || errors.As(err, new(*undeliveredError))):
		// The task waits for an answer that did not reach it, and would not take a
		// prompt instead. Or it does what the user has not said.
		t.agent.cancelLater(f.TaskID)
		s.lostConversation = t.writing.Traits().TaskIsConversation
		s.dropTask()
	case refused && f.State.Terminal() && !(f.State == a2a.StateCompleted && t.writing.Traits().ContinuesCompleted):
		s.dropTask() // inference-gateway's says the error behind the state, and would refuse the next prompt
	default:
		s.keepTaskAfterError()
	}
}

// keepsQuestion reports, once in a row, whether the agent has refused an answer of the
// user's, and the task that has asked, or may have in an earlier process, waits for another.
// Where it does not wait any more, [turn.leavesTask] finds out, or the next refusal tells:
// not every agent can be asked.
func (t *turn) keepsQuestion(refusal *a2a.Error) bool {
	task, was := t.session.taskID, t.session.refused
	if t.isCommand || task == "" || !refusesMessage(refusal) || task != t.session.leftOff && t.fold.Rest(task).State == "" {
		return false
	}
	t.session.refused = task
	return was != task
}

// notice makes a step of a text of the bridge itself.
func (t *turn) notice(text string) mapping.Step {
	return mapping.Step{Kind: mapping.StepNotice, TaskID: t.fold.TaskID, ContextID: t.fold.ContextID, Text: text}
}

// noteTask notes the task, or the context, once the agent has named it. A process that is killed from
// then on leaves a task to come back to: the journal has it before anything is shown, by one write.
// The session's record, which takes five calls, follows at the turn's end: whoever loads a session that
// has not come to it takes the journal's word.
func (t *turn) noteTask() {
	s, isNew := t.session, t.fold.TaskID != "" && t.identify(t.fold.TaskID)
	switch c := t.fold.ContextID; {
	case t.isCommand:
		return
	case isNew:
		s.contextID, s.taskID = c, t.fold.TaskID
	case t.fold.TaskID != "" || c == "" || c == s.contextID:
		return
	default:
		s.contextID, s.named = c, false
	}
	if s.journal == nil {
		s.save()
		return
	}
	s.record(spell.TaskLine(nil, s.taskID, s.contextID, t.sent.id))
	if s.pushes != nil { // whose address the record alone has
		s.save()
	}
}

// waitsForUser reports whether the task waits for the user, as far as is known, who has not
// cancelled.
func (t *turn) waitsForUser() bool {
	return (t.fold.Calls.Waits() && t.view != lostView || t.fold.WaitsForWords()) && !t.isCancelled()
}
