package bridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

const (
	// maxSilence is how many attempts in a row to reach the agent may fail
	// before its task is given up: half a minute, with the waits between.
	maxSilence = 5
	// maxUnheard is how often in a row the task must show that the message has not come
	// before that is believed: at first it may still be on its way.
	maxUnheard = 2
	// maxStanding is how often the task may have the user's answers and stand as it did
	// before them, until it is believed that it waits for more.
	maxStanding = 3
	// firstWait is the wait before the first attempt; each further one waits twice as
	// long, up to maxWait.
	firstWait = time.Second
	maxWait   = 16 * time.Second
)

func (l *leg) run(ctx context.Context) error {
	over, err := l.begin(ctx)
	if over {
		return err
	}
	client, polling := l.agent.opts.Client, false
	silent, pause := 0, firstWait
	for attempt := 1; err != nil; attempt++ {
		switch {
		case ctx.Err() != nil, cannotPass(err):
			return err
		case l.taskID == "":
			return client.ExplainLoss(ctx, &cutError{err.Error() + ", before the task had an ID: the message may have been delivered, so it is not sent again"})
		case l.asWas >= maxUnheard && errors.As(err, new(*undeliveredError)):
			return err
		case silent == maxSilence:
			return &cutError{fmt.Sprintf("%v, and so it went %d times in a row: task %s may still run", err, maxSilence, l.taskID)}
		case l.authRepeats == maxSilence:
			return nil // the agent has stopped the work
		case l.polled && !polling:
			polling = true
			l.tell(ctx, mapping.Connection{Phase: mapping.PhasePolling})
		case l.polled:
		case attempt == 1 || l.news:
			l.tellLoss(ctx, err)
		}
		l.lose()
		pushed, waitErr := l.pauseUnlessRefused(ctx, attempt, pause, err)
		if waitErr != nil {
			return waitErr
		}
		if !l.polled && !pushed {
			l.tell(ctx, mapping.Connection{Phase: mapping.PhaseRetrying, Attempt: attempt, Why: err.Error()})
		}
		var found outcome
		found, err = l.attempt(ctx, pushed)
		l.countAsWas(err)
		switch {
		case found == progress:
			silent, pause, attempt = 0, firstWait, 0
			l.forgive(err)
		case found == alive:
			silent, pause = 0, l.nextPause(pause)
		case l.polled: // now a stream was lost
			l.polled, polling, attempt, l.lossTold = false, false, 0, false
			fallthrough
		default:
			silent, pause = silent+1, min(pause*2, maxWait)
		}
	}
	return nil
}

// nextPause is the pause behind an attempt at which the agent had nothing new. A task that
// stands is looked at a few times, soon.
func (l *leg) nextPause(pause time.Duration) time.Duration {
	if l.stands {
		return firstWait
	}
	return min(pause*2, maxWait)
}

// tellLoss tells that the connection was lost, once until a stream has come again.
func (l *leg) tellLoss(ctx context.Context, why error) {
	if l.news = false; !l.lossTold {
		l.lossTold = true
		l.tell(ctx, mapping.Connection{Phase: mapping.PhaseLost, Why: why.Error()})
	}
}

// countAsWas counts the attempts in a row at which the task was as it was before the message.
func (l *leg) countAsWas(err error) {
	if l.asWas++; !errors.As(err, new(*undeliveredError)) {
		l.asWas = 0
	}
}

// lose notes that no stream tells what the agent says, unless the turn has left.
func (l *leg) lose() {
	select {
	case <-l.dropped:
	default:
		l.adrift.Store(true)
	}
}

// attempt tries to go on with the task; pushed: because the agent has pushed.
func (l *leg) attempt(ctx context.Context, pushed bool) (found outcome, err error) {
	if pushed {
		return l.lookPushed(ctx)
	}
	found, err = l.reconnect(ctx)
	if found == progress && l.repeatsAuth() {
		found = alive
	}
	return found, err
}

// cannotPass reports whether another attempt cannot help against an error of a leg.
func cannotPass(err error) bool {
	return errors.Is(err, errDropped) || errors.Is(err, transport.ErrExited) || errors.Is(err, transport.ErrTooLarge) || errors.As(err, new(*a2a.Error)) ||
		errors.As(err, new(*mapping.CommandError)) || errors.As(err, new(*lostError))
}

// repeatsAuth reports whether a subscription has only said again that the user has to
// authenticate. An agent that really waits for that keeps its stream open.
func (l *leg) repeatsAuth() bool {
	if l.state != a2a.StateAuthRequired || l.over || l.polled {
		return false
	}
	l.authRepeats++
	return l.authRepeats > 1
}

// begin makes the leg's request and reads what comes of it. over: there is
// nothing to follow.
func (l *leg) begin(ctx context.Context) (over bool, err error) {
	r := l.request
	if r.send == nil {
		found, err := l.reconnect(ctx)
		l.polled = found == alive
		return err == nil, err
	}
	stream, taskID, release, err := l.reach(ctx)
	if release != nil {
		defer release()
	}
	if taskID != "" {
		l.taskID = taskID
	}
	switch agentErr := (*a2a.Error)(nil); {
	case err == nil && stream == nil:
		return true, nil
	case err == nil && r.message == nil && r.taskID != "":
		_, err = l.resume(ctx, stream)
		return err == nil, err
	case err == nil && r.behind != nil:
		said, err := l.catchUp(ctx, stream, r.behind)
		l.refused = !said && errors.As(err, &agentErr) && !errors.As(err, new(*taskLostError))
		return err == nil, err
	case err == nil:
		err = l.read(ctx, stream)
		l.refused = !l.opened && errors.As(err, &agentErr)
		l.begun = !l.opened && r.message != nil && !r.answers
		l.doubt(l.begun)
		return err == nil, err
	case l.taskID != "" && errors.As(err, &agentErr) && agentErr.Code == a2a.CodeTaskNotFound:
		l.refused = true
		return true, &taskLostError{l.taskID, agentErr}
	case errors.As(err, &agentErr) && !errors.Is(err, transport.ErrPossiblyDelivered):
		l.refused = true
		return true, err
	case l.taskID == "" || !errors.Is(err, transport.ErrPossiblyDelivered):
		return true, err
	}
	// The answer was cut before its first event, or a gateway has given up waiting for
	// it. The task tells whether the message has come.
	l.doubt(true)
	if errors.As(err, new(*a2a.Error)) {
		err = &cutError{err.Error()}
	}
	return false, err
}

// doubt says whether the message was perhaps not delivered.
func (l *leg) doubt(unheard bool) {
	l.unheard = unheard
	l.uncertain.Store(unheard)
}

// reach makes the leg's request. An answer to a question that was certainly not
// delivered is sent again for a while: the task waits for it.
func (l *leg) reach(ctx context.Context) (stream *transport.Stream, taskID string, release func(), err error) {
	r := l.request
	stream, taskID, release, err = send(ctx, r, l.agent.opts.IdleTimeout)
	for tries, pause := 0, firstWait; r.answers && tries < maxSilence && isUndelivered(err); tries, pause = tries+1, pause*2 {
		if waitErr := l.wait(ctx, pause, err); waitErr != nil {
			return nil, "", release, waitErr
		}
		if release != nil {
			release()
		}
		stream, taskID, release, err = send(ctx, r, l.agent.opts.IdleTimeout)
	}
	return stream, taskID, release, err
}

// isUndelivered reports whether an error says that the agent could not be reached.
func isUndelivered(err error) bool {
	return err != nil && !errors.As(err, new(*a2a.Error)) && !errors.As(err, new(*idleError)) &&
		!errors.Is(err, transport.ErrPossiblyDelivered) && !errors.Is(err, transport.ErrExited) && !errors.Is(err, context.Canceled)
}

// read passes on the events of a stream. It returns nil when an event ends the leg. The
// end of a stream without such an event is a cut, except that some agents end it when
// they have asked something.
func (l *leg) read(ctx context.Context, stream *transport.Stream) error {
	l.stream.Store(stream)
	said := false
	idle := newIdleGuard(stream, l.agent.opts.IdleTimeout)
	for {
		idle.start()
		events, err := stream.Read()
		if idle.stop() {
			return &cutError{(&idleError{limit: l.agent.opts.IdleTimeout}).Error()}
		}
		if len(events) > 0 {
			said = true
			if err := l.deliver(ctx, events); err != nil {
				l.finish(ctx, stream)
				return err
			}
			switch {
			case l.over && l.state.Terminal(), l.spoke > 0 && l.state == "" && !l.over:
				return l.linger(ctx, stream)
			case l.over:
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
	if l.asBefore && l.answered {
		l.state = l.request.was.State // an answer that is no more than the task
	}
	switch ended := isEnd(err); {
	case l.hungUp.Load():
		return nil
	case ended && said && l.resting() && !l.mayGoOn():
		l.bare = true
		return nil
	case l.spoke == 1 && l.state == "" && !l.unheard:
		// One message is all that the protocol allows as an answer. After several it is
		// not known whether the last one has come: an error.
		stream.Close()
		return nil
	case ended && !said:
		return &cutError{"agent: answered with an empty stream (its own log may say why)"}
	case ended && l.polled:
		return l.goesOn()
	case ended:
		return &cutError{"agent: the stream ended in the middle"}
	}
	if errors.Is(err, transport.ErrMalformed) {
		l.malformed = err
	}
	stream.Close()
	return err
}

// isEnd reports whether a stream has ended between two events. One that ends in the
// middle of an event was cut.
func isEnd(err error) bool {
	return errors.Is(err, io.EOF) && !errors.Is(err, transport.ErrInterrupted)
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
	return (l.state.Terminal() || l.state == a2a.StateInputRequired || l.spoke > 0 && l.state == "") && !l.unheard && !l.stands
}

// finish drains a stream that is not shown any more. It cancels the task if that was
// wanted before the task was known.
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
		_, _ = l.agent.cancelTask(ctx, l.taskID, "the turn ended before the task was known")
	}
}
