package bridge

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
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
	// workSilence is the same for one that has said that its task works.
	workSilence = 30 * time.Second
	// echoTime is how long after the snapshot that begins a subscription its
	// events may be in that snapshot already: servers attach the queue first, and
	// then look the task up (JS, Python).
	echoTime = time.Second
	// allHistory asks for the whole of a task's history. Without a length, the SDK for
	// JS and Gemini's server send none of it; 0 means none to some agents and all to
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
	timer := time.NewTimer(l.untilGiven(d*3/4 + rand.N(d/2)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-l.agent.opts.Client.Exited():
		return l.agent.opts.Client.ExplainLoss(ctx, why)
	case <-l.dropped:
		return errDropped
	case <-ctx.Done():
		return ctx.Err()
	}
}

// reconnect goes on with the task: by subscribing to it, or, where that gives
// nothing, by asking for it.
func (l *leg) reconnect(ctx context.Context) (outcome, error) {
	var refused error
	said := false
	if l.subscribes(ctx) {
		stream, err := l.agent.opts.Client.Resubscribe(ctx, l.taskID, l.lastEventID())
		if err == nil {
			said, err = l.resume(ctx, stream)
			if err == nil || said && !l.unheard {
				return progress, err
			}
		}
		if errors.Is(err, errDropped) || errors.Is(err, transport.ErrExited) || ctx.Err() != nil || errors.As(err, new(*undeliveredError)) {
			return nothing, err
		}
		refused = err
	}
	was := l.state
	if !l.polled {
		_ = l.give(ctx, arrival{connection: &mapping.Connection{Phase: mapping.PhasePolling}, lost: said}) // as tell
	}
	if err := l.look(ctx); err != nil {
		return nothing, l.notFound(ctx, refused, err)
	}
	if l.over || l.resting() {
		l.bare = !l.polled
		return progress, nil
	}
	switch {
	case l.unheard:
		return nothing, &undeliveredError{l.taskID, l.begun}
	case l.state != was:
		return progress, l.goesOn()
	}
	return alive, l.goesOn()
}

func (l *leg) goesOn() error {
	return &cutError{fmt.Sprintf("agent: task %s goes on, but cannot be followed", l.taskID)}
}

// subscribes reports whether the agent may take a subscription: not if it has
// answered without a stream, and its card does not say that it has streams. Before it is
// believed that the message has not come, the task is asked for.
func (l *leg) subscribes(ctx context.Context) bool {
	if l.unheard && l.asWas == maxUnheard-1 && !l.agent.opts.Client.Lacks().Get {
		return false
	}
	if !l.polled {
		return true
	}
	card, err := l.agent.opts.Client.Card(ctx) // it is there
	return err != nil || card.Streaming
}

// errCannotLook: the agent does not offer tasks/get.
var errCannotLook = errors.New("agent: does not offer tasks/get")

// isFinal reports whether asking for a task again would give the same error.
func isFinal(err error) bool {
	agentErr := (*a2a.Error)(nil)
	if !errors.As(err, &agentErr) {
		return false
	}
	switch agentErr.Code {
	case a2a.CodeTaskNotFound, a2a.CodeMethodNotFound, a2a.CodeUnsupportedOperation:
		return true
	}
	return agentErr.Unauthenticated()
}

// look asks for the task, and shows what it holds beyond what was shown.
func (l *leg) look(ctx context.Context) error {
	task, err := l.fetch(ctx)
	if err != nil {
		return err
	}
	return l.lookAt(ctx, arrival{aligns: task})
}

// fetch asks for the task, until the turn leaves the leg.
func (l *leg) fetch(ctx context.Context) (*a2a.Event, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() { // ends with the request
		select {
		case <-l.dropped:
			stop()
		case <-ctx.Done():
		}
	}()
	task, err := l.agent.opts.Client.Get(ctx, l.taskID, allHistory)
	agentErr := (*a2a.Error)(nil)
	switch final := isFinal(err); {
	case err == nil:
		return task, nil
	case final && errors.As(err, &agentErr) && agentErr.Code == a2a.CodeTaskNotFound:
		return nil, &taskLostError{l.taskID, agentErr}
	case final && !agentErr.Unauthenticated():
		return nil, errCannotLook
	case !final && errors.As(err, &agentErr):
		// For example a gateway's 502, which is not the agent's answer.
		return nil, &cutError{err.Error()}
	}
	return nil, err
}

// lookAt is look for a task that has been asked for: n.aligns.
func (l *leg) lookAt(ctx context.Context, n arrival) error {
	l.note(n.aligns)
	l.looked, l.lookedOver = true, n.aligns.State.Terminal()
	if n.aligns.HasMessage {
		l.newest = strings.Clone(n.aligns.Message.ID)
	}
	if !l.polled {
		n.join = joinCut
	}
	if err := l.give(ctx, n); err != nil {
		return err
	}
	if l.state == "" && l.request.answers && l.moved { // it stands as before, and has gone on
		l.note(n.aligns)
	}
	return nil
}

// says reports whether events hold more than states, which often come twice.
func says(events []a2a.Event) bool {
	return slices.ContainsFunc(events, func(ev a2a.Event) bool { return ev.HasMessage || ev.Kind == a2a.EventArtifact })
}
