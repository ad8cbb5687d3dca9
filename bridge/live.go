package bridge

import (
	"slices"
	"strings"
	"time"

	"github.com/a2astdio/a2astdio/mapping/dialect"
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file takes what the leg's own stream says, and older ones do.

// takeLive deals with events of the leg's own stream, at least one. They are shown, the leg's
// message has come by that, and the machine decides. What looks have counted and judged is void
// then, and, if the events have words, the look that is kept, so that what it was for is owed
// again; the stream's silence is measured anew. flows: nothing but text has grown so far. While
// that is so, all this holds already, and silence is put off, no more: it is done for each chunk
// of a text.
func (l *leg) takeLive(events []a2a.Event, flows bool) {
	ended := !flows && l.state.Terminal() && l.finality >= last
	if ended {
		dropStates(events)
	}
	asBefore := l.progress < saidSomething && l.standsAsBefore(&events[0])
	l.progress, l.heardAt = max(l.progress, saidSomething), time.Now()
	for i := range events {
		ev := &events[i]
		if !l.noteEvent(ev) {
			return
		}
		l.spokeLast = ev.Kind == a2a.EventMessage || ev.EndsLeg && l.turn.fold.FinalEnds // rule: FinalEnds
		flows = flows && (ev.State == "" || ev.State == l.state && l.progress == saidState)
	}
	l.flows = flows // the turn knows more
	if !l.give(brought{verb: shown.Live, events: events}) {
		return
	}
	if l.flows {
		l.clock.setAt(atSilent, l.heardAt.Add(l.patience))
		return
	}
	if l.unknown, l.missing, l.grown, l.verdict = 0, 0, 0, noVerdict; says(events) {
		l.owes, l.glance = l.owes || l.glance.owed, glance{}
	}
	l.noteState(events, asBefore)
	if !ended || says(events) {
		l.wait(l.mayPause())
	}
	// Behind what was to be its last word, any text says that it was not.
	l.flows = l.step(inEvent) == doRead && !l.pending() && !l.byOwnWord()
	l.watchCalls()
}

// noteEvent reads what an event of its own stream, or of a subscription, says of the leg itself:
// its task's ID, whether it is a message outside of the task (parted), and one more reply.
// False: it tells that a slash command has failed, and the leg has ended with that.
func (l *leg) noteEvent(ev *a2a.Event) bool {
	if ev.TaskID != "" && ev.TaskID != l.taskID {
		l.taskID = strings.Clone(ev.TaskID)
	}
	l.parted = ev.Kind == a2a.EventMessage && ev.TaskID == "" && hasWords(&ev.Message)
	switch ev.Kind {
	case a2a.EventMessage:
		l.replies = l.replies.with(&ev.Message)
	case a2a.EventUnknown:
		if e, ok := dialect.ReadExecution(ev.Raw); ok {
			if e.ID != "" {
				l.taskID = e.ID
			}
			if err := e.Err(); err != nil {
				l.end(err)
				return false
			}
		}
	}
	return true
}

// noteState takes over the state, and its finality, that events of the leg's own stream have
// said last, or those that are believed in its place, where the agent cannot be asked
// (takeReplayed). asBefore: the first only repeats how the task stood.
func (l *leg) noteState(events []a2a.Event, asBefore bool) {
	for i := range events {
		ev := &events[i]
		if ev.State == "" || asBefore && i == 0 {
			continue
		}
		if l.progress = saidState; ev.State != l.state {
			l.state, l.auths = a2a.State(strings.Clone(string(ev.State))), 0
		}
		switch {
		case ev.MoreFollows:
			l.finality = more
		case !ev.EndsLeg:
			l.finality = unsaid
		case l.waitsForInput() || l.state.Terminal():
			l.finality = ownWord
		default:
			l.finality = last
		}
	}
}

// takeOlder deals with what a stream has brought that the leg follows no more, an earlier request's
// or its own behind doAway: its words, and an end between two events, say that there is something
// to look at; while the leg's own stream is open, when that is silent for a moment. Words are shown
// as replayed where nothing else may tell: no subscription speaks, and the agent cannot be asked.
func (l *leg) takeOlder(b batch) {
	if b.err != nil && !isCleanEnd(b.err) {
		return
	}
	l.owes = l.owes || b.err == nil
	l.takeHints(b.events)
	switch {
	case l.phase != streaming && l.subscription != subSpeaks && b.err == nil && l.agent.opts.Client.Unsupported().Get:
		l.takeReplayed(b.events)
		l.watchCalls()
	case l.phase != streaming && b.err != nil: // rule: inOldEnded
		l.step(inOldEnded)
	case l.phase != streaming:
		l.step(inHint)
	case l.patience > olderSilence && time.Since(l.heardAt) < l.patience-olderSilence:
		l.clock.set(atSilent, olderSilence)
	}
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
