package bridge

import (
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// readers are the streams of a turn's legs, each read by a goroutine of its own. An agent may
// abort a task whose connection is closed, so none is closed while the turn lives, nor at its
// end: then they are drained. A leg passes them on to the next, for which the older ones only
// tell that there is something to look at.
type readers struct {
	batches chan batch
	left    chan struct{} // closed when nobody takes batches any more
	open    []*reader
}

// A reader is one stream.
type reader struct {
	stream  *transport.Stream
	idle    *idleGuard
	release func()        // of its request, nil if there is none
	next    chan struct{} // it reads on
}

// A batch is what one read of a stream has brought: events, which are valid until the reader
// reads on, or its end.
type batch struct {
	*reader
	events []a2a.Event
	err    error
}

func newReaders() *readers {
	return &readers{batches: make(chan batch), left: make(chan struct{})}
}

// read begins to read a stream.
func (s *readers) read(stream *transport.Stream, idle *idleGuard, release func()) *reader {
	r := &reader{stream: stream, idle: idle, release: release, next: make(chan struct{})}
	s.open = append(s.open, r)
	go s.run(r)
	return r
}

// run ends with the stream, or at its next event after close; at the latest when the client is
// closed, which is why it is not one of the agent's goroutines: a Read can only be ended by
// closing the connection.
func (s *readers) run(r *reader) {
	for {
		r.idle.start()
		events, err := r.stream.Read()
		if r.idle.stop() {
			err = &cutError{(&idleError{limit: r.idle.limit}).Error()}
		}
		select {
		case s.batches <- batch{r, events, err}:
		case <-s.left:
			return
		}
		if err != nil {
			return
		}
		select {
		case <-r.next:
		case <-s.left:
			return
		}
	}
}

// goOn lets a reader read on when its events were dealt with, and forgets one that has ended.
func (s *readers) goOn(b batch) {
	if b.err == nil {
		select {
		case b.next <- struct{}{}:
		case <-s.left:
		}
		return
	}
	for i, r := range s.open {
		if r == b.reader {
			s.open = append(s.open[:i:i], s.open[i+1:]...)
			break
		}
	}
	b.stream.Close()
	if b.release != nil {
		b.release()
	}
}

// close gives up what is open.
func (s *readers) close() {
	close(s.left)
	for _, r := range s.open {
		r.stream.Drain()
		if r.release != nil {
			r.release()
		}
	}
}
