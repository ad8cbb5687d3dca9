package bridge

import (
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file tells whether the leg's message has come, and what the state of a task that was
// looked at counts for.

// standsAsBefore reports whether an event is the task as it stood before the message, with which
// agents may begin their answer: its state is not the answer's. It is, if the task holds something
// that the agent has said behind the message.
func (l *leg) standsAsBefore(ev *a2a.Event) bool {
	return l.request.message != nil && l.request.was.RepeatedBy(ev) && !l.isAnswered(ev)
}

// isAnswered reports whether a task's history has something of the agent's behind the prompt;
// false for answers.
func (l *leg) isAnswered(task *a2a.Event) (answered bool) {
	if l.request.answers {
		return false
	}
	taken := false
	for m := range a2a.Each(task.History) {
		answered = answered || taken && m.Role == a2a.RoleAgent
		taken = taken || m.ID == l.request.message.ID
	}
	return answered
}

// takeTask takes over what a task that was looked at tells of the message and of the state, and returns
// which input it is: a stale one is older than what is known.
func (l *leg) takeTask(task *a2a.Event, stale bool) input {
	if l.noteArrival(task, stale); l.arrived() && !stale {
		stale = !l.takeState(task)
	}
	if stale {
		return inStale
	}
	return inSnapshot
}

// noteArrival notes whether a task that was looked at shows that the leg's message has come
// (progress, missing). That its history names it wins over all; a stale task tells nothing
// else. (Any event of the leg's own stream is a sign, too: takeLive.)
func (l *leg) noteArrival(task *a2a.Event, stale bool) {
	if l.request.message == nil {
		return
	}
	came := l.arrived() || a2a.Any(task.History, func(m a2a.Message) bool { return m.ID == l.request.message.ID })
	switch {
	case came, stale:
	case l.request.answers:
		came = l.answersCame(task)
	default:
		came = l.promptCame(task)
	}
	if came {
		l.progress, l.missing = max(l.progress, hasCome), 0
	}
}

// answersCame reports whether answers have come: the agent has taken them, and it has gone on. It
// has taken them where the calls do not ask any more by what was shown, the task is over or names
// none of them, or it waited, and works. It has gone on where each of them has moved, others wait,
// or the task is in another state than before: in any, if it worked then. That it has begun to
// wait is no sign: agents ask before they do.
func (l *leg) answersCame(task *a2a.Event) bool {
	rested := l.request.was.State
	taken := !l.turn.fold.Calls.Undelivered(l.request.calls...) || task.State.Terminal() || !l.namesCalls(task) ||
		rested == a2a.StateInputRequired && task.State == a2a.StateWorking
	return taken && (l.moved || l.pending() || task.State != rested && task.State != a2a.StateInputRequired)
}

// promptCame reports whether a prompt has come: the task waited, and has ended, or it stands
// otherwise than before and holds no message of the user's. Of a task that worked, or was not
// known, it is not known how it stood: then submitted is no sign.
func (l *leg) promptCame(task *a2a.Event) bool {
	rested := l.request.was.State
	if rested != "" && !rested.Terminal() && task.State.Terminal() {
		return true
	}
	asWas := l.request.was.RepeatedBy(task) || task.State == rested && !task.HasMessage // not all keep that
	isUsers := func(m a2a.Message) bool { return m.Role == a2a.RoleUser }
	return !asWas && (rested != "" || task.State != a2a.StateSubmitted) && !a2a.Any(task.History, isUsers)
}

// namesCalls reports whether a task names one of the calls that were answered. Those of many agents keep no calls.
func (l *leg) namesCalls(task *a2a.Event) bool {
	return slices.ContainsFunc(l.request.calls, func(id string) bool { return strings.Contains(string(task.Raw), `"`+id+`"`) })
}

// takeState takes over the state of a task that was looked at, and whether that is final; false, with
// nothing taken: the task was over already, so that the look is older. The stream's own word stays, while
// the task waits or is over. Calls have not moved (callFacts.moved), where the task stands as before their answers.
func (l *leg) takeState(task *a2a.Event) bool {
	if l.state.Terminal() && !task.State.Terminal() && l.finality != more {
		return false
	}
	if task.State != l.state {
		l.stood = 0
		l.state = a2a.State(strings.Clone(string(task.State)))
		if l.state != a2a.StateAuthRequired {
			l.auths = 0
		}
	}
	switch {
	case l.byOwnWord() && (l.waitsForInput() || l.state.Terminal()):
		return true
	case l.state.Terminal():
		l.finality = last
	default:
		l.finality = unsaid
	}
	// The agent has the message, and has not begun to go on. a2a-go takes the question out of the state by then.
	isSilent := l.progress < saidSomething && !l.hasBegun() && task.State == l.request.was.State && !task.HasMessage && !l.isAnswered(task)
	if isSilent || l.progress < saidState && l.standsAsBefore(task) {
		l.moved = false
	}
	return true
}

// hasBegun reports whether the agent has begun with its answer, by words that looks behind a cut
// have shown. They need not be in the history.
func (l *leg) hasBegun() bool { return l.phase != streaming && l.turn.words > l.words }

// countStale reports whether a look shows a task at work that is known to be over, and counts these.
// After maxStale in a row they are believed: agents keep less than they say.
func (t *turn) countStale(task *a2a.Event) bool {
	if task.State.Terminal() || t.writing.Traits().PartialHistory || !t.fold.State.Terminal() {
		t.stale = 0
		return false
	}
	t.stale++
	return t.stale <= maxStale
}

// maxStale is how many looks in a row may be older than what is known.
const maxStale = 3

// isBare reports whether a task holds nothing of the agent's.
func isBare(task *a2a.Event) bool {
	return !task.HasMessage && !a2a.Any(task.Artifacts, func(a2a.Artifact) bool { return true }) &&
		!a2a.Any(task.History, func(m a2a.Message) bool { return m.Role != a2a.RoleUser })
}
