package bridge

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// tellFold says what kind of stream the events of n come from.
func (t *turn) tellFold(n arrival) {
	if n.unheard {
		t.fold.Cut()
	}
	t.unlooked = (t.unlooked || n.unlooked) && n.aligns == nil
	switch {
	case n.join == joinBlind && n.pushed:
		t.fold.Blind(nil)
	case n.join == joinBlind:
		t.fold.Blind(n.events)
	}
	if n.again {
		t.fold.Again()
	}
	switch {
	case n.join == joinRepeated:
		t.fold.Repeated()
		t.session.seen.Repeated()
	case n.join == joinBlind && !n.pushed:
		t.session.seen.Anew()
	case n.join.resumed() && !t.restsAsKnown(&n):
		t.session.seen.Lose(t.fold.TaskID)
	}
}

// restsAsKnown reports whether an arrival is no more than a look at a task that waits as is known:
// it has said nothing since.
func (t *turn) restsAsKnown(n *arrival) bool {
	rest := t.fold.Rest(t.fold.TaskID)
	return n.aligns != nil && len(n.events) == 0 && rest.MessageID != "" && rest.Is(n.aligns)
}

// align turns a task that was asked for, and the events that it may hold, into steps.
func (t *turn) align(n *arrival, steps []mapping.Step) []mapping.Step {
	known, at := t.restsAsKnown(n), len(steps)
	steps = t.fold.Align(n.aligns, n.events, n.ahead, steps)
	if known && n.join.resumed() && hasContent(steps[at:]) { // an artifact says more, and the messages do not tell
		t.session.seen.Lose(t.fold.TaskID)
	}
	t.noteStill(len(n.events) > 0 || len(steps) > at)
	return steps
}

// noteStill asks again what an earlier process has asked, if its answer was lost: the agent holds
// the question, but does not say that it waits, and has brought no news for a while.
func (t *turn) noteStill(news bool) {
	switch {
	case !t.past || t.answered:
	case news:
		t.still = time.Time{}
	case t.still.IsZero():
		t.still = time.Now()
	case time.Since(t.still) >= workSilence:
		t.fold.AskAgain(true)
	}
}

// tellLeg tells the leg what is known of the calls.
func (t *turn) tellLeg(leg *leg) {
	leg.asking.Store(t.fold.Waits())
	leg.executing = t.executes()
	if leg.request.answers && (leg.unheard || t.fold.State == a2a.StateInputRequired) { // who else does not ask, and it looks at all calls
		leg.moved, leg.unmoved = !t.fold.Unheard(), t.fold.Awaits()
	}
}

// hasTextSteps reports whether an editor is shown text of the agent's.
func hasTextSteps(steps []mapping.Step) bool {
	for i := range steps {
		if steps[i].Kind == mapping.StepText {
			return true
		}
	}
	return false
}

// hasContent reports whether an editor is shown anything of what the agent says.
func hasContent(steps []mapping.Step) bool {
	return slices.ContainsFunc(steps, func(s mapping.Step) bool { return s.Kind >= mapping.StepText && s.Kind <= mapping.StepPart })
}

// keep puts into the journal what no step tells: texts that were shown elsewhere, and that
// the agent, which has spoken, has taken the user's answers.
func (t *turn) keep(leg *leg, spoke bool, steps []mapping.Step) {
	leg.told = leg.told || hasContent(steps)
	marks := t.fold.KnownMarks(nil)
	if leg.request.answers && spoke && !leg.unheard && !leg.taker {
		leg.taker = true
		marks = mapping.HeardMark(marks, t.fold.TaskID)
	}
	if len(marks) > 0 {
		t.session.record(marks)
	}
}

// isOlder reports whether an arrival is a task as it was before, or a push that is late.
func (t *turn) isOlder(n *arrival) bool {
	return n.join == joinFirst && t.fold.Lacks(&n.events[0]) || n.pushed && t.fold.Knows(&n.events[0])
}

// foldEvents turns the events of n into steps.
func (t *turn) foldEvents(n arrival, steps []mapping.Step) []mapping.Step {
	for i := range n.events {
		if !n.pushed && n.join != joinFirst {
			t.session.seen.Note(&n.events[i])
		}
		at := len(steps)
		switch n.join {
		case joinEcho:
			steps = t.fold.Echo(&n.events[i], steps)
		case joinBehind:
			steps = t.fold.Behind(&n.events[i], steps)
		default:
			steps = t.fold.Event(&n.events[i], steps)
		}
		if t.agent.opts.Observe != nil {
			t.observeEvent(&n.events[i], steps[at:])
		}
	}
	return steps
}

// executes reports whether a call is at work, and none waits. A question that is answered in
// words is no such call.
func (t *turn) executes() bool {
	return t.fold.Running() && !t.fold.Waits() && !t.fold.WaitsForWords()
}

// mayBringMore reports whether more of what the agent says may come, or be lost, on streams
// of the leg that r has made, or of those before it.
func (t *turn) mayBringMore(leg *leg, r *request) bool {
	more := !leg.hasEnded() || leg.bare || r.behind != nil
	t.leftOpen = t.leftOpen || more
	return more
}

// looksAtEnd is how often the task is asked for at the end of a turn in which a look has failed.
const looksAtEnd = 2

// lookAtEnd looks at a task that has ended, or waits, while a call is shown as running: how that
// ended may have been said on a stream that was left for an answer's. So it does where the look
// behind an answer has failed, which tells what was said before the answer. Where that fails, too,
// nothing is said: it is not likely that something was missed.
func (t *turn) lookAtEnd(ctx context.Context) {
	rests := t.fold.State.Terminal() || t.fold.State == a2a.StateInputRequired && !t.fold.Waits()
	if !rests || t.isCancelled() || !t.unlooked && (!t.leftOpen || !t.fold.Unended()) {
		return
	}
	for range looksAtEnd {
		reading, stop := context.WithTimeout(ctx, behindWait)
		err := t.reconcile(ctx, reading) // else it is said of calls that it is not known
		if stop(); err == nil || !t.unlooked || errors.As(err, new(*a2a.Error)) {
			return
		}
	}
}
