package world

import (
	"context"
	"errors"
	"io"
	"strconv"
	"sync"
	"time"
)

var (
	errReset  = errors.New("connection reset by peer")
	errCaller = errors.New("the request was given up")
)

// A stream is the answer to one request, as server-sent events. The agent writes
// without waiting; the bridge reads. The agent's lock guards all but the body.
type stream struct {
	agent   *agent
	line    *line
	id      string // of the request, as JSON
	run     *run   // its turn
	task    *task  // while it listens
	number  int    // its number in the turn
	events  int    // number of written events
	over    bool   // nothing more is written
	silent  bool   // for now, nothing that is written arrives
	held    []func()
	body    body
	cut     *Fault
	silence *Fault
	restart *Fault
	lost    bool // the bridge never gets it
}

// newStream makes the next stream of a turn. The lock is held.
func (r *run) newStream(q *request) *stream {
	s := &stream{agent: r.agent, line: q.line, id: q.id, run: r, number: r.streams, body: body{more: make(chan struct{}, 1)}}
	s.body.of = s
	r.streams++
	r.agent.open++
	for _, f := range r.turn.Faults {
		if f.Stream != s.number {
			continue
		}
		switch f.Kind {
		case CutAt:
			s.cut = f
		case SilentAt:
			s.silence = f
		case RestartAt:
			s.restart = f
		case LostHead:
			s.lost = true
		}
	}
	return s
}

// frame is an event on the wire.
func (s *stream) frame(l logged) []byte {
	f := s.agent.plan.Agent.Framing
	end := "\n"
	if f.CRLF {
		end = "\r\n"
	}
	var b []byte
	if f.Comments {
		b = append(append(b, ": still here"...), end...)
		b = append(b, end...)
	}
	if f.IDs {
		b = append(strconv.AppendInt(append(b, "id: "...), int64(s.events), 10), end...)
	}
	if f.Names {
		b = append(append(b, "event: message"...), end...)
	}
	b = append(b, `data: {"jsonrpc":"2.0","id":`...)
	b = append(b, s.id...)
	b = append(b, `,"result":`...)
	b = append(b, l.payload...)
	b = append(b, '}')
	return append(append(b, end...), end...)
}

// event writes an event, or the part that a fault lets through.
func (s *stream) event(l logged) {
	if s.over {
		return
	}
	n := s.events
	frame := s.frame(l)
	s.events++
	if f := s.silence; f != nil && n == f.Event {
		s.agent.happened(s.run, f)
		s.silent = true
		if f.For > 0 {
			s.agent.after(f.For, nil, s.speak)
		}
	}
	if f := s.cut; f != nil && n == f.Event {
		n := len(frame) * f.Permille / 1000
		whole := n == len(frame) || s.agent.plan.Agent.Framing.CRLF && n == len(frame)-1 // CR ends a line, too
		s.deliver(frame[:n], nil)
		if whole {
			s.deliver(nil, &l)
		}
		s.agent.happened(s.run, f)
		s.agent.record.Happened[len(s.agent.record.Happened)-1].Old = s.number < s.run.leg
		s.agent.outage(s.run)
		if f.Clean {
			s.end()
		} else {
			s.fail(errReset)
		}
		return
	}
	s.deliver(frame, &l)
	if f := s.restart; f != nil && n == f.Event {
		s.agent.restart(s.run, f)
	}
}

// again writes an event that is not new, or was sent to this stream only.
func (s *stream) again(l logged) {
	s.agent.tell("agent<", "to stream %d: %s", s.number, l.payload)
	s.event(l)
}

// deliver writes bytes, which complete an event if l is set.
func (s *stream) deliver(b []byte, l *logged) {
	if s.silent {
		s.held = append(s.held, func() { s.deliver(b, l) })
		return
	}
	s.body.write(b)
	if l == nil || s.lost {
		return
	}
	if r := s.run; s.number >= r.leg && !s.body.gone() && !s.agent.replied(r.turn.N) {
		if l.said != nil && l.said.Turn == r.turn.N { // otherwise it is an old stream, which nobody reads
			l.said.Arrived = l.said.Arrived || !l.bare || l.said.Text == ""
			r.told = r.told || l.said.Ends && !(l.opens && l.said.State == InputRequired)
		}
		r.known = true
	}
}

// replied reports whether a turn is over for its editor. The lock is held.
func (a *agent) replied(turn int) bool {
	rec := a.record.Turns[turn]
	return rec != nil && rec.Replied > 0
}

// speak ends a silence.
func (s *stream) speak() {
	s.silent = false
	held := s.held
	s.held = nil
	for _, f := range held {
		f()
	}
}

// end ends the stream regularly, fail breaks it.
func (s *stream) end()           { s.close(io.EOF) }
func (s *stream) fail(err error) { s.close(err) }

func (s *stream) close(err error) {
	if s.over {
		return
	}
	s.over = true
	if s.task != nil {
		s.task.detach(s)
	}
	if s.silent {
		s.held = append(s.held, func() { s.body.finish(err) })
		return
	}
	s.body.finish(err)
}

// outage makes the agent unreachable after a cut, if the plan says so.
func (a *agent) outage(r *run) {
	for _, f := range r.turn.Faults {
		if f.Kind == OutageAfter && a.downTill.IsZero() && r.turn.N == a.current {
			a.downTill = time.Now().Add(f.For)
			a.happened(r, f)
		}
	}
}

// A body is the bridge's end of a stream. Its lock is taken after the agent's, never
// before.
type body struct {
	of   *stream
	more chan struct{} // something is new; holds one

	mu     sync.Mutex
	buf    []byte
	err    error // behind buf
	closed bool  // by the bridge
	done   bool  // it needs nothing more from the bridge
}

func (b *body) write(p []byte) {
	b.mu.Lock()
	b.buf = append(b.buf, p...)
	b.mu.Unlock()
	b.wake()
}

func (b *body) finish(err error) {
	b.mu.Lock()
	if b.err == nil {
		b.err = err
	}
	b.mu.Unlock()
	b.wake()
}

func (b *body) wake() {
	select {
	case b.more <- struct{}{}:
	default:
	}
}

// gone reports whether the bridge has closed the connection.
func (b *body) gone() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closed
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	for {
		b.mu.Lock()
		switch {
		case b.closed:
			b.mu.Unlock()
			return 0, errCaller
		case len(b.buf) > 0:
			n := copy(p, b.buf)
			b.buf = b.buf[n:]
			b.mu.Unlock()
			return n, nil
		case b.err != nil:
			err := b.err
			b.mu.Unlock()
			b.release()
			return 0, err
		}
		b.mu.Unlock()
		<-b.more // or the request's context ends, or the line is severed: see watch
	}
}

// watch ends the stream with its request. It returns what ends the watch.
func (b *body) watch(ctx context.Context) {
	context.AfterFunc(ctx, func() { b.Close() })
}

// Close implements io.Closer: the bridge hangs up.
func (b *body) Close() error {
	b.mu.Lock()
	was := b.closed || b.done
	b.closed = true
	b.mu.Unlock()
	b.wake()
	if !was {
		b.release()
		s := b.of
		s.agent.mu.Lock()
		defer s.agent.mu.Unlock()
		if !s.over {
			s.over = true
			if s.task != nil {
				s.task.detach(s)
			}
			if !s.line.dead() {
				s.agent.heard(&Heard{Kind: HeardHangUp, Turn: s.run.turn.N})
			}
			s.agent.tell("agent>", "stream %d of turn %d is closed", s.number, s.run.turn.N)
		}
	}
	return nil
}

// release counts the stream as closed, once.
func (b *body) release() {
	b.mu.Lock()
	was := b.done
	b.done = true
	b.mu.Unlock()
	if !was {
		b.of.agent.mu.Lock()
		b.of.agent.open--
		b.of.agent.mu.Unlock()
	}
}
