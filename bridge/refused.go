package bridge

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport"
)

// maxRefused is how long an agent may refuse connections before its task is given up:
// nothing listens there any more, which is no failure of the network. An agent that is
// restarted at once is back within this time, and most have forgotten the task then.
const maxRefused = 10 * time.Second

// A refusedError is an agent that has refused connections for too long.
type refusedError struct {
	taskID string
	err    error
}

func (e *refusedError) Error() string {
	why, _, _ := strings.Cut(strings.TrimPrefix(e.err.Error(), "agent: "), ": is the agent running")
	return fmt.Sprintf("agent: it has ended: for %v nobody has accepted a connection where it was (%v). What task %s was doing is probably lost; start the agent again, and prompt again",
		maxRefused, why, e.taskID)
}

func (e *refusedError) Unwrap() error { return transport.ErrInterrupted }

// refuses notes whether an attempt has failed because nothing listens at the agent's
// address. It tells the user when that begins, and returns the error that ends the leg
// when it has lasted too long. An agent that pushes is not given up.
func (l *leg) refuses(ctx context.Context, err error) error {
	switch {
	case l.agent.opts.Client.Exited() != nil: // the process of the agent tells more
	case !transport.IsRefused(err):
		l.refusedAt = time.Time{}
	case l.refusedAt.IsZero():
		l.refusedAt = time.Now()
		l.tell(ctx, mapping.Connection{Phase: mapping.PhaseWaiting, Why: err.Error()})
	case l.request.pushes == nil && time.Since(l.refusedAt) >= maxRefused:
		return &refusedError{l.taskID, err}
	}
	return nil
}

// pauseUnlessRefused is pause, unless the agent has refused connections for too long.
// In the middle of the first pause it probes whether anything listens, so that the user
// knows within a second. (Not before it: the connections of a process that dies may end
// before its listener does.)
func (l *leg) pauseUnlessRefused(ctx context.Context, attempt int, pause time.Duration, err error) (pushed bool, _ error) {
	if lost := l.refuses(ctx, err); lost != nil {
		return false, lost
	}
	if attempt > 1 || !l.refusedAt.IsZero() || l.polled {
		return l.pause(ctx, pause, err)
	}
	pushed, waitErr := l.pause(ctx, pause/2, err)
	if pushed || waitErr != nil {
		return pushed, waitErr
	}
	if probed := l.agent.opts.Client.Probe(ctx); probed != nil {
		_ = l.refuses(ctx, probed) // the refusals have only begun
	}
	return l.pause(ctx, pause/2, err)
}

// untilGiven shortens a wait to what is left until the agent is given up, which is one
// attempt more.
func (l *leg) untilGiven(pause time.Duration) time.Duration {
	if l.refusedAt.IsZero() || l.request.pushes != nil {
		return pause
	}
	return min(pause, max(maxRefused-time.Since(l.refusedAt), 0))
}
