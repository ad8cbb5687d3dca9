package bridge

import "github.com/a2astdio/a2astdio/transport/a2a"

// This file tells whether a task that waits as it did, though it has our answers, may still go on.

// standing is what is known of that.
type standing struct {
	// moved: all calls that were answered have gone on since. unmoved: of one nothing was
	// said. The turn sets them as it does leg.repetition.
	moved, unmoved bool
	// executing: a call is at work, as far as is known, and nothing is asked in words. It is set
	// likewise.
	executing bool
	// stands: the last that is known of the task is that it waits as it did, though it
	// has our answers, behind all that was said: the agent has not begun to go on. stood
	// counts how often that was so.
	stands bool
	stood  int
}

// noteStanding notes whether the task, which was asked for, stands as it did before the
// answer that it has got. For a while that does not end the leg: agents that have taken a
// message keep it before they have done anything about it.
func (l *leg) noteStanding(ev *a2a.Event) {
	if ev.State == "" {
		return
	}
	l.stands = l.request.answers && !l.polled && ev.State == a2a.StateInputRequired && l.request.was.Is(ev) && l.stood < maxStanding && l.isLast(ev)
	if l.stands {
		l.stood++
	}
}

// mayGoOn is noteStanding for a task that waits though the agent has said nothing of a call
// since it was answered, or a call is at work, as far as is known.
func (l *leg) mayGoOn() bool {
	awaits := l.unmoved || l.executing
	if !awaits || l.polled || l.state != a2a.StateInputRequired || !l.resting() || l.stood == maxStanding {
		return false
	}
	l.stood++
	return true
}

// isLast reports whether the message is the last one in a task's history, but for that of
// its status.
func (l *leg) isLast(task *a2a.Event) (last bool) {
	if task.History == nil || l.message == "" {
		return false
	}
	for m := range task.History {
		if !task.HasMessage || m.ID != task.Message.ID {
			last = m.ID == l.message
		}
	}
	return last
}
