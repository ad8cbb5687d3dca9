package companion

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/a2astdio/a2astdio/internal/mcphttp"
	"github.com/a2astdio/a2astdio/internal/rawjson"
)

const (
	// sessionGrace is how long a session lives when its stream has ended: long
	// enough for a CLI whose connection broke to come back (they try for three
	// seconds), and short enough that the diffs of one that was killed do not stay.
	sessionGrace = 15 * time.Second
	// idleGrace is how long a session without a stream lives between two requests: MCP
	// allows a client to have none.
	idleGrace = 10 * time.Minute
	// keepAlive is how often a stream sends something. Gemini CLI takes a stream that is
	// silent for 300 s for broken, and does not connect again.
	keepAlive = 20 * time.Second
)

// A session is a CLI that is connected. The newest of its streams gets the notifications,
// for good: MCP forbids to send one on several, and the real CLIs have one.
type session struct {
	id     string
	server *mcpServer
	ctx    context.Context // of its streams
	cancel context.CancelFunc

	mu      sync.Mutex
	context json.RawMessage   // the newest if it is not written yet, else nil
	decided []json.RawMessage // decisions that are not written yet
	wake    chan struct{}     // of the newest stream: there is something to write, perhaps; nil: there is none
	grace   time.Duration     // how long it lives when it is not busy
	busy    int               // how many streams and requests are under way
	timer   *time.Timer       // ends the session; stopped while it is busy
	over    bool
}

// sendContext has the CLI sent the user's context, the params of ide/contextUpdate. It replaces one
// that has not been sent. It does not wait.
func (s *session) sendContext(params json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.context = params
	s.wakeStream()
}

func notification(method string, params any) json.RawMessage {
	b, _ := rawjson.Marshal(map[string]any{"jsonrpc": "2.0", "method": method, "params": params}) // texts, and JSON, always encode
	return b
}

// sendDecision has the CLI sent the user's decision about a diff, which is not dropped while the
// CLI is there. It does not wait.
func (s *session) sendDecision(method string, d decision) {
	line := notification(method, d)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.decided = append(s.decided, line)
	s.wakeStream()
}

// wakeStream wakes the newest stream, if there is one. The caller holds mu.
func (s *session) wakeStream() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// next returns what the stream with this channel is to write, nil for nothing. Decisions
// go first, because a CLI waits for them.
func (s *session) next(wake chan struct{}) (line json.RawMessage, isDecision bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.wake != wake:
		return nil, false
	case len(s.decided) > 0:
		return s.decided[0], true
	case s.context != nil:
		line = notification(MethodContextUpdate, s.context)
		s.context = nil // if it is not written, the next stream gets a new one
		return line, false
	}
	return nil, false
}

// written removes the first decision, which the stream with this channel has written.
// Before, it stays for the next stream: one is never lost, and a CLI that gets one twice
// ignores the second.
func (s *session) written(wake chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wake == wake {
		s.decided = s.decided[1:]
	}
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
		s.timer.Reset(s.grace)
	}
}

// attach makes a stream the session's newest, and returns what wakes it.
func (s *session) attach() (wake chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.grace, s.wake = sessionGrace, make(chan struct{}, 1)
	s.wakeStream()
	return s.wake
}

// end ends the session and its streams; one that is busy only if inUse. It may be called twice.
func (s *session) end(inUse bool) {
	s.mu.Lock()
	if s.over || s.busy > 0 && !inUse {
		s.mu.Unlock()
		return
	}
	s.over = true
	s.timer.Stop()
	s.mu.Unlock()
	s.cancel()
	s.server.forget(s)
	s.server.hub.disconnected(s)
}

// stream sends the CLI its notifications, until ctx or the session ends, or
// the CLI no longer reads.
func (s *session) stream(ctx context.Context, w http.ResponseWriter, wake chan struct{}) {
	out := http.NewResponseController(w)
	write := func(text string) bool {
		if ctx.Err() != nil || s.ctx.Err() != nil || out.SetWriteDeadline(time.Now().Add(mcphttp.WriteWait)) != nil {
			return false
		}
		_, err := w.Write([]byte(text))
		return err == nil && out.Flush() == nil
	}
	if !write(": connected\n\n") {
		return
	}
	alive := time.NewTicker(keepAlive)
	defer alive.Stop()
	for {
		for line, isDecision := s.next(wake); line != nil; line, isDecision = s.next(wake) {
			if !write("event: message\ndata: " + string(line) + "\n\n") {
				return
			}
			if isDecision {
				s.written(wake)
			}
		}
		select {
		case <-wake:
		case <-alive.C:
			if !write(": keepalive\n\n") {
				return
			}
		case <-ctx.Done():
			return
		case <-s.ctx.Done():
			return
		}
	}
}
