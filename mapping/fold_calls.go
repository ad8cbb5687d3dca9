package mapping

import (
	"cmp"
	"slices"

	"github.com/a2astdio/a2astdio/mapping/calls"
	"github.com/a2astdio/a2astdio/mapping/dialect"
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file joins a [Fold] to the tool calls of its conversation.

// mention is how far mentions of calls in the event in hand may be trusted to be new: a task
// that comes live may hold what was heard. [calls.Calls.Snapshot] weighs those of a snapshot.
func (f *Fold) mention() calls.Verb {
	if f.verb == shown.Live {
		return calls.Live
	}
	return calls.Replayed
}

// toolCall shows a data part of the named message that is a tool call; false: it is none.
func (f *Fold) toolCall(data, messageID string) bool {
	steps, ok := f.Calls.Data(data, messageID, f.mention(), nil)
	f.showCalls(steps)
	return ok
}

// outputSoFar shows the output so far of a running call; false: the artifact is none, or of no
// call that we know, since other agents may name artifacts alike.
func (f *Fold) outputSoFar(a *a2a.Artifact) bool {
	steps, ok := f.Calls.Artifact(a, f.mention(), nil)
	f.showCalls(steps)
	return ok
}

// Hint takes an event that causes a look, and is not shown: it notes which dialect its agent speaks, if none is
// known, and shows what messages say of calls that wait for the user ([calls.Hint]), and the calls that a state's
// metadata tells of, since a look brings the newest of these alone (iac-code).
func (f *Fold) Hint(ev *a2a.Event, steps []Step) []Step {
	task := cmp.Or(ev.TaskID, f.TaskID)
	waits := f.Calls.WaitsIn(task) // others are not entered: 64 of them would have it forgotten
	if waits || ev.Metadata != "" || !f.spoken.Any() {
		f.spoken.Read(ev)
	}
	told := f.spoken.Meta.Call
	if told != nil && (told.Asks || told.Name == "" || task != f.TaskID || told.Status == calls.Executing && f.Calls.Holds(told.ID)) {
		told = nil // that a known one has begun is old: it may ask since
	}
	f.steps, f.event, f.verb = steps, ev, shown.Replayed
	if waits || told != nil {
		f.Calls.Enter(task)
	}
	if told != nil {
		c := *told // as in metadataCall
		f.showCalls(f.Calls.Say(&c, "", calls.Replayed, nil))
	}
	if waits {
		f.hintOfMessages(ev)
	}
	f.Calls.Enter(f.TaskID)
	steps, f.steps, f.event = f.steps, nil, nil
	f.dropEvent()
	return steps
}

// hintOfMessages shows what the messages of an event that causes a look say of calls that wait.
func (f *Fold) hintOfMessages(ev *a2a.Event) {
	for _, m := range append(slices.Collect(a2a.Each(ev.History)), ev.Message) {
		if f.spoken.ByUser(&m) {
			continue
		}
		var list []calls.Step
		if p := f.spoken.Split(&m, nil, &dialect.Carrier{Metadata: ev.Metadata, State: ev.State, Newest: true, Turn: f.shown, Calls: f.Calls}); p != nil {
			for i := range p.List {
				if p.List[i].Kind == dialect.PieceCall {
					list = f.Calls.Say(&p.List[i].Call, m.ID, calls.Hint, list)
				}
			}
		} else {
			for p := range m.Parts.All() {
				if p.Kind == a2a.PartData {
					list, _ = f.Calls.Data(string(p.Data), m.ID, calls.Hint, list)
				}
			}
		}
		f.showCalls(list)
	}
}

// metadataCall shows the call that a state's metadata tells of, and what the agent thinks there: one that asks, if the
// task waits, and one without a name, of which it says that it asks no more, if it is known.
func (f *Fold) metadataCall(ev *a2a.Event) {
	if t := f.spoken.Meta.Thinking; t != "" && !f.verb.OfTask() {
		f.shown.Live(&shown.Item{Kind: shown.Thought, ID: f.TaskID, Hint: shown.Piece, Parts: partList(a2a.Part{Kind: a2a.PartText, Text: t})})
	}
	q := f.spoken.Meta.Call
	if q == nil || q.Asks && ev.State != a2a.StateInputRequired || !q.Asks && q.Name == "" && !f.Calls.Holds(q.ID) {
		return
	}
	c := *q // what is kept of the metadata may be read again
	f.splitCall(&c, shown.Item{})
}

// showCalls shows what is new of calls, also of other tasks. Text behind a new one is another
// message; behind one that a glance has shown, where the stream or a snapshot tells of it.
func (f *Fold) showCalls(list []calls.Step) {
	for _, c := range list {
		isPlace := c.Changed == 0 // of a call that is known: nothing is new but that it stands here
		switch isBreak := c.New || isPlace; {
		case isBreak && f.verb == shown.Glance:
			f.Calls.Ahead(c.Call.ID)
		case isBreak:
			f.shown.Break()
		}
		if !isPlace {
			f.add(Step{Kind: StepTool, Tool: c.Call, New: c.New, Changed: c.Changed})
			f.steps[len(f.steps)-1].TaskID = c.Task
		}
	}
}

// settleCalls tells the calls the state that an event has brought, behind all that it says, and
// shows the questions that come of it.
func (f *Fold) settleCalls(ev *a2a.Event) {
	if ev.State == "" {
		return
	}
	if f.Calls.State(f.State); f.State == a2a.StateInputRequired {
		f.showCalls(f.Calls.AskNewest(nil))
	}
}

// EnterOpen makes the task of the calls that [calls.Calls.Open] returns the task in hand: it is
// to have their answers, where events of another task have come since.
func (f *Fold) EnterOpen() {
	if id, ok := f.Calls.OpenTask(); ok && id != f.TaskID {
		f.SetTask(id)
	}
}

// Doubt notes that it is not known whether the agent has taken the last answers. The task may
// have gone on, so it does not count as one that rests, and a call that was rejected may have run.
func (f *Fold) Doubt() {
	f.rest = Rest{}
	f.Calls.Doubt()
}

// AskAgain forgets answers that the agent has not heard, as far as the last snapshot, a task,
// tells: the process that gave them has ended, and the task still waits, or holds messages of
// the user's, and a question without the answer.
func (f *Fold) AskAgain(task *a2a.Event) {
	waits := f.State == a2a.StateInputRequired
	if waits || a2a.Any(task.History, func(m a2a.Message) bool { return m.Role == a2a.RoleUser }) {
		f.Calls.AskAgain(waits)
	}
}

// noteAnswers adds to the items which questions a message of the user's answers: a history has both.
func (f *Fold) noteAnswers(m *a2a.Message) {
	for p := range m.Parts.All() {
		if p.Kind == a2a.PartData {
			data := string(p.Data)
			f.items.do(func() { f.Calls.HeldAnswer(data) })
		}
	}
}
