package mapping

import (
	"slices"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// Answered notes that an answer to an open call is on its way: it is open no more,
// even if the agent repeats its question.
func (f *Fold) Answered(callID string, allowed bool) {
	if c := f.calls.task.calls[callID]; c != nil {
		c.answered, c.rejected = true, !allowed
		f.calls.asks(c)
	}
}

// Doubt notes that it is not known whether the agent has taken the last answers: it has said
// nothing of their calls since. A call that was rejected may run, so it is not shown as one
// that did not. The task may have gone on, so it does not count as one that rests.
func (f *Fold) Doubt() {
	f.rest = Rest{}
	for _, c := range f.calls.task.calls {
		if c.unheard() {
			c.rejected = false
		}
	}
}

// AskAgain forgets answers that the agent has not heard, as far as the last snapshot
// tells: the process that gave them has ended, and the task still waits, or holds messages of
// the user's, and a question without the answer. still: it holds the question, and has said
// nothing for so long that it does not count whether it says that it waits.
func (f *Fold) AskAgain(still bool) {
	for _, c := range f.calls.task.calls {
		waits := f.State == a2a.StateInputRequired && !still || (f.storesUser || still) && c.held == f.texts.snapshots
		if waits && c.answered && c.Asks && !c.taken && !c.Status.Ended() && c.heard != f.texts.snapshots {
			c.answered = false
			f.calls.asks(c)
		}
	}
}

// Unheard reports whether a call of which Answered was told has not moved since:
// as far as is known, the agent has not heard the answer. It may be asked about some calls only.
func (f *Fold) Unheard(ids ...string) bool {
	for _, c := range f.calls.task.calls {
		if c.unheard() && (len(ids) == 0 || slices.Contains(ids, c.ID)) {
			return true
		}
	}
	return false
}

// Awaits reports whether the agent has said nothing of a call since it was answered.
func (f *Fold) Awaits() bool {
	for _, c := range f.calls.task.calls {
		if c.unheard() && !c.Bare {
			return true
		}
	}
	return false
}

func (c *call) unheard() bool { return c.answered && c.Asks && !c.Status.Ended() }
