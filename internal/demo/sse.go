package demo

import (
	"bytes"
	"context"
	"net/http"
)

// An eventStream writes JSON-RPC responses as server-sent events. All streams use send,
// so that a test can break or change the wire in one place.
type eventStream struct {
	w   http.ResponseWriter
	rc  *http.ResponseController
	req *request
	buf bytes.Buffer
}

func newEventStream(w http.ResponseWriter, req *request) *eventStream {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	return &eventStream{w: w, rc: http.NewResponseController(w), req: req}
}

// send writes one event, which may stay in the server's buffer until flush.
func (s *eventStream) send(result any) error {
	s.buf.Reset()
	s.buf.WriteString("data: ")
	// Encoded JSON has only one line feed, at its end, so one data line holds it.
	if err := writeJSON(&s.buf, response{Version: "2.0", ID: s.req.id, Result: result}); err != nil {
		return err
	}
	s.buf.WriteByte('\n')
	_, err := s.w.Write(s.buf.Bytes())
	return err
}

func (s *eventStream) flush() error { return s.rc.Flush() }

// follow sends a task's log from an index up to the next final event. An error means
// that the client has left or the agent was closed. Then the stream is cut; the task
// goes on.
func (s *eventStream) follow(ctx context.Context, a *Agent, t *task, from int) error {
	for {
		events, err := t.wait(ctx, a.ctx, from)
		if err != nil {
			return err
		}
		from += len(events)
		for _, e := range events {
			if err := s.send(s.req.wire.event(t, e)); err != nil {
				return err
			}
			if e.final {
				return s.flush()
			}
		}
		// Once for all waiting events: a fast story is sent in large writes, a slow one event
		// by event.
		if err := s.flush(); err != nil {
			return err
		}
	}
}
