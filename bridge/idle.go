package bridge

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/a2astdio/a2astdio/transport"
)

// An idleGuard closes a stream on which nothing has come for too long. Only the
// time in which it is read counts: not that in which the user is asked, or the
// editor is slow. A nil one, for no limit, does nothing.
type idleGuard struct {
	limit time.Duration
	timer *time.Timer
	hit   atomic.Bool
}

func newIdleGuard(stream *transport.Stream, limit time.Duration) *idleGuard {
	if limit <= 0 {
		return nil
	}
	g := &idleGuard{limit: limit}
	g.timer = time.AfterFunc(limit, func() {
		g.hit.Store(true)
		_ = stream.Close() // the reader sees what comes of it
	})
	g.timer.Stop()
	// A comment is no event, but a sign of life.
	stream.Heard(g.start)
	return g
}

func (g *idleGuard) start() {
	if g != nil {
		g.timer.Reset(g.limit)
	}
}

// An idleError ends a request that got no answer for too long.
type idleError struct {
	limit time.Duration
	err   error // the request's own
}

func (e *idleError) Error() string {
	return fmt.Sprintf("agent: said nothing for %v: --idle-timeout allows more", e.limit)
}
func (e *idleError) Unwrap() error { return e.err }

// send makes a request whose answer has to begin within the limit. The caller calls
// release, if it is not nil, after the stream's end.
func send(ctx context.Context, r *request, limit time.Duration) (stream *transport.Stream, taskID string, release func(), err error) {
	if limit <= 0 {
		stream, taskID, err = r.send(ctx)
		return stream, taskID, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	timer := time.AfterFunc(limit, cancel)
	stream, taskID, err = r.send(ctx)
	if hit := !timer.Stop(); hit && err != nil {
		err = &idleError{limit, err}
	}
	return stream, taskID, cancel, err
}

// stop reports whether the limit was passed.
func (g *idleGuard) stop() bool {
	if g == nil {
		return false
	}
	g.timer.Stop()
	return g.hit.Load()
}
