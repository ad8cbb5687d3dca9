package companion

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	// sessionGrace is how long a session lives when its stream has ended: long
	// enough for a CLI whose connection broke to come back (they try for three
	// seconds), and short enough that the diffs of one that was killed do not stay.
	sessionGrace = 15 * time.Second
	// quietGrace is how long a session without a stream lives between two requests: MCP
	// allows a client to have none.
	quietGrace = 10 * time.Minute
	// keepAlive is how often a stream sends something. Gemini CLI takes a stream that is
	// silent for 300 s for broken, and does not connect again.
	keepAlive = 20 * time.Second
	// writeWait is how long a CLI may take to read one write.
	writeWait = 30 * time.Second
	// maxStreams is how many streams a session may have; the real CLIs have one.
	maxStreams = 4
)

// A session is a CLI that is connected. The newest of its streams gets the notifications:
// MCP forbids to send one on several.
type session struct {
	id      string
	version string
	server  *mcpServer

	mu      sync.Mutex
	context json.RawMessage   // the newest if it is not written yet, else nil
	decided []json.RawMessage // those that are not written yet
	streams []*stream
	grace   time.Duration
	busy    int         // streams and requests
	idle    time.Time   // since when it is not busy
	timer   *time.Timer // ends the session; stopped while it is busy
	over    bool
}

// A stream is a GET of the session's, answered by server-sent events.
type stream struct {
	wake chan struct{} // there is something to write, perhaps; holds one
	stop context.CancelFunc
}

var _ client = (*session)(nil)

func (s *session) show(params json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.context = params
	s.pokeLocked()
}

func (s *session) decide(method string, d decision) {
	line := notice(method, d)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.decided = append(s.decided, line)
	s.pokeLocked()
}

// pokeLocked wakes the newest stream.
func (s *session) pokeLocked() {
	if len(s.streams) > 0 {
		select {
		case s.streams[len(s.streams)-1].wake <- struct{}{}:
		default:
		}
	}
}

// take returns what st is to write, nil for nothing. Decisions go first, because a CLI
// waits for them.
func (s *session) take(st *stream) json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case len(s.streams) == 0 || s.streams[len(s.streams)-1] != st:
		return nil
	case len(s.decided) > 0:
		line := s.decided[0]
		s.decided = s.decided[1:]
		return line
	case s.context != nil:
		line := notice(MethodContextUpdate, s.context)
		s.context = nil
		return line
	}
	return nil
}

// giveBack returns what could not be written, for another stream. A context is dropped if
// there is a newer one; a decision is never lost. A CLI that gets one twice ignores the
// second.
func (s *session) giveBack(line json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.decided = slices.Insert(s.decided, 0, line)
	s.pokeLocked()
}

// enter keeps the session alive until leave; false: it is over.
func (s *session) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return false
	}
	s.busy++
	s.timer.Stop()
	return true
}

func (s *session) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy--; s.busy == 0 && !s.over {
		s.idle = time.Now()
		s.timer.Reset(s.grace)
	}
}

// idleSince returns since when the session is not busy; false: it is.
func (s *session) idleSince() (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.idle, s.busy == 0
}

// attach adds a stream; nil: there are too many.
func (s *session) attach(stop context.CancelFunc) *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over || len(s.streams) >= maxStreams {
		return nil
	}
	s.grace = sessionGrace
	st := &stream{wake: make(chan struct{}, 1), stop: stop}
	s.streams = append(s.streams, st)
	s.pokeLocked()
	return st
}

func (s *session) detach(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams = slices.DeleteFunc(s.streams, func(other *stream) bool { return other == st })
	s.pokeLocked() // the stream before it takes the rest
}

// end ends the session and its streams. It may be called twice.
func (s *session) end() { s.endIf(func() bool { return true }) }

// expire ends the session unless it is in use again.
func (s *session) expire() { s.endIf(func() bool { return s.busy == 0 }) }

func (s *session) endIf(may func() bool) {
	s.mu.Lock()
	if s.over || !may() {
		s.mu.Unlock()
		return
	}
	s.over = true
	s.timer.Stop()
	for _, st := range s.streams {
		st.stop()
	}
	s.mu.Unlock()
	s.server.forget(s)
	s.server.hub.disconnected(s)
}

// stream sends the CLI its notifications, until ctx ends or the CLI no longer reads.
func (s *session) stream(ctx context.Context, w http.ResponseWriter, st *stream) {
	out := http.NewResponseController(w)
	write := func(parts ...[]byte) bool {
		if ctx.Err() != nil || out.SetWriteDeadline(time.Now().Add(writeWait)) != nil {
			return false
		}
		for _, p := range parts {
			if _, err := w.Write(p); err != nil {
				return false
			}
		}
		return out.Flush() == nil
	}
	if !write([]byte(": connected\n\n")) {
		return
	}
	alive := time.NewTicker(keepAlive)
	defer alive.Stop()
	for {
		for line := s.take(st); line != nil; line = s.take(st) {
			if !write([]byte("event: message\ndata: "), line, []byte("\n\n")) {
				s.giveBack(line)
				return
			}
		}
		select {
		case <-st.wake:
		case <-alive.C:
			if !write([]byte(": keepalive\n\n")) {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}
