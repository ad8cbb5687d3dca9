package bridge

import (
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
	return g
}

func (g *idleGuard) start() {
	if g != nil {
		g.timer.Reset(g.limit)
	}
}

// stop reports whether the limit was passed.
func (g *idleGuard) stop() bool {
	if g == nil {
		return false
	}
	g.timer.Stop()
	return g.hit.Load()
}
