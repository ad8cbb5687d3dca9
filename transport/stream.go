package transport

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/a2astdio/a2astdio/internal/fastpath"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A Stream is what an agent says in answer to one request. Read is called by one caller
// at a time; Drain and Close may be called while it runs.
type Stream struct {
	endpoint *endpoint
	way      way
	x        *exchange
	reader   *frameReader // nil for an answer that was no stream

	// result is set for an answer that was no stream: its only event.
	result json.RawMessage
	// accepted is called with the first event. Before that, an error of the agent's may be
	// about the way in which it was asked: askOtherwise goes on in another one.
	accepted     func()
	askOtherwise func(refusal error) (*Stream, error)

	frames []frame // of the last read
	events []a2a.Event
	// templates are what the next event is likely to look like, the likeliest first;
	// parts and source hold what events that fit one have in place of views.
	templates []*template
	unfit     int // templates that were made, less the events that fitted one
	lesson    lesson
	parts     []a2a.Part
	source    fastpath.Source
	gotEvent  bool
	notEvent  error // for a stream that brings words, such as a gateway's, and no event
	// err ends the stream; it is returned when the events before it have been.
	err error

	mu sync.Mutex // of what follows
	// ended: it was closed, given to Drain, or read to its end.
	ended bool
	// reading: a Read has the body. draining: Drain was called; that Read, or else Drain, has the
	// rest drained.
	reading, draining bool
}

// keepText is the room for decoded text that is kept from one read to the next, as long as
// the frames' buffer is as large. A larger one would double the memory of a stream that
// waits.
const keepText = 16 << 20

// maxMessage is how many bytes an event or an answer may have.
func (c *Client) maxMessage() int { return cmp.Or(c.opts.MaxMessage<<20, maxEvent) }

// tooLarge says what is too large, for errors.
func (c *Client) tooLarge() string {
	return fmt.Sprintf("more than %d MiB, which is the limit (--max-message)", c.maxMessage()>>20)
}

// Unstreamed reports whether what Read returns is the one answer of an agent that did not
// stream.
func (s *Stream) Unstreamed() bool { return s.result != nil }

// adopt goes on with another stream in place of this one, which the agent has refused. If this one
// was closed meanwhile, it closes the other.
func (s *Stream) adopt(next *Stream) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		next.Close()
		return failf(ErrEnded, "%s: the stream was closed", s.x.shownURL())
	}
	s.x.drain()
	if next.reader != nil {
		next.reader.onRead = s.reader.onRead
	}
	s.way, s.x, s.reader = next.way, next.x, next.reader
	s.result, s.accepted, s.askOtherwise, s.ended, s.err = next.result, next.accepted, next.askOtherwise, next.ended, next.err
	return nil
}

// HangUp ends our half of the connection and goes on reading: to some agents (Gemini's
// server) that means to stop what they are doing, and keep the conversation. It reports
// whether that could be done: the connection must be plain HTTP/1, carry this stream
// alone, and never have carried a message of another context, since that would be
// stopped as well. What follows is read as before.
func (s *Stream) HangUp() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	conn := s.x.alone.Load()
	return s.reader != nil && conn != nil && conn.endWriting(s.x.op.owner())
}

// Read waits for at least one event and returns it with the others that have
// arrived completely, some thousand at most; it does not wait for more, and does not
// read ahead. Only whoever calls Read takes anything from the connection, so that a slow
// reader slows the agent down.
//
// The events are views, valid until the next Read. The error is io.EOF if the
// stream ended as it should; an [*a2a.Error] if the agent sent one; it wraps
// [ErrInterrupted] if the stream was cut. A clean end does not mean that the
// agent had said all: see [a2a.Event.EndsLeg].
func (s *Stream) Read() ([]a2a.Event, error) {
	defer s.endRead()
	s.learn() // before what it has views of is overwritten
	if s.x.c.poison {
		clear(s.events)
		clear(s.parts)
		spoil(s.source.Text)
		s.events, s.parts, s.source.Text = nil, nil, nil
	}
	s.events, s.parts, s.source.Text = s.events[:0], s.parts[:0], s.source.Text[:0]
	if s.reader != nil && cap(s.source.Text) > min(len(s.reader.buf), keepText) {
		s.source.Text = nil
	}
	for {
		if s.result != nil && !s.gotEvent {
			s.gotEvent = true
			s.events = append(s.events, *s.event())
			return s.events, nil
		}
		if s.err != nil { // perhaps what has ended it, behind the events of the Read before
			return nil, s.err
		}
		if !s.beginRead() {
			return nil, failf(ErrEnded, "%s: the stream is read by nobody any more", s.x.shownURL())
		}
		frames, err := s.reader.next(s.frames[:0])
		s.frames = frames
		if err == io.EOF {
			if f, ok := s.reader.unterminated(); ok {
				frames, err = append(frames, f), nil
			}
		}
		if err != nil {
			s.finish(err)
			return nil, s.err
		}
		for i := range frames {
			if s.err = s.decode(&frames[i]); s.err != nil {
				s.fail()
				break
			}
		}
		if len(s.events) > 0 {
			return s.events, nil
		}
	}
}

// fail ends the stream with s.err, a frame's error, and has the rest drained; but if that refuses
// the way in which the agent was asked, the stream becomes that of another way.
func (s *Stream) fail() {
	switch again := s.askOtherwise; {
	case again != nil && !s.gotEvent && a2a.ErrorOf(s.err) != nil:
		next, err := again(s.err)
		if err == nil {
			err = s.adopt(next)
		}
		if err == nil {
			return
		}
		s.err = err
	default:
		s.err = s.endpoint.explain(s.way, s.err)
	}
	// What follows an error is not wanted; the connection stays, since it may carry other
	// work of this agent.
	s.Drain()
}

// Heard has f called for everything that comes from the agent, also for comments, by
// which servers show that they live. It must be set before Read, which calls it.
func (s *Stream) Heard(f func()) {
	if s.reader != nil { // nil: the answer is there
		s.reader.onRead = f
	}
}

// finish ends the stream, and makes of err, with which its reader has ended, the s.err that Read returns.
func (s *Stream) finish(err error) {
	open := s.markEnded()
	cut := errors.Join(ErrInterrupted, err)
	switch gone := s.x.endedByUs(err, nil, "the stream"); {
	case !open:
		s.err = failf(ErrEnded, "%s: the stream was closed", s.x.shownURL())
	case gone != nil:
		s.err = gone
	case err == io.EOF && s.reader.unfinished():
		s.err = failf(cut, "%s: %v", s.x.shownURL(), errEventCut)
	case err == io.EOF && !s.gotEvent && s.notEvent != nil:
		s.err = s.notEvent
	case err == io.EOF:
		s.err = io.EOF
	case err == errEventSize:
		s.err = failf(ErrTooLarge, "%s: the agent sent an event of %s", s.x.shownURL(), s.x.c.tooLarge())
	default:
		cause, _ := Explain(err)
		s.err = failf(cut, "%s: %s in the middle of a stream", s.x.shownURL(), cause)
	}
	if open {
		s.x.close()
	}
}

// markEnded marks the stream as ended, and reports whether it was open until now.
func (s *Stream) markEnded() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	open := !s.ended
	s.ended = true
	return open
}

// Drain gives the stream up without closing its connection, because closing one
// makes some agents cancel the task, or drop the questions that it still has
// open: the client reads the rest unseen. A Read that is under way may still
// return events; after it Read fails with [ErrEnded], and Close does nothing.
func (s *Stream) Drain() {
	if !s.markEnded() {
		return
	}
	s.x.life.detach()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining = true; !s.reading {
		s.x.drain()
	}
}

// beginRead gives the body to a Read, until endRead; false: the stream is being drained.
func (s *Stream) beginRead() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reading = s.reading || !s.draining // who has it keeps it, until endRead has the rest drained
	return !s.draining
}

// endRead ends a Read. If Drain was called meanwhile, it has the rest drained.
func (s *Stream) endRead() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reading && s.draining {
		s.x.drain()
	}
	s.reading = false
}

// drain has a goroutine read the body to its end, unseen. It does not read by way of the frames: the
// caller may still hold their last events. It ends with the body or with Client.Close, which
// cancels its life.
func (x *exchange) drain() {
	x.c.mu.Lock()
	defer x.c.mu.Unlock()
	if x.c.base.Err() != nil {
		x.close()
		return
	}
	x.c.wg.Go(func() {
		defer x.close()
		_, _ = io.Copy(io.Discard, x.resp.Body)
	})
}

// Close ends the stream now. It may be called at any time and more than once.
func (s *Stream) Close() error {
	if s.markEnded() {
		s.x.close()
	}
	return nil
}
