package mapping

import (
	"slices"

	"github.com/a2astdio/a2astdio/mapping/shown"
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

// Cut notes that the connection to the agent was lost. The next event says that it is back, and
// the next text that something may be missing before it, unless a snapshot is complete before.
func (f *Fold) Cut() {
	f.shown.Cut()
	f.connection.cut = true
}

// Partial reports whether the agent is known to hold a part of what it says alone, so that its
// task cannot tell all that a cut has cost.
func (f *Fold) Partial() bool { return f.shown.Partial }

// InPlace notes that the editor can show an item in place of itself: see [shown.Traits].
func (f *Fold) InPlace() { f.shown.InPlace = true }

// tellResumed shows that the agent is there again, if the connection was lost.
func (f *Fold) tellResumed() {
	f.connection.resumed = 0
	if f.connection.cut {
		f.connection.cut = false
		f.add(Step{Kind: StepConnection, Connection: Connection{Phase: PhaseResumed}})
		f.connection.resumed = len(f.steps)
	}
}

// tellGap says at an index of the steps in hand that something may be missing there: in the
// step of tellResumed, if nothing but states stands between, else in one of its own.
func (f *Fold) tellGap(at int) {
	f.connection.gap = true
	n := f.connection.resumed
	if n > 0 && !slices.ContainsFunc(f.steps[n:at], func(s Step) bool { return s.Kind != StepState }) {
		f.steps[n-1].Connection.Gap = true
		return
	}
	f.add(Step{Kind: StepConnection, Connection: Connection{Phase: PhaseResumed, Gap: true}})
	last := len(f.steps) - 1
	f.steps = slices.Insert(f.steps[:last], at, f.steps[last])
}

// snapshot shows what a task that was asked for holds beyond what was shown; of a glance, no text.
func (f *Fold) snapshot(ev *a2a.Event) {
	f.state(ev)
	list := f.list(ev)
	if f.verb == shown.Glance {
		list = slices.DeleteFunc(list, func(in shown.Item) bool { return in.Kind != shown.Foreign && in.Kind != shown.User })
	}
	f.Calls.Snapshot(slices.Values(f.items.ids))
	from := len(f.steps)
	if f.shown.Snapshot(ev.State, list) {
		f.tellGap(from)
	}
	f.metadataCall(ev)
	f.Calls.EndSnapshot()
}

// EndTurn appends a step for each call that has not ended though the turn has, so that no call
// is shown as running for ever: the agent will say nothing more of it, or the bridge does not
// listen any more. all: every such call. Otherwise those that the user was asked about, and
// those that have not begun (Gemini's server drops the second of two edits when the first is
// rejected); others may go on, and are ended only if their end may be lost. A call that the
// agent mentions again later is shown again. failed: the turn ends with an error, which tells
// more than a notice that something may be missing.
func (f *Fold) EndTurn(all, failed bool, steps []Step) []Step {
	f.steps = steps
	f.connection.resumed = 0
	f.shown.End(failed)
	all = all || f.connection.gap
	f.showCalls(f.Calls.EndTurn(all, failed, nil))
	steps, f.steps, f.joined = f.steps, nil, joined{}
	return steps
}

// LetGo lets the text of a turn go that is over, and whose task is not followed any more.
func (f *Fold) LetGo() { f.shown.LetGo() }
