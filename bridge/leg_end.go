package bridge

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/dialect"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file has what ends a leg, beside the machine: doEnd, doGiveUp and doUnsent there. Its turn may leave it
// before (leg_left.go). How a turn ends is in turn_end.go.

// end ends the leg; its streams are drained later, by drainOver. nil: for one of the reasons at endedWell.
// An error is told behind its first cause: that a task is gone, or cannot be asked for, behind an event that
// could not be read.
func (l *leg) end(err error) {
	if m := l.outage.malformed; m != nil && l.taskID != "" && (errors.As(err, new(*taskLostError)) || errors.As(err, new(*cutError))) {
		err = fmt.Errorf("%w; past it, %w", m, err)
	}
	l.phase, l.err = over, err
}

// endOfStream deals with the end of the leg's own stream: an error that no attempt could mend,
// or a hang-up, ends the leg; else the machine decides. An end that nothing has announced
// counts as a cut, and so does that of a stream without events; the user is told what is lost.
func (l *leg) endOfStream(b batch) {
	ended := isCleanEnd(b.err)
	if l.isMessage() {
		l.agent.messagesEnd.Store(streamsEnd)
	}
	switch {
	case l.turn.wasSpared():
		l.end(nil)
	case cannotPass(b.err):
		if l.progress < saidSomething {
			l.refusal = a2a.ErrorOf(b.err)
		}
		l.end(b.err)
	case b.stream.Unstreamed() && l.taskID != "":
		l.goOnUnstreamed()
	case ended && l.progress >= saidSomething:
		if l.progress == saidState && l.waitsForInput() && l.finality != more && l.calls != callsWork {
			l.finality = ownWord // the end says that this was all
		}
		if l.outage.why = errMiddle; !l.endWasAnnounced() {
			l.tellCut() // an end that nothing announced is a cut
		}
		l.step(inEnded)
	default:
		l.spokeLast = false // a cut may have taken what was to come behind the message
		if l.outage.why = b.err; ended {
			l.outage.why = &cutError{"agent: answered with an empty stream (its own log may say why)"}
		}
		if errors.Is(b.err, transport.ErrMalformed) {
			l.outage.malformed = b.err
		}
		switch {
		case !l.saidAll():
			l.tellCut()
		case l.isMessage() && !errors.As(b.err, new(*idleError)): // others may have been to follow (see messageGrace)
			l.turn.fold.Cut()
		}
		l.step(inCut)
	}
}

// takesUpOlder has the stream before an answer's be the leg's own, where the answer's ends while the task works, and
// what follows comes on the one before (iac-code). Nothing is lost by that, unless that has spoken before: then it is a cut.
func (l *leg) takesUpOlder(b batch) bool {
	i := slices.IndexFunc(l.readers.open, func(r *reader) bool { return r != b.reader && r != l.sub })
	if i < 0 || !isCleanEnd(b.err) || l.progress < saidSomething || l.owes || l.endWasAnnounced() || !l.turn.writing.Traits().CallsOnStream {
		return false
	}
	l.live = l.readers.open[i]
	l.wait(l.patience)
	return true
}

// endWasAnnounced reports whether the agent has said before its stream ended that it would: by
// a terminal state, also one that only a look has shown, a state that waits for the user, or a
// message outside of a task, behind which A2A has nothing.
func (l *leg) endWasAnnounced() bool {
	return l.terminal() || l.verdict == byLook || l.parted || l.waitsForInput()
}

// isCleanEnd reports whether a stream has ended between two events. Within one it was cut.
func isCleanEnd(err error) bool {
	return errors.Is(err, io.EOF) && !errors.Is(err, transport.ErrInterrupted)
}

// cannotPass reports whether the error of a leg's own stream ends the leg, since no attempt could
// mend it: the process has ended, an event is too large, a command has failed, or any error response,
// which is the agent's word on the message. (Of responses to a look few are: see leg.looked.)
func cannotPass(err error) bool {
	return errors.Is(err, transport.ErrExited) || errors.Is(err, transport.ErrTooLarge) || a2a.ErrorOf(err) != nil ||
		errors.As(err, new(*dialect.CommandError))
}

var errMiddle = &cutError{"agent: the stream ended in the middle"}

// errStrange is for a stream of which nothing is A2A's, and which nothing was to follow: OmniRoute's (3.7.9) has its
// answer in the request of JSON-RPC again.
var errStrange = &cutError{"agent: it has answered with nothing that is A2A's, so that nothing can be shown, and the message is not sent again (a2astdio doctor --prompt hello has the details)"}

// goOnUnstreamed deals with an agent that has answered without a stream: with the task as it
// is. No stream was lost. Unless the task is over or waits, it is looked at from now on.
func (l *leg) goOnUnstreamed() {
	l.looks.polls, l.phase = pollUnstreamed, away
	if !l.terminal() && !l.rests() && !l.pending() {
		l.tell(mapping.Connection{Phase: mapping.PhasePolling})
	}
	l.step(inSnapshot)
}

// tellCut tells the user that the connection was lost, and why; not if the leg is over, or has
// no task.
func (l *leg) tellCut() {
	if l.taskID == "" || l.phase == over {
		return
	}
	l.outage.attempt = 0
	l.tell(mapping.Connection{Phase: mapping.PhaseLost, Why: l.outage.why.Error()})
}

// unanswered deals with the error of a request to which no answer has begun. It ends the leg,
// unless the message may have come and a task can tell.
func (l *leg) unanswered(err error) {
	refusal := a2a.ErrorOf(err)
	switch {
	case l.taskID != "" && a2a.ErrorOf(err).Has(a2a.CodeTaskNotFound):
		l.refusal = refusal
		l.end(&taskLostError{l.taskID, refusal})
	case !errors.Is(err, transport.ErrPossiblyDelivered):
		l.refusal = refusal
		l.end(err)
	case l.taskID == "":
		l.end(err)
	default:
		// A gateway has given up waiting for the answer, or it was cut before its first event. The
		// task tells whether the message has come.
		if l.outage.why = err; refusal != nil {
			l.outage.why = &cutError{err.Error()}
		}
		l.tellCut()
		l.step(inCut)
	}
}

// givenUp is the error of a leg that is given up because of an input: the task may still run. nil: it
// ends well, since its task, which is gone, was over by a look, or has stopped for want of a sign-in.
func (l *leg) givenUp(in input) error {
	why := l.outage.why
	switch {
	case errors.As(why, new(*taskLostError)):
		if l.state.Terminal() && l.arrived() {
			return nil // a look at it has told that it was over
		}
		return why
	case l.taskID == "" && why == errMiddle && l.turn.fold.Unread():
		return errStrange
	case l.taskID == "":
		return l.agent.opts.Client.ExplainLoss(l.ctx, &cutError{why.Error() + ", before the task had an ID: the message may have been delivered, so it is not sent again"})
	case l.state == a2a.StateAuthRequired && l.auths >= maxAuths:
		return nil // the agent has stopped the work
	case in == inCannot && comesAgain(why):
		return &cutError{fmt.Sprintf("agent: the connection was lost, and task %s, which may still run, cannot be asked for: %s", l.taskID, strings.TrimPrefix(why.Error(), "agent: "))}
	case in == inGone, in == inCannot && (l.subscription == subNever || hasNone(l.outage.subscribeErr) && !a2a.ErrorOf(l.outage.subscribeErr).Unauthenticated()):
		return l.noWayBack()
	case in == inCannot:
		return &cutError{fmt.Sprintf("%v, and the agent does not offer tasks/get: task %s may still run", why, l.taskID)}
	}
	return &cutError{fmt.Sprintf("%v, and so it went %d times in a row: task %s may still run", why, maxTries, l.taskID)}
}

// maxUnreachable is how long an agent may refuse connections before its task is given up:
// nothing listens there any more, which is no failure of the network. An agent that is
// restarted at once is back within this time, and most have forgotten the task then.
const maxUnreachable = 10 * time.Second

// noteUnreachable notes since when attempts fail because nothing listens at the agent's address. It
// tells the user when that begins, and ends the leg when it has lasted too long, unless the agent
// pushes. While its own stream is open, and of an agent whose process is known, it does nothing.
func (l *leg) noteUnreachable(err error) {
	o := &l.outage
	switch {
	case l.agent.opts.Client.Exited() != nil || l.phase == streaming: // the process of the agent tells more
	case !transport.IsRefused(err):
		o.unreachableSince = time.Time{}
	case o.unreachableSince.IsZero():
		o.unreachableSince = time.Now()
		l.tell(mapping.Connection{Phase: mapping.PhaseWaiting, Why: err.Error()})
	case l.pushes == nil && time.Since(o.unreachableSince) >= maxUnreachable:
		why, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "agent: "), ": is the agent running")
		l.end(&cutError{fmt.Sprintf("agent: it has ended: for %v nobody has accepted a connection where it was (%v). "+
			"What task %s was doing is probably lost; start the agent again, and prompt again", maxUnreachable, why, l.taskID)})
	}
}

// endedWell reports whether there is a leg that is over without an error: the agent is done, or
// was hung up on; there was nothing to follow; or it is given up without one (givenUp).
func (l *leg) endedWell() bool { return l != nil && l.phase == over && l.err == nil }

// hasEnded reports whether the leg is over, well or not.
func (l *leg) hasEnded() bool { return l.phase == over }
