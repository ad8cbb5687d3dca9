package talk

import (
	"context"
	"errors"
	"time"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// InterruptWait bounds how long a turn may take to end after Ctrl-C. The bridge
// promises two seconds, and the reader of our output may be slow.
const InterruptWait = 2500 * time.Millisecond

// ErrStuck reports a turn that does not end in time: it is blocked in writing to a
// reader that does not read.
var ErrStuck = errors.New("the turn is stuck")

// Turn runs the turn, and cancels it when ctx ends.
func Turn(ctx context.Context, session *bridge.Session, run func(context.Context, bridge.Turn) (bridge.Result, error)) (bridge.Result, error) {
	t, err := session.Begin()
	if err != nil {
		return bridge.Result{}, err
	}
	type ending struct {
		result bridge.Result
		err    error
	}
	done := make(chan ending, 1)
	go func() { // ends with the turn; if that is stuck, with the process
		// Without ctx: a cancelled turn tells the agent, and shows what the agent still says.
		r, err := run(context.WithoutCancel(ctx), t)
		done <- ending{r, err}
	}()
	select {
	case e := <-done:
		return e.result, e.err
	case <-ctx.Done():
	}
	session.Cancel()
	timer := time.NewTimer(InterruptWait)
	defer timer.Stop()
	select {
	case e := <-done:
		return e.result, e.err
	case <-timer.C:
		return bridge.Result{}, ErrStuck
	}
}

// WaitsForApproval reports whether a task has a call that waits.
func WaitsForApproval(task *a2a.Event, dialect string) bool {
	fold := mapping.NewFold()
	fold.Speak(dialect)
	fold.Event(shown.Snapshot, task, nil)
	return len(fold.Open()) > 0
}
