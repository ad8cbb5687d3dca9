package bridge

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

const (
	// subscriptionSilence is how long a subscription may say nothing at all
	// before the task is asked for: trpc's says nothing when the task is over, and
	// Go 0.3's nothing of what was before.
	subscriptionSilence = 4 * time.Second
	// echoTime is how long after the snapshot that begins a subscription its
	// events may be in that snapshot already: servers attach the queue first, and
	// then look the task up (JS, Python).
	echoTime = time.Second
	// allHistory asks for the whole of a task's history. Left out, the SDK for JS
	// and Gemini's server send none of it, and 0 means none to some and all to
	// others.
	allHistory = 1 << 20
)

// outcome is what an attempt to reconnect has brought.
type outcome int

const (
	nothing  outcome = iota // no answer
	alive                   // the agent knows the task, and has nothing new
	progress                // something new
)

// wait is the pause before an attempt: exponential, with jitter, so that a
// restarted agent is not met by all its editors at once. An agent whose process
// has ended, which is why the connection was lost, is not attempted.
func (l *leg) wait(ctx context.Context, d time.Duration, why error) error {
	timer := time.NewTimer(d*3/4 + rand.N(d/2))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-l.agent.opts.Client.Gone():
		return l.agent.opts.Client.Fate(ctx, why)
	case <-l.dropped:
		return errDropped
	case <-ctx.Done():
		return ctx.Err()
	}
}

// reconnect goes on with the task: by subscribing to it, or, where that gives
// nothing, by asking for it.
func (l *leg) reconnect(ctx context.Context) (outcome, error) {
	if l.subscribes(ctx) {
		stream, err := l.agent.opts.Client.Resubscribe(ctx, l.taskID, l.lastEventID())
		if err == nil {
			var said bool
			said, err = l.resume(ctx, stream)
			if err == nil || said && !l.unheard {
				return progress, err
			}
		}
		if errors.Is(err, errDropped) || errors.Is(err, transport.ErrGone) || ctx.Err() != nil {
			return nothing, err
		}
	}
	was := l.state
	if !l.polled {
		l.tell(ctx, mapping.Connection{Phase: "polling"})
	}
	if err := l.look(ctx); err != nil {
		return nothing, err
	}
	if l.over || l.resting() {
		return progress, nil
	}
	switch {
	case l.unheard:
		return nothing, &undeliveredError{l.taskID}
	case l.state != was:
		return progress, l.goesOn()
	}
	return alive, l.goesOn()
}

func (l *leg) goesOn() error {
	return &cutError{fmt.Sprintf("agent: task %s goes on, but cannot be followed", l.taskID)}
}

// subscribes reports whether the agent may take a subscription: not if it has
// answered without a stream, and its card does not say that it has streams.
func (l *leg) subscribes(ctx context.Context) bool {
	if !l.polled {
		return true
	}
	card, err := l.agent.opts.Client.Card(ctx) // it is there
	return err != nil || card.Streaming
}

// look asks for the task, and shows what it holds beyond what was shown.
func (l *leg) look(ctx context.Context) error {
	task, err := l.agent.opts.Client.Get(ctx, l.taskID, allHistory)
	if agentErr := (*a2a.Error)(nil); errors.As(err, &agentErr) {
		switch {
		case agentErr.Code == a2a.CodeTaskNotFound:
			return &goneError{l.taskID, agentErr}
		case agentErr.Unauthenticated():
			return err
		}
		// A gateway's 502, say: it does not speak for the agent.
		return &cutError{err.Error()}
	}
	if err != nil {
		return err
	}
	l.note(task)
	return l.give(ctx, news{events: []a2a.Event{*task}, resumed: !l.polled})
}

// resume reads a subscription: like read, but what it brings has to be joined to
// what was shown before the cut.
//
// Where it begins with the task, that is what joins. Otherwise each event is
// merely a sign that there is something to look at: the task is asked for, after
// the event was read, so that it holds the event if the agent holds such things;
// what it does not hold is shown from the event ([mapping.Fold.Echo]). That costs
// a request for each batch of events, with an agent that sends no snapshot, and
// is exact: without offsets, text that repeats itself cannot be aligned. (Looking
// for the overlap of the two was considered: "ha" after "haha" has two.)
func (l *leg) resume(ctx context.Context, stream *transport.Stream) (said bool, err error) {
	type batch struct {
		events []a2a.Event
		err    error
	}
	l.stream.Store(stream)
	batches, next, left := make(chan batch), make(chan struct{}), make(chan struct{})
	defer close(left)
	// It ends with the stream, or at its next event after left; at the latest when
	// the client is closed, which is why it is not one of the agent's: a Read can
	// only be ended by closing the connection, and that may cancel the task.
	go func() {
		for {
			events, err := stream.Read()
			select {
			case batches <- batch{events, err}:
			case <-left:
				return
			}
			if err != nil {
				return
			}
			select {
			case <-next:
			case <-left:
				return
			}
		}
	}()
	pause := subscriptionSilence
	silence := time.NewTimer(pause)
	defer silence.Stop()
	aligned := false // the stream has begun with the task
	var joined time.Time
	for {
		holding := false // the reader waits until its events are done with
		select {
		case b := <-batches:
			if b.err != nil {
				return said, l.endOf(stream, b.err, said)
			}
			holding = true
			l.polled = false // it streams
			silence.Stop()
			if first := &b.events[0]; !said && first.Kind == a2a.EventTask {
				aligned, joined = true, time.Now()
				l.note(first)
				err = l.give(ctx, news{events: b.events[:1], resumed: true})
				b.events = b.events[1:]
			}
			said = true
			switch {
			case err != nil:
			case l.unheard && len(b.events) == 0:
				err = &undeliveredError{l.taskID}
			case len(b.events) == 0:
			case aligned && (time.Since(joined) > echoTime || !says(b.events)):
				err = l.deliver(ctx, b.events)
			default:
				err = l.join(ctx, b.events, aligned)
			}
			if pause = subscriptionSilence; l.resting() {
				// The end of the turn may have been in the snapshot: then nothing
				// more comes, and some leave the stream open all the same.
				silence.Reset(pause)
			}
		case <-silence.C:
			// It may be over, or wait for the user, or just work.
			err = l.look(ctx)
			pause = min(pause*2, maxWait)
			silence.Reset(pause)
			// Gemini's server is in input-required while it executes what was
			// allowed; where it does wait it ends the stream.
			l.over = l.over || err == nil && l.resting() && !l.running.Load()
			if err == nil && l.unheard {
				err = &cutError{"agent: says nothing"} // the caller counts it
			}
		case <-l.dropped:
			err = errDropped
		case <-ctx.Done():
			stream.Close()
			return said, ctx.Err()
		}
		switch {
		case err != nil:
			l.finish(ctx, stream)
			return said, err
		case l.over:
			stream.Drain()
			return true, nil
		}
		if holding {
			next <- struct{}{}
		}
	}
}

// says reports whether events hold more than states, which may well come twice.
func says(events []a2a.Event) bool {
	return slices.ContainsFunc(events, func(ev a2a.Event) bool { return ev.HasMessage || ev.Kind == a2a.EventArtifact })
}

// join shows events that may be in the task already.
func (l *leg) join(ctx context.Context, events []a2a.Event, aligned bool) error {
	switch err := l.look(ctx); {
	case errors.Is(err, errDropped) || ctx.Err() != nil:
		return err
	case err != nil:
		// The agent streams, but does not say what it holds.
		for i := range events {
			l.note(&events[i])
		}
		return l.give(ctx, news{events: events, resumed: !aligned, blind: !aligned})
	}
	for i := range events {
		l.note(&events[i])
	}
	return l.give(ctx, news{events: events, echo: true})
}
