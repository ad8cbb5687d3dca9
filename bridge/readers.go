package bridge

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// readers are the streams of a turn's legs, each read by a goroutine of its own. A leg passes
// them on to the next, for which the older ones only tell that there is something to look at.
// An agent may abort a task whose connection is closed, so none is closed while the turn lives
// (but by an idleGuard), nor at its end: then they are drained.
type readers struct {
	batches chan batch      // what streams have brought, and requests have (leg.handOver), one at a time
	closed  context.Context // ended by close, or with the agent: nobody takes batches any more
	stop    context.CancelFunc
	open    []*reader // those that were added and have not ended
}

// A reader is one stream.
type reader struct {
	stream  *transport.Stream
	idle    *idleGuard
	release func()        // ends its request's context
	goOn    chan struct{} // readOn sends: it reads on
}

// A batch is what one read of a stream has brought: events, which are valid until the reader
// reads on, or its end. Or it is what a request has brought.
type batch struct {
	*reader
	events []a2a.Event
	err    error
	reply  *reply
}

// newReaders returns readers that end with ctx, the agent's.
func newReaders(ctx context.Context) *readers {
	s := &readers{batches: make(chan batch)}
	s.closed, s.stop = context.WithCancel(ctx)
	return s
}

// opens makes a request that may be silent for as long as --idle-timeout allows, and whose
// answer may begin with a stream: the reply has a reader of that, which is to be run or
// drained, else nil. within: the answer has to begin within that time, too.
func (a *Agent) opens(within bool, request func(context.Context) (begun, error)) (r reply) {
	ctx, release := context.WithCancel(a.ctx)
	idle := newIdleGuard(a.opts.IdleTimeout, release)
	if !within {
		idle.stop()
	}
	r.begun, r.err = request(ctx)
	if idle.stop() && within && r.err != nil {
		r.err = &idleError{idle.limit, r.err}
	}
	if r.stream == nil {
		release()
		return r
	}
	r.stream.Heard(idle.start) // a comment is no event, but a sign of life
	r.reader = &reader{stream: r.stream, idle: idle, release: release, goOn: make(chan struct{})}
	return r
}

// drain ends the interest in a stream, whose connection stays open until the agent ends it.
func (r *reader) drain() {
	r.stream.Drain()
	r.release()
}

// add takes a reader, which leg.runRequest runs, and returns it: it is drained at the end.
func (s *readers) add(r *reader) *reader {
	s.open = append(s.open, r)
	return r
}

// run gives the loop what a stream brings, a batch at a time. It ends with the stream, or at
// its next event after close; at the latest when the client is closed, which is why it is not
// one of the agent's goroutines: a Read can only be ended by closing the connection.
func (s *readers) run(r *reader) {
	for {
		r.idle.start()
		events, err := r.stream.Read()
		if r.idle.stop() {
			err = &idleError{r.idle.limit, transport.ErrInterrupted}
		}
		select {
		case s.batches <- batch{reader: r, events: events, err: err}:
		case <-s.closed.Done():
			r.drain() // which may not be in the list: see leg.take
			return
		}
		if err != nil {
			return
		}
		select {
		case <-r.goOn:
		case <-s.closed.Done():
			r.drain()
			return
		}
	}
}

// readOn lets the reader of a batch read on when its events were dealt with, and forgets one
// that has ended. It is called once for each batch.
func (s *readers) readOn(b batch) {
	if b.err == nil {
		select {
		case b.goOn <- struct{}{}:
		case <-s.closed.Done():
		}
		return
	}
	s.open = slices.DeleteFunc(s.open, func(r *reader) bool { return r == b.reader })
	b.stream.Close()
	b.release()
}

// close drains what is open, and ends the readers: nobody takes batches any more. It is called once.
func (s *readers) close() {
	s.stop()
	for _, r := range s.open {
		r.drain()
	}
}

// An idleGuard ends a request, or its stream, to which nothing has come for too long. Only the
// time in which it is read counts: not that in which the user is asked, or the
// editor is slow. A nil one, for no limit, does nothing.
type idleGuard struct {
	limit time.Duration
	timer *time.Timer
}

// newIdleGuard begins to count; end is called when the limit has passed. A limit of 0 is none.
func newIdleGuard(limit time.Duration, end func()) *idleGuard {
	if limit <= 0 {
		return nil
	}
	return &idleGuard{limit, time.AfterFunc(limit, end)}
}

// start begins to count, anew.
func (g *idleGuard) start() {
	if g != nil {
		g.timer.Reset(g.limit)
	}
}

// stop counts no more, and reports whether the limit was passed.
func (g *idleGuard) stop() bool { return g != nil && !g.timer.Stop() }

// An idleError ends a request, or its stream, that was silent for too long.
type idleError struct {
	limit time.Duration
	err   error // the request's own
}

func (e *idleError) Error() string {
	return fmt.Sprintf("agent: said nothing for %v: --idle-timeout allows more", e.limit)
}
func (e *idleError) Unwrap() error { return e.err }

// deepen gives a new goroutine the stack that it will need. Otherwise it grows in steps, and each
// copies what is there.
//
//go:noinline
func deepen() {
	var room [8 << 10]byte
	runtime.KeepAlive(&room)
}
