package bridge

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// cancelGrace is how long after a cancel the agent may go on. Clients close
// our stdin, or kill, from 2.5 s on (acpx).
const cancelGrace = 2 * time.Second

// cancelling is how a turn is cancelled: from any goroutine, at any time, even while the turn is
// blocked by a slow editor. The agent is told then; the turn's loop measures the time that it has left.
type cancelling struct {
	released       context.Context // ended when the turn is released
	cancelled      context.Context // ended by cancel
	cancelSent     context.Context // ended when the agent has been told, or need not be
	noteReleased   context.CancelFunc
	noteCancelled  context.CancelFunc
	noteCancelSent context.CancelFunc
	telling        sync.WaitGroup

	mu            sync.Mutex
	deadline      time.Time // until when the agent may go on; zero: it was not cancelled
	editorErr     error     // the first error of the editor
	taskID        string    // the task to cancel; "": it has no ID yet
	cancelSentFor string    // the task that the agent was told to cancel
	// cancelAnswer is the task that the agent has answered with. stillRuns is why it may go on, at
	// first errUnanswered; nil: it does not.
	cancelAnswer *a2a.Event
	stillRuns    error
	// hangUp, if set, stops the agent without ending its task; false: it could not. spared: it has.
	hangUp func() bool
	spared bool
}

// cancel cancels the turn. It does not wait.
func (t *turn) cancel() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.deadline.IsZero() {
		t.deadline = time.Now().Add(cancelGrace)
		t.noteCancelled()
	}
}

// editorFailed cancels a turn whose editor has failed: nobody sees what the agent does from
// then on, or can answer it.
func (t *turn) editorFailed(err error) {
	t.mu.Lock()
	t.editorErr = cmp.Or(t.editorErr, err)
	t.mu.Unlock()
	t.cancel()
}

// cancelledBy notes that the agent has cancelled a task at the request of somebody else
// than the turn. If it is the turn's task, the turn ends as cancelled, even if the
// task's stream does not tell.
func (t *turn) cancelledBy(task string) {
	t.mu.Lock()
	is := t.taskID == task && !t.isCancelled()
	if is {
		t.cancelSentFor, t.stillRuns = task, nil
		t.noteCancelSent()
	}
	t.mu.Unlock()
	if is {
		t.cancel()
	}
}

func (t *turn) isCancelled() bool { return t.cancelled.Err() != nil }

// graceLeft is how long the agent may still go on behind a cancel.
func (t *turn) graceLeft() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return time.Until(t.deadline)
}

// wasSpared reports whether the agent was stopped without ending its task.
func (t *turn) wasSpared() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.spared
}

// sendCancelWhenDue calls sendCancel if the turn is cancelled before ctx ends.
func (t *turn) sendCancelWhenDue(ctx context.Context) {
	select {
	case <-t.cancelled.Done():
		t.sendCancel()
	case <-ctx.Done():
	}
}

// identify notes which task there is to cancel, and reports whether that changed.
func (t *turn) identify(task string) bool {
	if task == t.taskID {
		return false // only the turn writes it, and the turn calls this
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.taskID = task
	if t.isCancelled() {
		t.telling.Go(t.sendCancel) // ends with the turn
	}
	return true
}

// leastTell is what an agent has at least to take a cancel: its task may become known at the end of the grace only.
const leastTell = 500 * time.Millisecond

// sendCancel has the agent cancel the task, if that is known and was not told before, or
// stops it by hangUp, and then ends cancelSent.
func (t *turn) sendCancel() {
	t.mu.Lock()
	defer t.mu.Unlock()
	task, before := t.taskID, t.cancelSentFor
	if task == before {
		return
	}
	t.cancelSentFor = task
	if before != "" { // whose message the agent has refused, and which was sent anew
		t.agent.cancelLater(task)
		return
	}
	defer t.noteCancelSent()
	if t.spared = t.hangUp != nil && t.hangUp(); t.spared {
		t.stillRuns = nil
		return
	}
	if least := time.Now().Add(leastTell); t.deadline.Before(least) {
		t.deadline = least
	}
	ctx, stop := context.WithDeadline(t.ctx, t.deadline)
	defer stop()
	t.mu.Unlock() // for as long as the agent takes
	answer, err := t.agent.cancelTask(ctx, task, "the turn was cancelled")
	if a2a.ErrorOf(err).Has(a2a.CodeTaskNotCancelable) { // it may have ended just before
		if state, lookErr := t.agent.taskState(ctx, task, cancelGrace); lookErr == nil && state.Terminal() {
			err = nil
		}
	}
	t.mu.Lock()
	t.cancelAnswer, t.stillRuns = answer, err
}

// A turnEditor is the editor of a turn. If it does not take what is shown, it cancels the turn.
type turnEditor struct {
	Editor
	turn *turn
}

func (e *turnEditor) Show(ctx context.Context, steps []mapping.Step) error {
	err := e.Editor.Show(ctx, steps)
	if err != nil && ctx.Err() == nil {
		e.turn.editorFailed(err)
	}
	return err
}

// awaitsCancelAnswer reports whether a leg that is over does not end its turn: that was
// cancelled, the task rests, and may go on. The answer to the cancel ends it, or the time for
// that.
func (t *turn) awaitsCancelAnswer(leg *leg) bool {
	return leg.err == nil && t.isCancelled() && t.fold.TaskID != "" && !t.fold.State.Terminal() && !t.wasSpared()
}

// showCancelled shows what the agent has answered to the cancel, once it has: how the task stands. If that
// is over, what its stream still says has its time, for which the caller sets the alarm anew. Each
// leg of a cancelled turn calls it; what was shown before is shown no more.
func (t *turn) showCancelled(ctx context.Context) (err error) {
	t.mu.Lock()
	task := t.cancelAnswer
	t.mu.Unlock()
	if task == nil {
		return nil
	}
	if t.steps = t.fold.Event(shown.Live, asStatus(task), t.steps[:0]); len(t.steps) > 0 {
		err = t.editor.Show(ctx, t.steps)
	}
	if t.fold.State.Terminal() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.deadline = time.Now().Add(lateSilence)
	}
	return err
}

// asStatus changes the task that answers a cancel into an event of its state alone, and
// returns it. The message of a task that goes on may have been shown before.
func asStatus(task *a2a.Event) *a2a.Event {
	task.Kind = a2a.EventStatus
	task.HasMessage = task.HasMessage && task.State.Terminal()
	return task
}

var errUnanswered = errors.New("it has not answered the cancel")

// awaitCancelSent waits, at the end of a cancelled turn, until the agent has been told, so that it
// does not go on working. An agent that has refused is told again: the cancel may have come
// before the turn's message did. It returns why the agent may go on; nil: it does not, or ctx
// has ended.
func (t *turn) awaitCancelSent(ctx context.Context) error {
	select {
	case <-t.cancelSent.Done():
	case <-time.After(t.graceLeft() + leastTell): // it is told by then
	case <-ctx.Done():
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if a2a.ErrorOf(t.stillRuns) != nil {
		t.agent.cancelLater(t.taskID)
	}
	return t.stillRuns
}

// taskState asks the agent for the state of a task, which may take as long as limit.
func (a *Agent) taskState(ctx context.Context, task string, limit time.Duration) (a2a.State, error) {
	ctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	now, err := a.opts.Client.Get(ctx, task, 0)
	if err != nil {
		return "", err
	}
	return now.State, nil
}

// cancelTask calls tasks/cancel. Nothing else of the bridge does. An error is logged as well; it is
// errUnanswered where ctx's deadline has passed.
func (a *Agent) cancelTask(ctx context.Context, task, why string) (*a2a.Event, error) {
	a.observe(&Observation{What: ObservedCancel, Why: why, Task: task})
	ev, err := a.opts.Client.Cancel(ctx, task)
	if err != nil {
		a.opts.Log.Debug("cancelling", "task", task, "why", why, "err", err)
	}
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = errUnanswered
	}
	return ev, err
}

// later does something in the background, for limit at most. [Agent.Close] waits for it.
func (a *Agent) later(limit time.Duration, do func(context.Context)) {
	a.legs.Go(func() {
		ctx, stop := context.WithTimeout(a.ctx, limit)
		defer stop()
		do(ctx)
	})
}

// cancelLater cancels a task that is given up. An error is only logged.
func (a *Agent) cancelLater(task string) {
	a.later(cancelGrace, func(ctx context.Context) {
		_, _ = a.cancelTask(ctx, task, "the task is given up")
	})
}

// chooseCancel sets hangUp where a cancel is to hang up, instead of calling tasks/cancel: where the
// agent's dialect says that it stops then, and tasks/cancel would end the conversation as
// well. Hanging up does not stop a tool that is at work. A task that is over needs neither.
func (t *turn) chooseCancel(leg *leg) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.hangUp = nil
	switch {
	case t.fold.State.Terminal():
		t.hangUp = func() bool { return true }
	case t.writing.Traits().HangUpStops && !t.fold.Calls.Running() && leg.live != nil:
		t.hangUp = leg.live.stream.HangUp
	}
}
