package bridge

import "time"

// This file has how long streams may be silent, and a question may wait. What silence does is in the machine
// (inSilent); --idle-timeout is an idleGuard (readers.go), and the user is told in notices.go.

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
	// approvalSettle is how long a call must have been waiting for approval, on
	// a stream that stays open, before the user is asked: agents that approve by
	// themselves pass through that state, and Gemini's server asks for an edit
	// and then leaves its stream open for ever.
	approvalSettle = 250 * time.Millisecond
)

// Values of [Agent]'s messagesEnd.
const (
	notSeen     = iota
	streamsEnd  // the agent ends it
	streamsStay // it leaves it open
)

// mayPause is how long the leg's own stream may say nothing, by what it has said. An agent that has
// answered with messages before is expected to end its stream, or leave it open, as it did then.
func (l *leg) mayPause() time.Duration {
	switch {
	case l.isMessage():
		pause, ended := messageGrace, l.agent.messagesEnd.Load()
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

// wait sets how long the streams may say nothing, from now on: then [leg.fellSilent].
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

// fellSilent deals with streams that have said nothing for as long as they may.
func (l *leg) fellSilent() {
	if l.phase == streaming && l.isMessage() {
		l.agent.messagesEnd.Store(streamsStay)
	}
	l.step(inSilent)
}

// watchCalls sets the alarm at which the user is asked, or behind a cut the task is looked at, when
// calls, or questions in words, have waited for a while (inSettled). It stops it where none waits.
// It is called when what waits may have changed.
func (l *leg) watchCalls() {
	switch {
	case l.phase == over || !l.pending():
		l.clock.stop(atSettle)
	case l.settling != l.asked || l.clock.at[atSettle].IsZero():
		l.settling = l.asked
		l.clock.set(atSettle, approvalSettle)
	}
}
