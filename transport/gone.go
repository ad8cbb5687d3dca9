package transport

import (
	"context"
	"errors"
	"strings"
	"time"
)

// goneWait is how long after the loss of a connection the agent's process may
// take to be known as ended: the system closes its connections first, and then
// its children are ended (package agentproc takes 400 ms for those that do not
// want to).
const goneWait = 700 * time.Millisecond

// ErrGone: the process of the agent has ended, so that nobody is there who could
// be asked again.
var ErrGone = errors.New("agent: gone")

// A Process is that of an agent which was started for this client alone. As with
// a context, Done is closed when it has ended, and Err says how, and what to do.
type Process interface {
	Done() <-chan struct{}
	Err() error
}

// Gone is closed when the agent's process has ended; nil if no process is known.
func (c *Client) Gone() <-chan struct{} {
	if c.opts.Process == nil {
		return nil
	}
	return c.opts.Process.Done()
}

// Fate says why a connection was lost: that the agent's process has ended, with
// an error that wraps [ErrGone] and err; or else err. If it might have just ended
// Fate waits for a moment.
func (c *Client) Fate(ctx context.Context, err error) error {
	if c.opts.Process == nil || errors.Is(err, ErrGone) {
		return err
	}
	timer := time.NewTimer(goneWait)
	defer timer.Stop()
	select {
	case <-c.Gone():
		return c.end(err)
	case <-timer.C:
	case <-ctx.Done():
	}
	return err
}

// ended is nil as long as the agent may be there. Nothing is sent to one that has
// ended: its port may be somebody else's by now.
func (c *Client) ended() error {
	select {
	case <-c.Gone():
		return c.end(ErrUnreachable)
	default:
		return nil
	}
}

func (c *Client) end(err error) error {
	return failf(errors.Join(ErrGone, err), "%s", strings.TrimPrefix(c.opts.Process.Err().Error(), "agent: "))
}

// fate is Fate where a request may have met the agent's end.
func (x *exchange) fate(err error) error {
	if errors.Is(err, ErrUnreachable) || errors.Is(err, ErrInterrupted) || errors.Is(err, ErrPossiblyDelivered) {
		return x.c.Fate(x.ctx, err)
	}
	return err
}
