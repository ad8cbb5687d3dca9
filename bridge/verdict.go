package bridge

import (
	"time"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file counts looks that were in vain, and tells when a task is over though its state does not.

// verdict is what tells that a task is over, where its state does not.
type verdict uint8

const (
	noVerdict       verdict = iota
	byLook                  // a look, on an open stream, doSoon ago
	bySubscriptions         // subscriptions, for overPatience, and by no look
	byMessage               // its own stream has ended behind a message, or with final (dialect.Traits), and for lonePatience no look has brought more
)

const (
	// overPatience is how long looks may not show an end that subscriptions tell.
	overPatience = 15 * time.Second
	// lonePatience is how long looks must bring nothing behind a message that has ended its stream, until
	// that is believed to be the answer: a2a-js ends the stream behind any message, and leaves the
	// task at work for ever (wrappers of command lines that publish one). ADK for Python 2.5 does so on
	// a2a-python 0.3 where its model has failed, or says nothing, with final.
	lonePatience = 10 * time.Second
)

// compareLooks holds a look at a task whose stream is open until the stream has said its words,
// and counts those that grow while it says nothing. Behind the stream none is kept.
func (l *leg) compareLooks(task *a2a.Event, open bool) {
	if !open {
		l.grown, l.glance = 0, glance{}
		return
	}
	if l.glance.task != nil && len(task.Raw) > len(l.glance.task.Raw) {
		l.grown++
	}
	l.glance.task = task
}

// count counts a look that the timer, or silence, has caused: how long the message has not come
// (missing), the task waits (stood), or wants a sign-in (auths). Hints would cause too many of
// them at once.
func (l *leg) count(task *a2a.Event) {
	if !l.arrived() {
		l.missing++
	}
	switch {
	case !l.arrived() || !l.waitsForInput():
	case !l.moved && (!l.followed() || l.hasBegun()), l.calls == callsWork && l.byOwnWord() && l.phase != streaming:
		l.stood += perLook
	case !l.moved, l.calls == callsWork && l.phase != streaming:
		l.stood++
	}
	if task.State == a2a.StateAuthRequired && l.subscription != subAsked {
		l.auths++
	}
}

// countEnd counts, at the clean end of a subscription and before l.subscription forgets it, that the
// task stands as before the leg's message, as one look would: nothing runs. While it was open, count
// has not done that.
func (l *leg) countEnd() {
	if l.subscription == subSpeaks && l.arrived() && l.waitsForInput() && !l.moved {
		l.stood += perLook
	}
}

// judge sets the verdict behind a look: subscriptions have told an end that no look shows, or
// looks have brought nothing for lonePatience, of a task at work whose own stream has ended
// behind a message; else none. While its own stream is open that has it.
func (l *leg) judge() {
	f := &l.looks
	works := l.state == a2a.StateWorking || l.state == a2a.StateSubmitted
	if !l.spokeLast || l.phase == streaming || !works || l.calls == callsWork || f.news != l.turn.news {
		f.news, f.newsAt = l.turn.news, time.Now()
	}
	switch {
	case l.phase == streaming: // its own stream may have a verdict
	case !f.overAt.IsZero() && time.Since(f.overAt) > overPatience:
		l.verdict = bySubscriptions
	case time.Since(f.newsAt) >= lonePatience:
		l.verdict = byMessage
	default:
		l.verdict = noVerdict
	}
}

// wentOnUnheard reports whether a task that was looked at has gone on since the answers were taken,
// and nobody has heard how: the leg's own stream has ended with input-required from before them.
func (l *leg) wentOnUnheard(task *a2a.Event) bool {
	return l.phase != streaming && l.byOwnWord() && l.waitsForInput() && !l.moved && !l.turn.isCancelled() && (task.State != l.state || l.stood+perLook >= maxStanding)
}
