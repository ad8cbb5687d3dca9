package bridge

import (
	"slices"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/spell"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// Observed is what an [Observation] is about.
type Observed string

// What can be observed.
const (
	// ObservedEvent: an event of the agent's was taken, and got a number. It has
	// Event and Payload.
	ObservedEvent Observed = "event"
	// ObservedLines: Events became Lines, which the editor gets next.
	ObservedLines Observed = "lines"
	// ObservedFold: the editor gets nothing of Events, since they say nothing new.
	ObservedFold Observed = "fold"
	// ObservedMerge: Events are left out, since newer ones replace them and the editor
	// is behind.
	ObservedMerge Observed = "merge"
	// ObservedLost: the connection to the agent was lost.
	ObservedLost Observed = "lost"
	// ObservedReconnect: it is made anew, for the Attempt-th time.
	ObservedReconnect Observed = "reconnect"
	// ObservedPoll: the task is asked for, since it cannot be followed.
	ObservedPoll Observed = "poll"
	// ObservedGiveUp: the task is not followed any more.
	ObservedGiveUp Observed = "give-up"
	// ObservedSettle: the calls that wait are all that will come, and are asked about.
	ObservedSettle Observed = "settle"
	// ObservedAsk: the user is asked about Call.
	ObservedAsk Observed = "ask"
	// ObservedAnswer: the agent is told what was decided about Call.
	ObservedAnswer Observed = "answer"
	// ObservedCancel: the agent is told to cancel Task.
	ObservedCancel Observed = "cancel"
)

// Who decided about a call: see [Observation.By].
const (
	ByUser      = "user"
	ByMode      = "mode"      // the session's permission mode
	ByAlways    = "always"    // an "always" that was remembered
	ByDismissed = "dismissed" // nobody: that is a rejection
	ByCancel    = "cancel"    // the turn was cancelled: that is a rejection
)

// An Observation is what the bridge did or decided. What is not known is empty. All
// of it is valid only while it is handed over.
type Observation struct {
	What    Observed
	Why     string
	Session string
	Task    string
	Call    string // the agent's ID of the tool call
	// Event is the number of an event, counted from 1, in the order in which the
	// bridge took them; Payload is what it said.
	Event   int64
	Payload a2a.JSON
	Events  []int64
	Lines   []byte // each with its newline
	Attempt int
	// Option is the ID of the option that was picked, Outcome its kind by ACP's
	// names, By who picked it.
	Option, Outcome, By string
}

// observe calls Options.Observe, if it is set.
func (a *Agent) observe(o *Observation) {
	if a.opts.Observe != nil {
		a.opts.Observe(o)
	}
}

// observeEvent numbers an event and the steps that came of it. It writes o.
func (t *turn) observeEvent(o *Observation, ev *a2a.Event, steps []mapping.Step) {
	n := t.agent.observed.Add(1)
	*o = Observation{What: ObservedEvent, Event: n, Payload: ev.Raw}
	t.agent.observe(o)
	if len(steps) == 0 {
		t.observe(Observation{What: ObservedFold, Events: []int64{n}})
	}
	for i := range steps {
		steps[i].Event = n
	}
}

// observe reports what the turn did, with whose it is.
func (t *turn) observe(o Observation) {
	o.Session, o.Task = t.session.ID, t.fold.TaskID
	t.agent.observe(&o)
}

// made is for [spell.ACP.Made] and [spell.Lines.Made]; nil without an observer.
func (a *Agent) made() func([]mapping.Step, []byte) {
	if a.opts.Observe == nil {
		return nil
	}
	var events []int64
	return func(steps []mapping.Step, lines []byte) {
		if events = eventsOf(steps, events[:0]); len(events) > 0 {
			a.observe(&Observation{What: ObservedLines, Events: events, Lines: lines})
		}
	}
}

// eventsOf appends the numbers of the events of which steps came.
func eventsOf(steps []mapping.Step, events []int64) []int64 {
	for i := range steps {
		if n := steps[i].Event; n > 0 {
			events = append(events, n)
		}
	}
	return events
}

// collapse is [spell.Collapse], for an editor that is behind.
func (a *Agent) collapse(steps []mapping.Step) []mapping.Step {
	events := eventsOf(steps, nil) // none without an observer
	kept := spell.Collapse(steps)
	left := eventsOf(kept, nil)
	if gone := slices.DeleteFunc(events, func(n int64) bool { return slices.Contains(left, n) }); len(gone) > 0 {
		a.observe(&Observation{What: ObservedMerge, Why: "the editor is behind: newer output replaces it", Events: gone})
	}
	return kept
}
