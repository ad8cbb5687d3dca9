package bridge

import (
	"context"
	"time"

	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file has what a turn waits for while it shows what its leg brings.

// meanwhile is what a turn shows while it waits for something else.
type meanwhile struct {
	leg    *leg          // what it brings; nil: nothing is shown
	limit  time.Duration // for which a request is waited for at most
	enough func() bool   // what was shown is, and nothing is waited for any more; nil: never
}

// doWhileShowing calls do in another goroutine, and shows what m.leg brings until do returns (ofAnswer), m.enough
// holds (ofLeg), or something of b comes. do has returned then in any case: its context has ended.
func (t *turn) doWhileShowing(ctx context.Context, m meanwhile, b beside, do func(context.Context)) (came came) {
	doing, stop := context.WithCancel(ctx)
	done, finish := context.WithCancel(context.Background())
	go func() { // ends with doing
		defer finish()
		do(doing)
	}()
	b.answer = done.Done()
	for m.leg == nil || m.leg.unshown == nil && (m.enough == nil || !m.enough()) {
		if came = m.leg.await(ctx, b); came == ofSteering {
			t.steering.tellOutcome(errCannotSteer)
		} else if came != ofLeg {
			break
		}
	}
	stop()
	<-done.Done()
	return came
}

// requestWhileShowing makes a request in another goroutine, and shows what m.leg brings until that is answered:
// for m.limit at most, and while a cancel allows it. It returns no task if what was shown is enough.
func (t *turn) requestWhileShowing(ctx context.Context, m meanwhile, request func(context.Context) (*a2a.Event, error)) (task *a2a.Event, err error) {
	ctx, stop := context.WithTimeout(ctx, m.limit)
	defer stop()
	defer context.AfterFunc(t.cancelled, func() { time.AfterFunc(t.graceLeft(), stop) })()
	if t.doWhileShowing(ctx, m, beside{}, func(ctx context.Context) { task, err = request(ctx) }) == ofLeg {
		return nil, m.leg.unshown
	}
	return task, err
}

// lookAtTask asks for the task, and shows it, unless what m.leg brings meanwhile is enough.
func (t *turn) lookAtTask(ctx context.Context, m meanwhile) error {
	taskID := t.fold.TaskID
	task, err := t.requestWhileShowing(ctx, m, func(ctx context.Context) (*a2a.Event, error) {
		return t.agent.opts.Client.Get(ctx, taskID, transport.AllHistory)
	})
	if task == nil || err != nil {
		return err
	}
	return t.showTask(ctx, task)
}

// showTask shows what a task that was looked at has become.
func (t *turn) showTask(ctx context.Context, task *a2a.Event) error {
	if t.view == lostView {
		t.view = partView
	}
	t.steps = t.fold.Event(shown.Snapshot, task, t.steps[:0])
	if len(t.steps) == 0 {
		return nil
	}
	return t.editor.Show(ctx, t.steps)
}
