package bridge

import "github.com/a2astdio/a2astdio/transport/a2a"

// This file has what counts of a look at the task, and what the leg hears of the fold.

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

// hears is what the fold knows that the leg decides by.
func (t *turn) hears(l *leg) heard {
	return heard{
		asked: t.fold.Calls.Asked(),
		moved: !l.request.answers || !t.fold.Calls.Unmoved(l.request.calls...),
		calls: t.callsDo(),
	}
}

// callsDo is what the calls do that the fold knows of.
func (t *turn) callsDo() work {
	switch {
	case t.fold.Calls.Waits() || t.fold.WaitsForWords():
		return callsWait
	case t.fold.Calls.Running():
		return callsWork
	}
	return callsRest
}
