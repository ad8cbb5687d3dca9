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

// A canceller is how a turn is cancelled: from any goroutine, at any time, even
// while the turn is blocked by a slow editor. Its [canceller.watch] tells the
// agent and measures the grace period.
type canceller struct {
	cancelled  context.Context // ended by cancel
	cancel     context.CancelFunc
	identified chan struct{} // closed when the task is known, or there is none
	agentTold  chan struct{} // closed when the agent has been told, or need not be
	graceOver  chan struct{} // closed cancelGrace after cancelled, and behind agentTold

	mu    sync.Mutex
	task  string
	known bool
	told  string // the task that the agent was told to cancel
	lost  error  // the first error of the editor
	// answer is what the agent has answered to that, a task; runs is why it may go on, nil if it was
	// not told: its task is over, or it was stopped without a cancel.
	answer *a2a.Event
	runs   error
	// spared: the agent was stopped without ending its task.
	spared bool
	// gentle, if set, does that; false: it could not.
	gentle func() bool
}

func newCanceller() *canceller {
	c := &canceller{identified: make(chan struct{}), graceOver: make(chan struct{}), agentTold: make(chan struct{}), runs: errUnanswered}
	c.cancelled, c.cancel = context.WithCancel(context.Background())
	return c
}

// lose cancels a turn whose editor has failed: nobody sees what the agent does from then on, or
// can answer it.
func (c *canceller) lose(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost = cmp.Or(c.lost, err)
	c.cancel()
}

// cancelledBy notes that the agent has cancelled a task at the request of somebody else
// than the turn. If it is the turn's task, the turn ends as cancelled, even if the
// task's stream does not tell.
func (c *canceller) cancelledBy(task string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.task == task && !c.isCancelled() {
		c.told = task
		c.cancel()
	}
}

func (c *canceller) isCancelled() bool { return c.cancelled.Err() != nil }

// identify says which task there is to cancel; "" says that there is none. It
// reports whether that changed.
func (c *canceller) identify(task string) bool {
	if task == c.task && c.known {
		return false // only the turn writes task, and the turn calls this
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.task = task
	if !c.known {
		c.known = true
		close(c.identified)
	}
	return true
}

// tellToo cancels the present task if the cancel went to an earlier one, whose message
// the agent has refused and which was sent anew.
func (c *canceller) tellToo(agent *Agent) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.told != "" && c.told != c.task && c.task != "" {
		c.told = c.task
		agent.cancelLater(c.task)
	}
}

// wasSpared reports whether the agent was stopped without ending its task.
func (c *canceller) wasSpared() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.spared
}

// A shownEditor is the editor of a turn. If it does not take what is shown to it, or cannot ask
// the user, the turn is lost: see [canceller.lose].
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

// watch waits for the turn to be cancelled, and then for the task to have an ID
// to cancel it by. It ends with ctx.
func (c *canceller) watch(ctx context.Context, agent *Agent) {
	select {
	case <-c.cancelled.Done():
	case <-ctx.Done():
		return
	}
	deadline := time.Now().Add(cancelGrace)
	grace, stop := context.WithDeadline(ctx, deadline)
	defer stop()
	select {
	case <-c.identified:
		c.tell(ctx, agent, max(time.Until(deadline), leastTell))
		close(c.agentTold)
	case <-grace.Done():
	}
	if <-grace.Done(); ctx.Err() == nil {
		close(c.graceOver)
	}
}

// leastTell is what an agent has at least to take a cancel: its task may become known at the end of the grace only.
const leastTell = 500 * time.Millisecond

// tell cancels the task, unless that was done, or is not needed. It takes no longer than limit.
func (c *canceller) tell(ctx context.Context, agent *Agent, limit time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	task, known := c.task, c.told == c.task
	if c.told, c.runs = task, nil; task == "" || known {
		return
	}
	if c.spared = c.gentle != nil && c.gentle(); c.spared {
		return
	}
	c.mu.Unlock() // for as long as the agent takes
	ctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	answer, err := agent.cancelTask(ctx, task, "the turn was cancelled")
	c.mu.Lock()
	c.answer, c.runs = answer, err
}

// awaitsCancel reports whether a leg that is over does not end its turn: that was cancelled, the
// task rests, and may go on. The answer to the cancel ends it, or the time for that.
func (t *turn) awaitsCancel(leg *leg) bool {
	return leg.err == nil && t.isCancelled() && t.fold.TaskID != "" && !t.fold.State.Terminal() && !t.wasSpared()
}

// showCancelled shows what the agent has answered to the cancel: how the task stands. It reports whether
// that is over, so that what its stream still says has its time.
func (t *turn) showCancelled(ctx context.Context) (over bool, err error) {
	t.mu.Lock()
	task := t.canceller.answer
	t.mu.Unlock()
	if task == nil {
		return false, nil
	}
	t.grows = false
	if t.steps = t.fold.Event(shown.Live, stateOf(task), t.steps[:0]); len(t.steps) > 0 {
		err = t.editor.Show(ctx, t.steps)
	}
	return t.fold.State.Terminal(), err
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
func (c *canceller) settleCancel(ctx context.Context, agent *Agent) error {
	select {
	case <-c.agentTold:
	case <-c.graceOver:
	case <-ctx.Done():
		return nil
	}
	c.mu.Lock()
	runs, task, again, refused := c.runs, c.task, c.told == c.task, (*a2a.Error)(nil)
	c.mu.Unlock()
	switch {
	case !errors.As(runs, &refused):
	case refused.Code == a2a.CodeTaskNotCancelable && agent.isOver(ctx, task): // it may have just before
		return nil
	case again:
		agent.cancelLater(task)
	}
	return runs
}

// isOver reports whether a task has ended, by a look at it.
func (a *Agent) isOver(ctx context.Context, task string) bool {
	state, err := a.stateOf(ctx, task, cancelGrace)
	return err == nil && state.Terminal()
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
