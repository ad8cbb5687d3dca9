package transport

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A Stream is what an agent says in answer to one request. Read, by one caller
// at a time; Drain and Close may be called while it runs.
type Stream struct {
	c        *Client
	endpoint *endpoint
	at       string // the URL, for errors
	caller   context.Context
	life     *life
	attempt  *attempt // nil for an answer that was no stream
	body     io.ReadCloser
	frames   *frameReader
	poison   bool

	// turn holds a token: whoever has it may read the body. It is a channel
	// because a goroutine that waits for a mutex is awake to testing/synctest.
	turn   chan struct{}
	cut    []frame
	events []a2a.Event
	// like is what the next event is most likely to look like; parts and text
	// hold what events that do have in place of views.
	like  *template
	unfit int // templates that nothing has fitted yet, in a row
	parts []a2a.Part
	text  []byte
	// answered: it is the answer of an agent that did not stream; first: which has
	// not been read yet.
	answered, first bool
	// unstreamed is set for an agent that may turn out not to stream at all.
	unstreamed func() (json.RawMessage, error)
	// err ends the stream; it is returned when the events before it have been.
	err error

	mu     sync.Mutex
	state  streamState
	lastID string
}

type streamState uint8

const (
	streamOpen    streamState = iota
	streamDrained             // a goroutine of the client reads the rest
	streamEnded               // closed, or read to its end
)

func newStream(c *Client, e *endpoint, x *exchange, life *life) *Stream {
	return &Stream{
		c:        c,
		endpoint: e,
		at:       shown(x.url),
		caller:   x.caller,
		life:     life,
		attempt:  x.a,
		body:     x.resp.Body,
		frames:   newFrameReader(x.resp.Body, c.opts.Poison),
		poison:   c.opts.Poison,
		turn:     make(chan struct{}, 1),
	}
}

// HangUp ends our half of the connection and goes on reading: to some agents
// (Gemini's server) that means to stop what they are doing, and keep the
// conversation. It reports whether that could be done: the connection must carry
// this stream alone, over plain HTTP/1, and must never have carried a message of
// another context, which would be stopped as well. What follows is read as before.
func (s *Stream) HangUp() bool {
	if s.attempt == nil {
		return false
	}
	s.attempt.mu.Lock()
	conn := s.attempt.alone
	s.attempt.mu.Unlock()
	if conn == nil || s.attempt.op.owner == "" {
		return false
	}
	owner := conn.owner.Load()
	return owner != nil && *owner == s.attempt.op.owner && conn.endWriting()
}

// Read waits for at least one event and returns it with the others that have
// arrived completely, some thousand at most; it does not wait for more, and does not
// read ahead. Only
// whoever calls Read takes anything from the connection, so that a slow reader
// slows the agent down.
//
// The events are views, valid until the next Read. The error is io.EOF if the
// stream ended as it should; an [*a2a.Error] if the agent sent one; it wraps
// [ErrInterrupted] if the stream was cut. A clean end does not mean that the
// agent had said all: see [a2a.Event.EndsLeg].
func (s *Stream) Read() ([]a2a.Event, error) {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	if s.first {
		s.first = false
		return s.events, nil
	}
	if s.poison {
		clear(s.events)
		clear(s.parts)
		spoil(s.text)
		s.events, s.parts, s.text = nil, nil, nil
	}
	s.events, s.parts, s.text = s.events[:0], s.parts[:0], s.text[:0]
	for {
		if s.err != nil {
			return nil, s.err
		}
		if s.drained() {
			return nil, failf(ErrEnded, "%s: the stream is read by nobody any more", s.at)
		}
		frames, err := s.frames.next(s.cut[:0])
		s.cut = frames
		if err != nil {
			s.finish(err)
			return nil, s.err
		}
		for i := range frames {
			if s.err = s.decode(&frames[i]); s.err != nil {
				// Whatever follows an error is not wanted, and the connection may
				// carry other work of this agent.
				s.Drain()
				s.err = s.sendUnstreamed(s.err)
				break
			}
		}
		s.noteID()
		if len(s.events) > 0 {
			s.unstreamed = nil
			return s.events, nil
		}
	}
}

// finish ends the stream with what its reader ended with.
func (s *Stream) finish(err error) {
	s.mu.Lock()
	closed := s.state != streamOpen
	if !closed {
		s.state = streamEnded
	}
	s.mu.Unlock()
	cut := errors.Join(ErrInterrupted, err)
	switch {
	case closed:
		s.err = failf(ErrEnded, "%s: the stream was closed", s.at)
	case s.c.base.Err() != nil:
		s.err = failf(ErrEnded, "%s: the client was closed", s.at)
	case s.caller.Err() != nil:
		s.err = failf(s.caller.Err(), "%s: the stream was given up: %v", s.at, s.caller.Err())
	case err == io.EOF && !s.frames.unfinished():
		s.err = io.EOF
	case err == io.EOF:
		s.err = failf(cut, "%s: %v", s.at, errEventCut)
	case err == errEventSize:
		s.err = failf(nil, "%s: %v", s.at, err)
	default:
		s.err = failf(cut, "%s: %s in the middle of a stream", s.at, reason(err))
	}
	if !closed {
		s.body.Close()
		s.life.end()
	}
}

func (s *Stream) drained() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state == streamDrained
}

// Drain gives the stream up without closing its connection, because closing one
// makes some agents cancel the task, or drop the questions that it still has
// open: the client reads the rest unseen. A Read that is under way may still
// return events; after it Read fails with [ErrEnded], and Close does nothing.
func (s *Stream) Drain() {
	s.mu.Lock()
	if s.state != streamOpen {
		s.mu.Unlock()
		return
	}
	s.state = streamDrained
	s.mu.Unlock()
	s.life.detach()
	drain := func() {
		defer s.life.end()
		defer s.body.Close()
		s.turn <- struct{}{}
		// Not through the frames: the last events are still somebody's.
		_, _ = io.Copy(io.Discard, s.body)
		<-s.turn
	}
	// It ends with the stream or with Client.Close, which cancels its life.
	if !s.c.spawn(drain) {
		s.body.Close()
		s.life.end()
	}
}

// Close ends the stream now. It may be called at any time and more than once.
func (s *Stream) Close() error {
	s.mu.Lock()
	open := s.state == streamOpen
	if open {
		s.state = streamEnded
	}
	s.mu.Unlock()
	if open {
		// The context first: a Read that is under way may hold the body's lock.
		s.life.end()
		s.body.Close()
	}
	return nil
}

// LastEventID returns the id of the newest event that was read, if the agent
// gives its events ids. None that was tried can resume from one.
func (s *Stream) LastEventID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lastID
}

func (s *Stream) noteID() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id := s.frames.lastID; s.lastID != string(id) {
		s.lastID = string(id)
	}
}
