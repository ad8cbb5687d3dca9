package transport

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// SendOnce sends a message and returns the one answer to it: the task as it then
// is, or a message. Blocking asks the agent to answer when the task has ended or
// waits for somebody; agents are known to answer before that all the same, so
// [a2a.Event.State] says. It has no time limit but ctx then, once the connection
// is there; otherwise it has that of any unary call.
//
// It is delivered as Send delivers, with the same errors. The event is the
// caller's: it is no view of a stream.
func (c *Client) SendOnce(ctx context.Context, m *a2a.Outgoing, blocking bool) (*a2a.Event, error) {
	e, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	op := newSend(opSend, m)
	op.blocking = blocking
	ask := c.limited
	if blocking {
		ask = c.untimed
	}
	result, err := ask(ctx, e, op)
	if err != nil {
		return nil, err
	}
	ev := new(a2a.Event)
	if err := decodeAnswer(e, result, ev); err != nil {
		return nil, err
	}
	return ev, nil
}

func newSend(kind opKind, m *a2a.Outgoing) *operation {
	op := newOperation(kind)
	op.message, op.delivery.owner, op.delivery.trace = m, m.ContextID, m.Trace
	return op
}

// decodeAnswer reads what a message was answered with outside of a stream.
func decodeAnswer(e *endpoint, result json.RawMessage, ev *a2a.Event) error {
	e.protocol.decode(rawjson.View(result), ev)
	if ev.Kind == a2a.EventUnknown {
		return failf(ErrPossiblyDelivered, "%s answered with a result that is neither a task nor a message: %s", shown(e.url), quote(result))
	}
	return nil
}

// newAnswerStream makes a stream of one event from a plain result.
func newAnswerStream(c *Client, e *endpoint, result json.RawMessage) (*Stream, error) {
	s := &Stream{
		c:         c,
		endpoint:  e,
		at:        shown(e.url),
		events:    make([]a2a.Event, 1),
		first:     true,
		answered:  true,
		err:       io.EOF,
		readToken: make(chan struct{}, 1),
		state:     streamEnded,
	}
	if err := decodeAnswer(e, result, &s.events[0]); err != nil {
		return nil, err
	}
	return s, nil
}

// Unstreamed reports whether what Read has returned is the one answer of an agent
// that did not stream.
func (s *Stream) Unstreamed() bool { return s.answered }

// sendStream sends a message to an agent that streams or does not, or does not say.
// a2a-go leaves a "streaming":false out of its cards, and refuses to stream then;
// others leave it out and stream. So an agent whose card says nothing is asked to
// stream. If it answers that it cannot, it has not taken the message, and gets it again
// without streaming. That costs such an agent a second request each time, and others
// nothing.
func (c *Client) sendStream(ctx context.Context, e *endpoint, m *a2a.Outgoing) (*Stream, error) {
	// An agent that cannot stream is asked to answer at once, and its task is looked
	// up afterwards: with blocking, nothing could be shown, and no task cancelled,
	// before all of it is over.
	if !e.streams {
		return c.stream(ctx, e, newSend(opSend, m))
	}
	s, err := c.stream(ctx, e, newSend(opStream, m))
	err = c.cause(ctx, m, err)
	switch {
	case e.card.Streaming:
	case refusesStreaming(err):
		refusal := err
		if s, err = c.stream(ctx, e, newSend(opSend, m)); err == nil {
			e.missing.remember(opStream, refusal)
		}
	case err == nil:
		s.unstreamed = func() (json.RawMessage, error) { return c.limited(ctx, e, newSend(opSend, m)) }
	}
	return s, err
}

// cause looks for the reason of a refusal that came with HTTP status 500: the task may
// not exist any more.
func (c *Client) cause(ctx context.Context, m *a2a.Outgoing, err error) error {
	var agent, gone *a2a.Error
	if m.TaskID == "" || !errors.As(err, &agent) || agent.Code != a2a.CodeInvalidRequest || agent.HTTPStatus != http.StatusInternalServerError {
		return err
	}
	if _, why := c.Get(ctx, m.TaskID, 1); errors.As(why, &gone) && gone.Code == a2a.CodeTaskNotFound {
		return why
	}
	return err
}

// refusesStreaming reports whether an agent may mean that it does not stream.
// With -32004 it may mean the message's task as well; it then says so again.
func refusesStreaming(err error) bool {
	var agent *a2a.Error
	return errors.As(err, &agent) &&
		(agent.Code == a2a.CodeUnsupportedOperation || agent.Code == a2a.CodeMethodNotFound)
}

// sendUnstreamed replaces a stream that consists of a refusal to stream.
func (s *Stream) sendUnstreamed(refusal error) error {
	if s.unstreamed == nil || len(s.events) > 0 || !refusesStreaming(refusal) {
		return refusal
	}
	result, err := s.unstreamed()
	if err != nil {
		return err
	}
	s.events = append(s.events, a2a.Event{})
	if err := decodeAnswer(s.endpoint, result, &s.events[0]); err != nil {
		s.events = s.events[:0]
		return err
	}
	s.answered = true
	return io.EOF
}
