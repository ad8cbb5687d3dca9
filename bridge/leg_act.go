package bridge

import (
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// HEADER

// step has the machine decide about an input, and does what it says, which it returns; of a leg
// that was over, doEnd. That an agent has no subscriptions is noted before (subNever).
func (l *leg) step(in input) action {
	if l.phase == over {
		return doEnd
	}
	if l.subscription == subNone && l.agent.opts.Client.Unsupported().Subscribe {
		l.subscription = subNever
	}
	var do action
	l.phase, do = decide(l.phase, &l.known, in)
	l.act(in, do)
	return do
}

// act does what the machine says about an input. (Before doSoon the wait is set, but behind a
// look. doAsk asks nobody: by turn.view, turn.stream pauses, and the turn asks.)
func (l *leg) act(in input, do action) {
	switch do {
	case doRead:
		if in&ofStreams == 0 {
			l.beMorePatient()
		}
	case doLook:
		if in == inSilent {
			l.beMorePatient()
		}
		l.look(in)
	case doFollow:
		l.subscribe()
	case doLater:
		l.later()
	case doAsk:
		l.clock.stop(atSettle)
		l.settled = l.asked
		l.turn.view = fullView
		l.wait(l.patience)
	case doSoon:
		if in == inSnapshot {
			l.wait(moreSilence)
			l.verdict = byLook
		}
	case doAway:
		l.live = nil
		if l.giveGlance(true) {
			l.later()
		}
	case doEnd:
		if !l.giveGlance(l.verdict == byLook) {
			return
		}
		l.end(nil)
	case doGiveUp:
		l.end(l.givenUp(in))
	case doUnsent:
		l.end(&undeliveredError{l.taskID})
	}
}

// giveGlance shows the look that is kept (leg.glance), if one is, when its stream is not waited
// for any more. cut: that may have been about to say it, and more. False: the editor has
// failed.
func (l *leg) giveGlance(cut bool) bool {
	task := l.glance.task
	if l.glance = (glance{}); task == nil {
		return true
	}
	if cut {
		l.turn.fold.Cut()
	}
	_, ok := l.giveTask(shown.Snapshot, task)
	return ok
}

// give has the turn show something, as slowly as the editor takes it, and takes over what is
// heard then, and whether the stream flows. False: the leg is over, as the editor has failed.
func (l *leg) give(n brought) bool {
	if l.unshown != nil {
		return false
	}
	now, err := l.turn.show(l, &n)
	if l.flows = n.grows; !n.grows {
		l.heard = now
	}
	if err != nil {
		l.phase, l.err, l.unshown = over, err, err
		return false
	}
	return true
}

// giveTask gives a task that was looked at. stale: it is older than what is known, and was not
// shown; not while its stream is open, and has said that more follows its end.
func (l *leg) giveTask(v shown.Verb, task *a2a.Event) (stale, ok bool) {
	n := brought{verb: v, events: []a2a.Event{*task}}
	if stale = l.turn.countStale(task) && !(v == shown.Glance && l.finality == more); stale {
		n.events = nil
	}
	return stale, l.give(n)
}

// tell shows what became of the connection.
func (l *leg) tell(c mapping.Connection) { l.give(brought{conn: &c}) }
