package bridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

const (
	// maxSilence is how many attempts in a row to reach the agent may fail
	// before its task is given up: half a minute, with the waits between.
	maxSilence = 5
	// maxUnheard is how often in a row the agent says that it has not got a
	// message, before that is believed: at first it may still be on its way.
	maxUnheard = 2
	// firstWait is the wait before the first attempt; each further one waits
	// twice as long, up to maxWait where the agent answers and has nothing new.
	firstWait = time.Second
	maxWait   = 16 * time.Second
)

// news is what a leg hands to its turn: events, or what became of the
// connection. Events are valid until the turn has taken the next step.
type news struct {
	events     []a2a.Event
	connection *mapping.Connection
	// resumed: the events are the first that are known of the task after a cut, or
	// what it has become since. blind: the agent could not be asked what was said
	// meanwhile. echo: the events are older than the snapshot before them.
	resumed, blind, echo bool
}

// A leg is one message and the stream that it causes, over as many connections
// as that takes.
//
// Its goroutine, started by [Agent.follow], reads; it has no queue, so that a
// slow reader of news slows the agent. It ends when the leg does, when the Agent
// is closed, or, after leave, when the stream has been handed to the client.
type leg struct {
	agent *Agent
	news  chan news
	taken chan struct{}
	// ended is closed when no more news come; err, read after that, is nil if
	// the agent has said that the leg is over.
	ended chan struct{}
	err   error
	// dropped is closed by leave. cancel, set before, asks for the task to be
	// cancelled once it has an ID.
	dropped chan struct{}
	cancel  bool

	// stream is the one that is being read, for hangUp.
	stream atomic.Pointer[transport.Stream]
	hungUp atomic.Bool

	taskID string
	state  a2a.State
	over   bool  // an event has ended the leg
	failed error // the agent did not start what it was asked for
	// polled: the agent has answered without a stream. None was lost, and its task
	// is looked at.
	polled bool
	// running: a call of Gemini's server is at work, whose state does not tell. The
	// turn says so before it has taken the news that do.
	running atomic.Bool
	// unheard: the message was perhaps not delivered, since no answer to it came,
	// and nothing has told since that it was: see hears. message is its ID, was the
	// state that the task was in before, if that is known.
	unheard bool
	message string
	was     a2a.State
}

// follow makes a request and follows what comes of it.
func (a *Agent) follow(r *request) *leg {
	l := &leg{agent: a, taskID: r.taskID, was: r.was, news: make(chan news), taken: make(chan struct{}),
		ended: make(chan struct{}), dropped: make(chan struct{})}
	if r.message != nil {
		l.message = r.message.ID
	}
	a.legs.Go(func() { // ends as the type says
		l.err = l.run(a.ctx, r)
		close(l.ended)
	})
	return l
}

// leave says that nobody takes the leg's news any more. What it still brings is
// read to its end unseen, because closing a connection makes some agents cancel
// work; cancel asks for the task to be cancelled, as soon as it has an ID. It is
// called once, by the turn, and does nothing to a leg that has ended.
func (l *leg) leave(cancel bool) {
	l.cancel = cancel
	close(l.dropped)
}

var errDropped = errors.New("the leg was dropped")

func (l *leg) run(ctx context.Context, r *request) error {
	over, err := l.begin(ctx, r)
	if over {
		return err
	}
	client, polling := l.agent.opts.Client, false
	silent, pause := 0, firstWait
	for attempt := 1; err != nil; attempt++ {
		switch agentErr, commandErr := (*a2a.Error)(nil), (*mapping.CommandError)(nil); {
		case errors.Is(err, errDropped), errors.Is(err, transport.ErrGone), errors.As(err, &agentErr), errors.As(err, &commandErr), ctx.Err() != nil:
			return err
		case l.taskID == "":
			return client.Fate(ctx, &cutError{err.Error() + ", before the task had an ID: the message may have been delivered, so it is not sent again"})
		case silent >= maxUnheard && errors.As(err, new(*undeliveredError)):
			return err
		case silent == maxSilence:
			return &cutError{fmt.Sprintf("%v, and so it went %d times in a row: task %s may still run", err, maxSilence, l.taskID)}
		case l.polled && !polling:
			polling = true
			l.tell(ctx, mapping.Connection{Phase: "polling"})
		case l.polled:
		case attempt == 1:
			l.tell(ctx, mapping.Connection{Phase: "lost"})
		}
		if err := l.wait(ctx, pause, err); err != nil {
			return err
		}
		if !l.polled {
			l.tell(ctx, mapping.Connection{Phase: "retrying", Attempt: attempt})
		}
		var found outcome
		found, err = l.reconnect(ctx)
		switch {
		case found == progress:
			silent, pause, attempt = 0, firstWait, 0
		case found == alive:
			silent, pause = 0, min(pause*2, maxWait)
		case l.polled: // now there is something that is lost
			l.polled, polling, attempt = false, false, 0
			fallthrough
		default:
			silent, pause = silent+1, pause*2
		}
	}
	return nil
}

// begin makes the leg's request and reads what comes of it. over: there is
// nothing to follow.
func (l *leg) begin(ctx context.Context, r *request) (over bool, err error) {
	if r.send == nil {
		found, err := l.reconnect(ctx)
		l.polled = found == alive
		return err == nil, err
	}
	stream, taskID, err := r.send(ctx)
	if taskID != "" {
		l.taskID = taskID
	}
	switch agentErr := (*a2a.Error)(nil); {
	case err == nil && stream == nil:
		return true, nil
	case err == nil && r.message == nil && r.taskID != "":
		_, err = l.resume(ctx, stream)
		return err == nil, err
	case err == nil:
		err = l.read(ctx, stream)
		return err == nil, err
	case l.taskID != "" && errors.As(err, &agentErr) && agentErr.Code == a2a.CodeTaskNotFound:
		return true, &goneError{l.taskID, agentErr}
	case l.taskID == "" || errors.As(err, &agentErr) || !errors.Is(err, transport.ErrPossiblyDelivered):
		return true, err
	}
	// The answer was cut off in its head. The task tells whether the message has
	// come.
	l.unheard = true
	return false, err
}

// cutError is a connection that was lost. It is a [transport.ErrInterrupted],
// without its words.
type cutError struct{ text string }

func (e *cutError) Error() string { return e.text }
func (e *cutError) Unwrap() error { return transport.ErrInterrupted }

// undeliveredError is a message that does not seem to have come.
type undeliveredError struct{ taskID string }

func (e *undeliveredError) Error() string {
	return fmt.Sprintf("agent: task %s is as it was: the message to it was probably not delivered, and is not sent again", e.taskID)
}

func (e *undeliveredError) Unwrap() error { return transport.ErrInterrupted }

// goneError is a task that the agent does not know any more.
type goneError struct {
	taskID string
	err    *a2a.Error
}

func (e *goneError) Error() string {
	return fmt.Sprintf("agent: task %s is gone (%s, %d): it has probably been restarted, and what it was doing is lost", e.taskID, e.err.Message, e.err.Code)
}

func (e *goneError) Unwrap() error { return e.err }

// read hands on what a stream brings. It returns nil when the leg is over, by the
// data: an end of the stream alone is a cut, except that some agents just stop
// when they have asked something.
func (l *leg) read(ctx context.Context, stream *transport.Stream) error {
	l.stream.Store(stream)
	said := false
	idle := newIdleGuard(stream, l.agent.opts.IdleTimeout)
	for {
		idle.start()
		events, err := stream.Read()
		if idle.stop() {
			return &cutError{fmt.Sprintf("agent: said nothing for %v", l.agent.opts.IdleTimeout)}
		}
		if len(events) > 0 {
			said = true
			if err := l.deliver(ctx, events); err != nil {
				l.finish(ctx, stream)
				return err
			}
			if l.over {
				stream.Drain()
				return nil
			}
		}
		if err != nil {
			l.polled = stream.Unstreamed()
			return l.endOf(stream, err, said)
		}
	}
}

// endOf says what the end of a stream means.
func (l *leg) endOf(stream *transport.Stream, err error, said bool) error {
	switch {
	case errors.Is(err, io.EOF) && said && l.resting(), l.hungUp.Load():
		return nil
	case errors.Is(err, io.EOF) && !said:
		return &cutError{"agent: answered with an empty stream"}
	case errors.Is(err, io.EOF) && l.polled:
		return l.goesOn()
	case errors.Is(err, io.EOF):
		return &cutError{"agent: the stream ended in the middle"}
	}
	stream.Close()
	return err
}

// hangUp tells the agent to stop by ending our half of the connection. It
// reports whether that could be done; the leg ends with the stream then.
func (l *leg) hangUp() bool {
	stream := l.stream.Load()
	if stream == nil {
		return false
	}
	l.hungUp.Store(true)
	if stream.HangUp() {
		return true
	}
	l.hungUp.Store(false)
	return false
}

// lastEventID is that of the stream that was cut.
func (l *leg) lastEventID() string {
	if stream := l.stream.Load(); stream != nil {
		return stream.LastEventID()
	}
	return ""
}

// resting reports whether the task is in a state in which an agent may end its
// stream without a word.
func (l *leg) resting() bool {
	return (l.state.Terminal() || l.state == a2a.StateInputRequired) && !l.unheard
}

// hears reports whether an event tells that the message has come. A task tells it
// by its state, unless it was in that before: it waited, or was completed. Then it
// tells it by holding the message.
func (l *leg) hears(ev *a2a.Event) bool {
	switch {
	case ev.Kind != a2a.EventTask:
		return true
	case ev.State == a2a.StateInputRequired && l.was != a2a.StateCompleted:
	case ev.State == a2a.StateCompleted && (l.was == a2a.StateCompleted || l.was == ""):
	default:
		return true
	}
	if ev.History != nil {
		for m := range ev.History {
			if m.ID == l.message {
				return true
			}
		}
	}
	return false
}

// finish reads a stream that nobody looks at any more, cancelling its task if
// that was wanted before it was known.
func (l *leg) finish(ctx context.Context, stream *transport.Stream) {
	for l.cancel && l.taskID == "" && !l.over {
		events, err := stream.Read()
		for i := range events {
			l.note(&events[i])
		}
		if err != nil {
			stream.Close()
			break
		}
	}
	stream.Drain()
	if l.cancel && l.taskID != "" && !l.over {
		if _, err := l.agent.opts.Client.Cancel(ctx, l.taskID); err != nil {
			l.agent.opts.Log.Debug("cancelling an abandoned task", "task", l.taskID, "err", err)
		}
	}
}

func (l *leg) note(ev *a2a.Event) {
	if ev.TaskID != "" && ev.TaskID != l.taskID {
		l.taskID = strings.Clone(ev.TaskID)
	}
	if ev.State != "" && ev.State != l.state {
		l.state = a2a.State(strings.Clone(string(ev.State)))
	}
	if l.unheard && ev.State != "" {
		l.unheard = !l.hears(ev)
	}
	l.over = l.over || ev.EndsLeg && !l.unheard
	if ev.Kind != a2a.EventUnknown {
		return
	}
	if e, ok := mapping.ReadExecution(ev.Raw); ok { // the first event of a slash command's stream
		if e.ID != "" {
			l.taskID = e.ID
		}
		l.failed = e.Err()
	}
}

// deliver hands events to the turn and waits until it has shown them.
func (l *leg) deliver(ctx context.Context, events []a2a.Event) error {
	for i := range events {
		l.note(&events[i])
	}
	if l.failed != nil {
		return l.failed
	}
	return l.give(ctx, news{events: events})
}

func (l *leg) tell(ctx context.Context, c mapping.Connection) {
	_ = l.give(ctx, news{connection: &c}) // a drop shows at the next step
}

func (l *leg) give(ctx context.Context, n news) error {
	select {
	case l.news <- n:
	case <-l.dropped:
		return errDropped
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-l.taken:
		return nil
	case <-l.dropped:
		return errDropped
	case <-ctx.Done():
		return ctx.Err()
	}
}
