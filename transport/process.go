package transport

import (
	"context"
	"errors"
	"strings"
	"time"
)

// exitWait is how long after the loss of a connection the agent's process may
// take to be known as ended: the system closes its connections first, and then
// its children are ended (package agentproc takes 400 ms for those that do not
// want to).
const exitWait = 700 * time.Millisecond

// ErrExited: the process of the agent has ended, so trying again is useless.
var ErrExited = errors.New("agent: its process has ended")

// A Process is that of an agent which was started for this client alone. As with
// a context, Done is closed when it has ended, and Err says how, and what to do.
//
// Revive lets one that has ended be started again: from then on Done is another
// channel, and [ClientOptions.Resolve] starts it and says where it is now. Err goes
// on telling of the end before. For one that has not ended Revive does nothing.
type Process interface {
	Done() <-chan struct{}
	Err() error
	Revive()
}

// Revive lets an agent whose process has ended be started again by the next call. It
// is for the beginning of something new: what was under way has ended with the
// process, and [ErrExited] says so.
func (c *Client) Revive() {
	if c.opts.Process != nil {
		c.opts.Process.Revive()
	}
}

// Starting reports whether the agent is one that is started for this client and has
// not been reached since.
func (c *Client) Starting() bool {
	if c.opts.Process == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current == nil || c.current.run != c.Exited()
}

// Exited is closed when the agent's process has ended; nil if no process is known. Each run of the
// process has a channel of its own.
func (c *Client) Exited() <-chan struct{} {
	if c.opts.Process == nil {
		return nil
	}
	return c.opts.Process.Done()
}

// ExplainLoss says why a connection was lost: that the agent's process has ended, with
// an error that wraps [ErrExited] and err; or else err. If it might have just ended
// ExplainLoss waits for a moment.
func (c *Client) ExplainLoss(ctx context.Context, err error) error {
	if c.opts.Process == nil || errors.Is(err, ErrExited) {
		return err
	}
	select {
	case <-c.Exited():
		return c.exitError(err)
	case <-time.After(exitWait):
	case <-ctx.Done():
	}
	return err
}

// checkExited returns an error once the agent's process has ended; nil before, or if none is known.
// Nothing is sent to an agent that has ended: another program may have its port by now.
func (c *Client) checkExited() error {
	select {
	case <-c.Exited():
		return c.exitError(ErrUnreachable)
	default:
		return nil
	}
}

// exitError says how the agent's process has ended. It wraps [ErrExited] and err.
func (c *Client) exitError(err error) error {
	return failf(errors.Join(ErrExited, err), "%s", strings.TrimPrefix(c.opts.Process.Err().Error(), "agent: "))
}
