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

// cancelling is how a turn is cancelled: from any goroutine, at any time, even while the turn is
// blocked by a slow editor. The agent is told then; the turn's loop measures the time that it has left.
type cancelling struct {
	over      context.Context // ended when the turn is released
	cancelled context.Context // ended by cancel
	agentTold context.Context // ended when the agent has been told, or need not be
	free      context.CancelFunc
	end       context.CancelFunc
	noteTold  context.CancelFunc
	telling   sync.WaitGroup

	mu       sync.Mutex
	deadline time.Time // until when the agent may go on; zero: it was not cancelled
	lost     error     // the first error of the editor
	task     string    // "": it has no ID yet
	toldTask string    // the one that the agent was told to cancel
	// answer is what the agent has answered to that, a task; runs is why it may go on, nil if it was
	// not told: its task is over, or it was stopped without a cancel.
	answer *a2a.Event
	runs   error
	// spared: the agent was stopped without ending its task.
	spared bool
	// gentle, if set, does that; false: it could not.
	gentle func() bool
}

// cancel cancels the turn. It does not wait.
func (t *turn) cancel() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.deadline.IsZero() {
		t.deadline = time.Now().Add(cancelGrace)
		t.end()
	}
}

// lose cancels a turn whose editor has failed: nobody sees what the agent does from then on, or
// can answer it.
func (t *turn) lose(err error) {
	t.mu.Lock()
	t.lost = cmp.Or(t.lost, err)
	t.mu.Unlock()
	t.cancel()
}

// cancelledBy notes that the agent has cancelled a task at the request of somebody else
// than the turn. If it is the turn's task, the turn ends as cancelled, even if the
// task's stream does not tell.
func (t *turn) cancelledBy(task string) {
	t.mu.Lock()
	is := t.task == task && !t.isCancelled()
	if is {
		t.toldTask, t.runs = task, nil
		t.noteTold()
	}
	t.mu.Unlock()
	if is {
		t.cancel()
	}
}

func (t *turn) isCancelled() bool { return t.cancelled.Err() != nil }

// graceLeft is how long the agent may still go on.
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

// heed has the agent told when the turn is cancelled.
func (t *turn) heed(ctx context.Context) {
	select {
	case <-t.cancelled.Done():
		t.tell()
	case <-ctx.Done():
	}
}

// identify says which task there is to cancel, and reports whether that changed.
func (t *turn) identify(task string) bool {
	if task == t.task {
		return false // only the turn writes it, and the turn calls this
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.task = task
	if t.isCancelled() {
		t.telling.Go(t.tell) // ends with the turn
	}
	return true
}

// leastTell is what an agent has at least to take a cancel: its task may become known at the end of the grace only.
const leastTell = 500 * time.Millisecond

// tell cancels the task, if it is known, unless that was done, or is not needed.
func (t *turn) tell() {
	t.mu.Lock()
	defer t.mu.Unlock()
	task, before := t.task, t.toldTask
	if task == before {
		return
	}
	t.toldTask = task
	if before != "" { // whose message the agent has refused, and which was sent anew
		t.agent.cancelLater(task)
		return
	}
	defer t.noteTold()
	if t.spared = t.gentle != nil && t.gentle(); t.spared {
		t.runs = nil
		return
	}
	if least := time.Now().Add(leastTell); t.deadline.Before(least) {
		t.deadline = least
	}
	ctx, stop := context.WithDeadline(t.ctx, t.deadline)
	defer stop()
	t.mu.Unlock() // for as long as the agent takes
	answer, err := t.agent.cancelTask(ctx, task, "the turn was cancelled")
	if isRefusal(err, a2a.CodeTaskNotCancelable) { // it may have ended just before
		if state, lookErr := t.agent.stateOf(ctx, task, cancelGrace); lookErr == nil && state.Terminal() {
			err = nil
		}
	}
	t.mu.Lock()
	t.cancelling.answer, t.runs = answer, err
}

// A shownEditor is the editor of a turn. If it does not take what is shown to it, the turn is lost: see [turn.lose].
type shownEditor struct {
	Editor
	turn *turn
}

func (e *shownEditor) Show(ctx context.Context, steps []mapping.Step) error {
	err := e.Editor.Show(ctx, steps)
	if err != nil && ctx.Err() == nil {
		e.turn.lose(err)
	}
	return err
}

// awaitsCancel reports whether a leg that is over does not end its turn: that was cancelled, the
// task rests, and may go on. The answer to the cancel ends it, or the time for that.
func (t *turn) awaitsCancel(leg *leg) bool {
	return leg.err == nil && t.isCancelled() && t.fold.TaskID != "" && !t.fold.State.Terminal() && !t.wasSpared()
}

// showCancelled shows what the agent has answered to the cancel: how the task stands. If that is over, what
// its stream still says has its time.
func (t *turn) showCancelled(ctx context.Context) (err error) {
	t.mu.Lock()
	task := t.cancelling.answer
	t.mu.Unlock()
	if task == nil {
		return nil
	}
	if t.steps = t.fold.Event(shown.Live, stateOf(task), t.steps[:0]); len(t.steps) > 0 {
		err = t.editor.Show(ctx, t.steps)
	}
	if t.fold.State.Terminal() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.deadline = time.Now().Add(lateSilence)
	}
	return err
}

// stateOf is a task that was not asked for: it tells nothing but how the task stands. Its message
// may have been shown before.
func stateOf(task *a2a.Event) *a2a.Event {
	task.Kind = a2a.EventStatus
	task.HasMessage = task.HasMessage && task.State.Terminal()
	return task
}

var errUnanswered = errors.New("it has not answered the cancel")

// settleCancel waits, at the end of a cancelled turn, until the agent has been told, so
// that it does not go on working. An agent that has refused is told again: the cancel may have
// come before the turn's message did. It returns why the agent may go on, nil if it has stopped.
func (t *turn) settleCancel(ctx context.Context) error {
	select {
	case <-t.agentTold.Done():
	case <-time.After(t.graceLeft() + leastTell): // it is told by then
	case <-ctx.Done():
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if refusalOf(t.runs) != nil {
		t.agent.cancelLater(t.task)
	}
	return t.runs
}

// stateOf looks at a task, which may take so long.
func (a *Agent) stateOf(ctx context.Context, task string, limit time.Duration) (a2a.State, error) {
	ctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	now, err := a.opts.Client.Get(ctx, task, 0)
	if err != nil {
		return "", err
	}
	return now.State, nil
}

// cancelTask calls tasks/cancel. Nothing else of the bridge does. It lasts as long as
// ctx lets it, and then returns errUnanswered; the error is logged as well.
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

// later does something in the background, which ends with its time, or with the agent.
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

// chooseCancel has a cancel hang up, instead of calling tasks/cancel, where the
// agent's dialect says that it stops then: tasks/cancel would end the conversation as
// well. Hanging up does not stop a tool that is at work. A task that is over needs neither.
func (t *turn) chooseCancel(leg *leg) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gentle = nil
	switch {
	case t.fold.State.Terminal():
		t.gentle = func() bool { return true }
	case t.writing.Traits().HangUpStops && !t.fold.Running() && leg.live != nil:
		t.gentle = leg.live.stream.HangUp
	}
}
