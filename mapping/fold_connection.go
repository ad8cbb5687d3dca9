package mapping

import (
	"iter"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// connectionState is what the user is to be told of the connection.
type connectionState struct {
	cut bool // nothing has come since it was lost
	// resumed is the place behind the step of the event in hand that says that the agent is
	// there again; 0: there is none.
	resumed int
	gap     bool // the user was told in this turn that something may be missing
}

// Cut notes that the connection to the agent was lost: something may be missing before the
// next text. It is said then, once, unless a snapshot is complete before.
func (f *Fold) Cut() {
	f.shown.Cut()
	f.connection.cut = true
}

// Partial reports whether the agent is known to hold a part of what it says alone, so that its
// task cannot tell all that a cut has cost.
func (f *Fold) Partial() bool { return f.shown.Partial() }

// InPlace notes that the editor can show an item in place of itself: see [shown.Shown.SetInPlace].
func (f *Fold) InPlace() { f.shown.SetInPlace() }

// resumed shows that the agent is there again.
func (f *Fold) resumed() {
	f.connection.resumed = 0
	if f.connection.cut {
		f.connection.cut = false
		f.add(Step{Kind: StepConnection, Connection: Connection{Phase: PhaseResumed}})
		f.connection.resumed = len(f.steps)
	}
}

// tellGap says at a place among the steps that something may be missing there.
func (f *Fold) tellGap(at int) {
	f.connection.gap = true
	if n := f.connection.resumed; n > 0 && onlyStates(f.steps[n:at]) {
		f.steps[n-1].Connection.Gap = true
		return
	}
	f.add(Step{Kind: StepConnection, Connection: Connection{Phase: PhaseResumed, Gap: true}})
	last := f.steps[len(f.steps)-1]
	copy(f.steps[at+1:], f.steps[at:])
	f.steps[at] = last
}

func onlyStates(steps []Step) bool {
	for i := range steps {
		if steps[i].Kind != StepState {
			return false
		}
	}
	return true
}

// snapshot shows what a task that was asked for holds beyond what was shown.
func (f *Fold) snapshot(ev *a2a.Event) {
	f.state(ev)
	f.calls.Snapshot(carrierIDs(ev))
	f.inState = true
	defer func() {
		f.calls.EndSnapshot()
		f.heldCalls, f.inState = nil, false
	}()
	from := len(f.steps)
	if f.shown.Snapshot(ev.State, f.list(ev)) {
		f.tellGap(from)
	}
}

// carrierIDs are the IDs of a task's messages and artifacts.
func carrierIDs(ev *a2a.Event) iter.Seq[string] {
	return func(yield func(string) bool) {
		if ev.History != nil {
			for m := range ev.History {
				if !yield(m.ID) {
					return
				}
			}
		}
		if ev.HasMessage && !yield(ev.Message.ID) || ev.Artifacts == nil {
			return
		}
		for a := range ev.Artifacts {
			if !yield(a.ID) {
				return
			}
		}
	}
}
