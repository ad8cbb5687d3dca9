package bridge

import (
	"errors"
	"io"
	"slices"
	"time"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/dialect"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file has how long a stream is read on, and what its end means.

const (
	// lateSilence is how long the stream of a task that is over may say nothing before
	// it counts as ended: what an agent says behind its last state is shown before the
	// reply, and a server that leaves its stream open delays that by no more. moreSilence is
	// the same where the agent has not said that this was all.
	lateSilence = 250 * time.Millisecond
	moreSilence = 2 * time.Second
	// liveSilence is how long a leg's own stream may say nothing before the task is looked at;
	// each further time it is twice as long, up to maxSilence. olderSilence is the same when an
	// older stream has said something.
	liveSilence  = 4 * time.Second
	maxSilence   = 30 * time.Second
	olderSilence = time.Second
	// messagePause is how long the stream of an agent may be silent that has answered with one
	// message. By the protocol that is all. Agents that say more (see messageGrace) say
	// it piece by piece, at the pace of their model.
	messagePause = 2 * time.Second
	// messageGrace is the same where an agent has answered with several messages in a
	// row (Microsoft's Agent Framework, Agno): then only the end of the stream tells that
	// the answer is complete, and a tool may run in between.
	messageGrace = 30 * time.Second
)

// messagesEnd is how a stream of messages has ended last: see mayPause.
type messagesEnd uint8

const (
	notSeen     messagesEnd = iota
	streamsEnd              // the agent ends it
	streamsStay             // it leaves it open
)

// mayPause is how long the leg's own stream may say nothing, by what it has said. An agent that has
// answered with messages before is expected to end its stream, or leave it open, as it did then.
func (l *leg) mayPause() time.Duration {
	switch {
	case l.isMessage():
		pause, ended := messageGrace, notSeen
		l.agent.locked(func() { ended = l.agent.messagesEnd })
		if ended == streamsStay || l.replies == oneReply && ended == notSeen {
			pause = messagePause
		}
		if limit := l.agent.opts.IdleTimeout; limit > 0 {
			pause = min(pause, limit)
		}
		return pause
	case l.terminal() && l.finality != more:
		return lateSilence
	case l.terminal() || l.rests():
		return moreSilence
	}
	return liveSilence
}

// wait sets how long the streams may say nothing, from now on: then [leg.silence].
func (l *leg) wait(d time.Duration) {
	l.patience = d
	l.clock.set(atSilent, d)
}

// beMorePatient measures silence from now on, and lets it last twice as long, up to maxSilence;
// as long as before while the leg's message has not come and its stream is lost.
func (l *leg) beMorePatient() {
	if l.arrived() || l.phase == streaming {
		l.patience = min(l.patience*2, maxSilence)
	}
	l.clock.set(atSilent, l.patience)
}

// silence deals with streams that have said nothing for as long as they may.
func (l *leg) silence() {
	if l.phase == streaming && l.isMessage() {
		l.agent.locked(func() { l.agent.messagesEnd = streamsStay })
	}
	l.step(inSilent)
}

// endWasAnnounced reports whether the agent has said before its stream ended that it would: by
// a terminal state, also one that only a look has shown, a state that waits for the user, or a
// message outside of a task, behind which A2A has nothing.
func (l *leg) endWasAnnounced() bool {
	return l.terminal() || l.verdict == byLook || l.parted || l.waitsForInput()
}

// endOfStream deals with the end of the leg's own stream: an error that no attempt could mend,
// or a hang-up, ends the leg; else the machine decides. An end that nothing has announced
// counts as a cut, and so does that of a stream without events; the user is told what is lost.
func (l *leg) endOfStream(b batch) {
	ended := isCleanEnd(b.err)
	if l.isMessage() {
		l.agent.locked(func() { l.agent.messagesEnd = streamsEnd })
	}
	switch {
	case l.turn.wasSpared():
		l.end(nil)
	case cannotPass(b.err):
		if l.progress < saidSomething {
			l.refusal = refusalOf(b.err)
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

var errMiddle = &cutError{"agent: the stream ended in the middle"}

// goOnUnstreamed deals with an agent that has answered without a stream: with the task as it
// is. No stream was lost. Unless the task is over or waits, it is looked at from now on.
func (l *leg) goOnUnstreamed() {
	l.refresh.polls, l.phase = pollUnstreamed, away
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
	refusal := refusalOf(err)
	switch {
	case l.taskID != "" && isRefusal(err, a2a.CodeTaskNotFound):
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

// isCleanEnd reports whether a stream has ended between two events. Within one it was cut.
func isCleanEnd(err error) bool {
	return errors.Is(err, io.EOF) && !errors.Is(err, transport.ErrInterrupted)
}

// cannotPass reports whether the error of a leg's own stream ends the leg, since no attempt could
// mend it: the process has ended, an event is too large, a command has failed, or any error response,
// which is the agent's word on the message. (Of responses to a look few are: see leg.looked.)
func cannotPass(err error) bool {
	return errors.Is(err, transport.ErrExited) || errors.Is(err, transport.ErrTooLarge) || refusalOf(err) != nil ||
		errors.As(err, new(*dialect.CommandError))
}

// dropStates takes states that are not terminal out of events. They come in a later read than a
// terminal one, which is the task's last. In one read the newest counts: it may be a retry.
func dropStates(events []a2a.Event) {
	for i := range events {
		if ev := &events[i]; !ev.State.Terminal() {
			ev.State = ""
		}
	}
}

// says reports whether events hold more than states, which often come twice.
func says(events []a2a.Event) bool {
	return slices.ContainsFunc(events, func(ev a2a.Event) bool { return ev.HasMessage || ev.Kind == a2a.EventArtifact })
}

// hasWords reports whether a message holds anything but empty texts.
func hasWords(m *a2a.Message) bool {
	return a2a.Any(m.Parts.All(), func(p *a2a.Part) bool { return p.Kind != a2a.PartText || p.Text != "" })
}
