package agent

import (
	"encoding/json"
	"net/http"
	"slices"
)

// A stream is the answer to one request, as server-sent events.
type stream struct {
	q      *request
	task   *kept
	number int // in the turn
	wake   chan struct{}

	// The agent's lock guards these.
	frames []frame
	over   bool
}

// A frame is an event on the wire. joined: it goes out with the one before.
type frame struct {
	bytes  []byte
	joined bool
}

// listen opens a stream of the task. The lock is held.
func (t *kept) listen(q *request) *stream {
	s := &stream{q: q, task: t, number: t.opened, wake: make(chan struct{}, 1)}
	t.opened++
	t.streams = append(t.streams, s)
	return s
}

// leave takes a stream from the task: it gets nothing more.
func (s *stream) leave() {
	s.task.streams = slices.DeleteFunc(s.task.streams, func(o *stream) bool { return o == s })
}

func (s *stream) push(event json.RawMessage, joined bool) {
	b := append([]byte(`data: {"jsonrpc":"2.0","id":`), s.q.ID...)
	b = append(append(b, `,"result":`...), event...)
	s.frames = append(s.frames, frame{append(b, "}\n\n"...), joined})
	s.notify()
}

func (s *stream) end() {
	s.over = true
	s.notify()
}

func (s *stream) notify() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// serve writes the events until the stream is over, or a fault ends it.
func (s *stream) serve() {
	a := s.task.agent
	s.q.w.Header().Set("Content-Type", "text/event-stream")
	s.q.w.WriteHeader(http.StatusOK)
	s.q.w.(http.Flusher).Flush()
	for written := 0; ; {
		a.mu.Lock()
		frames, over := s.frames, s.over
		s.frames = nil
		a.mu.Unlock()
		for i, f := range frames {
			goesFirst := i == 0 || !f.joined
			if goesFirst && !s.passes(written) {
				return
			}
			b := f.bytes
			for _, next := range frames[i+1:] {
				if !next.joined {
					break
				}
				b = append(b, next.bytes...)
			}
			if goesFirst {
				s.q.w.Write(b)
				s.q.w.(http.Flusher).Flush()
			}
			written++
		}
		if len(frames) == 0 && (!s.passes(written) || over || !s.more()) {
			return
		}
	}
}

// more waits for another event, or the end.
func (s *stream) more() bool {
	select {
	case <-s.wake:
		return true
	case <-s.q.r.Context().Done():
		s.hungUp()
	case <-s.task.agent.done:
	}
	return false
}

// passes lets faults happen that come behind so many events.
func (s *stream) passes(written int) bool {
	a := s.task.agent
	a.mu.Lock()
	hit := s.task.turn.fault(s.number, written, Cut, End, Stall)
	if hit == nil {
		a.mu.Unlock()
		return true
	}
	kind, d := hit.Kind, hit.For
	hit.Kind = used
	if kind != Stall {
		s.leave()
	}
	a.mu.Unlock()
	switch {
	case kind == Cut:
		panic(http.ErrAbortHandler)
	case kind == Stall && a.wait(s.q.r, d):
		return true
	case kind == Stall && s.q.r.Context().Err() != nil:
		s.hungUp()
	}
	return false
}

// hungUp notes that the client has closed the stream.
func (s *stream) hungUp() {
	a := s.task.agent
	a.mu.Lock()
	defer a.mu.Unlock()
	if s.over && len(s.frames) == 0 {
		return
	}
	s.leave()
	a.note(Heard{Method: "hang-up"}, s.task)
}
