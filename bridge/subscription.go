package bridge

import (
	"context"
	"errors"
	"time"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file takes what a subscription says, and what is pushed.

// subscribe follows the task by a subscription, in a goroutine, or looks at it where that
// cannot be, or one is open. Of an attempt behind a cut it tells the user.
func (l *leg) subscribe() {
	l.looks.counts = true
	if l.looks.polls != pollUnstreamed && l.outage.why != nil {
		l.outage.attempt++
		l.tell(mapping.Connection{Phase: mapping.PhaseRetrying, Attempt: l.outage.attempt, Why: l.outage.why.Error()})
	}
	switch {
	case l.phase == over:
		return
	case l.followed():
		l.look(inTick)
		return
	case !l.subscribes():
		l.tellPolling()
		l.look(inTick)
		return
	}
	taskID := l.taskID
	l.subscription = subAsked
	l.wait(subscriptionSilence)
	go l.runRequest(l.readers, func() reply {
		// --timeout holds for its beginning: an agent that takes longer than it may be silent would never be followed.
		r := l.agent.opens(false, func(ctx context.Context) (begun, error) {
			stream, err := l.agent.opts.Client.Resubscribe(ctx, taskID)
			return begun{stream: stream}, err
		})
		r.from = fromSubscribe
		return r
	})
}

// tellPolling tells the user, once behind a cut, that the task is asked for.
func (l *leg) tellPolling() {
	if l.looks.polls == pollNone {
		l.looks.polls = pollTold
		l.tell(mapping.Connection{Phase: mapping.PhasePolling})
	}
}

// subscribes reports whether the agent may take a subscription: not if it has answered
// without a stream, and its card does not say that it has streams.
func (l *leg) subscribes() bool {
	if l.agent.opts.Client.Unsupported().Subscribe {
		return false
	}
	if l.looks.polls != pollUnstreamed {
		return true
	}
	card, err := l.agent.opts.Client.Card(l.ctx) // it is there
	return err != nil || card.Streaming
}

// subscribed deals with the beginning of a subscription, or its refusal, which ends the leg only
// where nothing listens for too long or the agent's process has ended; else the machine decides.
func (l *leg) subscribed(r *reply) {
	l.subscription = subNone
	if r.err == nil {
		l.sub, l.subscription = l.readers.add(r.reader), subOpen
		l.wait(subscriptionSilence)
		return
	}
	if errors.Is(r.err, transport.ErrExited) {
		l.end(r.err)
		return
	}
	if l.outage.subscribeErr = r.err; comesAgain(r.err) {
		l.subscription = subNever
	}
	if l.agent.opts.Client.Unsupported().Get {
		if l.outage.why = r.err; a2a.ErrorOf(r.err).Has(a2a.CodeTaskNotFound) {
			l.step(inGone)
			return
		}
	}
	if l.noteUnreachable(r.err); l.phase == over {
		return
	}
	l.tellPolling()
	l.step(inSubClosed)
}

// takeSubscribed deals with what a subscription has brought: its own end, by which alone it ends;
// its first task, a snapshot; and other events, which are shown as replayed where no look can bring
// their words. Else they ask for a look, and those before the first one wait for it (leg.first).
func (l *leg) takeSubscribed(b batch) {
	if b.err != nil {
		l.subscriptionEnded(b.err)
		return
	}
	events, first := b.events, l.subscription == subOpen
	l.subscriptionSpeaks(events)
	// A task at its beginning, of one that is beyond it, begins what some agents say all over.
	atBeginning := events[0].State == a2a.StateSubmitted && (l.request.beyond || l.state != "" && l.state != a2a.StateSubmitted || l.request.was.State != "")
	if first && events[0].Kind == a2a.EventTask && !atBeginning {
		l.looks.firstTask = time.Now()
		l.takeSnapshot(&events[0])
		events, first = events[1:], false
	}
	switch {
	case len(events) == 0 || l.phase == over:
	case l.agent.opts.Client.Unsupported().Get:
		l.takeReplayed(events)
		l.step(inCannot)
		l.watchCalls()
	case l.holds == holdsNoWord:
		l.give(brought{verb: shown.Replayed, events: events})
		l.step(inHint)
	default:
		// Before the first look it is not known whether the agent can be asked.
		if first || says(events) && (l.holds != holdsWords || l.looks.at.IsZero()) {
			l.first = &b
		}
		l.takeHints(events) // else its task may be read without its dialect (codex-a2a), too
		l.step(inHint)
	}
}

// subscriptionEnded deals with the end of a subscription.
func (l *leg) subscriptionEnded(err error) {
	l.outage.why = err
	switch {
	case isCleanEnd(err):
		l.outage.why = errMiddle
		l.countEnd()
	case l.subscription == subSpeaks: // what it would have said may be lost, as behind the first cut
		l.tellCut()
	}
	if l.sub, l.subscription = nil, subNone; comesAgain(err) {
		l.subscription = subNever
	}
	l.step(inSubClosed)
}

// takeHints takes events that cause a look for what they say of calls that wait for the user: he may allow what
// he has seen, and a look may come too late for that, or not tell of the call.
func (l *leg) takeHints(events []a2a.Event) { // rule: takeHints
	var steps []mapping.Step
	for i := range events {
		steps = l.turn.fold.Hint(&events[i], steps)
	}
	if len(steps) > 0 {
		l.give(brought{steps: steps})
	}
}

// subscriptionSpeaks notes what a subscription's events say of the leg, and that it speaks:
// what has counted failures begins anew.
func (l *leg) subscriptionSpeaks(events []a2a.Event) {
	f := &l.looks
	if l.subscription == subSpeaks { // what it begins with was known: it may end at once again
		l.outage.attempt = 0
	}
	l.subscription, f.polls, l.pause = subSpeaks, pollNone, firstWait
	l.tries, l.outage.unreachableSince = 0, time.Time{}
	l.clock.stop(atTick)
	l.wait(subscriptionSilence)
	for i := range events {
		switch ev := &events[i]; {
		case !l.noteEvent(ev), l.request.was.SaidBy(ev): // it may be the end of the turn before
		case f.overAt.IsZero() && ev.State.Terminal() && !ev.MoreFollows:
			f.overAt = time.Now()
		}
	}
}

// takeFirst shows the events that have waited for a look, as replayed, if that cannot bring what
// they say: the task is bare, or cannot be asked for, or not now. They wait no more.
func (l *leg) takeFirst() {
	switch {
	case l.first == nil:
	case l.agent.opts.Client.Unsupported().Get, l.tries > 0:
		l.takeReplayed(l.first.events)
	case l.holds == holdsNoWord:
		l.give(brought{verb: shown.Replayed, events: l.first.events})
	}
	l.releaseFirst()
}

// releaseFirst drops the events that wait for a look, if any do; their subscription is read on.
func (l *leg) releaseFirst() {
	if l.first != nil {
		l.readers.readOn(*l.first)
		l.first = nil
	}
}

// takeReplayed shows events that may repeat what was heard, of an agent that cannot be asked.
// Any state, but that in which the task stood before, tells that the leg's message has come;
// then what they say of the state is believed.
func (l *leg) takeReplayed(events []a2a.Event) {
	if !l.give(brought{verb: shown.Replayed, events: events}) {
		return
	}
	for i := range events {
		if ev := &events[i]; ev.State != "" && !l.request.was.SaidBy(ev) {
			l.progress = max(l.progress, hasCome)
		}
	}
	if l.arrived() {
		l.noteState(events, false)
	}
}

// pushed deals with what was pushed. While its own stream is open, which brings that, it is
// a hint (takeHints) and no more; else it asks for a look, and is the word itself where no look can be, or the newest
// has failed.
func (l *leg) pushed() {
	var pushed []a2a.Event
	for _, payload := range l.pushes.collect() {
		pushed = append(pushed, *transport.ReadPushed(payload))
	}
	l.takeHints(pushed)
	if l.phase == streaming || len(pushed) == 0 {
		return
	}
	if l.agent.opts.Client.Unsupported().Get || l.tries > 0 {
		for i := range pushed {
			ev := &pushed[i]
			if ev.Kind == a2a.EventUnknown || ev.TaskID != l.taskID || l.request.was.SaidBy(ev) {
				continue
			}
			if l.takeReplayed(pushed[i : i+1]); l.phase == over {
				return
			}
			if ev.State.Terminal() {
				l.step(inSnapshot)
				return
			}
		}
		l.watchCalls()
	}
	l.pause = firstWait // what the agent says of the task may be older than what it pushes
	l.step(inHint)
}
