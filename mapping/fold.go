package mapping

import (
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/mapping/calls"
	"github.com/a2astdio/a2astdio/mapping/dialect"
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A Fold turns what an agent says in one conversation into steps. What was shown gives a step
// that repeats when it is said again, or none: package shown has the theory.
//
// An event goes through three parts, each of which owns its state: [facts] about the task,
// [shown.Shown] for messages, artifacts and thoughts, tool [calls].
//
// It is not safe for concurrent use.
type Fold struct {
	// Joins: text of one message that several events append in a row, to the same steps, is one step.
	Joins bool
	// Dialects are the names of those that the agent is known to speak.
	Dialects []string
	// FinalEnds is that of their traits.
	FinalEnds bool
	// Calls are asked what waits for the user, runs, or was answered; answers are noted there.
	Calls *calls.Calls

	facts
	shown *shown.Shown
	split splitState
	fast  [maxFast]fastStep
	// nextFast is the index in fast of the one to replace next.
	nextFast int
	joined   joined

	// Of the event in hand: the steps of its batch so far, what it is (nil between events), how
	// it has come, and the items that it has. The history and the artifacts of a task have come
	// as a snapshot also where the task comes live.
	steps []Step
	event *a2a.Event
	verb  shown.Verb
	items items
	part  a2a.Part
	// partsOfOne is the room of decoded.
	partsOfOne []a2a.Part

	connection connectionState
	has        content
}

// content is what a turn has shown of the agent's, but for states and connections.
type content uint8

const (
	nothing  content = iota
	empty            // a task that is over, and would hold what was said
	strange          // what is not A2A
	wordless         // calls and thoughts
	ordinary
	refused // a question that was answered, again: the agent takes no answers, and would repeat it for ever
)

// NewFold returns a Fold for a conversation of which nothing has been shown.
func NewFold() *Fold {
	f := &Fold{Calls: calls.New()}
	f.shown = shown.New(f.show)
	f.spoken.Learned = f.learned
	return f
}

// Begin begins the turn of a prompt in a task, "" for one that is not known yet. It forgets the
// state, the errors and the open questions of the turn before. What was shown stays known.
func (f *Fold) Begin(taskID string) {
	f.facts.begin()
	f.Calls.Begin()
	f.shown.Begin()
	f.split.streamed = "" // what has been streamed is whole by now
	f.connection, f.has = connectionState{}, nothing
	f.SetTask(taskID)
}

// Sent names the message that is being sent, a prompt or an answer, by its ID and its text:
// live is its stream from here, and a history that has it has what came after it.
func (f *Fold) Sent(messageID, text string) {
	f.shown.Sent(messageID, text)
	f.connection.cut = false
}

// SetTask says which task the next events are of, until one names another.
func (f *Fold) SetTask(taskID string) {
	f.TaskID = taskID
	f.shown.Task(taskID)
	f.Calls.Enter(taskID)
}

// Event appends to steps what an event adds to what has been shown, and what it repeats, marked as
// such. The verb says how it has come: see package shown. The steps are views of the event. steps
// has those of the events before, of which the last may grow (Joins); none ends the texts that did.
func (f *Fold) Event(v shown.Verb, ev *a2a.Event, steps []Step) []Step {
	if len(steps) == 0 { // those before are not needed any more
		f.joined = joined{text: f.joined.text[:0], json: f.joined.json[:0]}
	}
	if l := f.growFast(v, ev); l != nil {
		return f.fastEvent(l, ev, steps)
	}
	if v != shown.Glance {
		return f.slowEvent(v, ev, steps)
	}
	task, streamed := *ev, f.split.streamed
	task.HasMessage = false // a status message may ask, and say the same in words
	steps = f.slowEvent(v, &task, steps)
	f.split.streamed = streamed
	return steps
}

// slowEvent is Event for one that may do anything.
func (f *Fold) slowEvent(v shown.Verb, ev *a2a.Event, steps []Step) []Step {
	f.steps, f.event, f.verb, f.joined.of = steps, ev, v, nil
	failed := f.Err != ""
	news := f.note(ev)
	f.shown.Task(f.TaskID)
	f.Calls.Enter(f.TaskID)
	f.tellResumed()
	if news != "" {
		f.add(Step{Kind: StepError, Text: news, State: ev.State})
	}
	if ev.State != "" {
		f.split.states++
	}
	before := len(f.steps)
	f.read(ev)
	if failed && f.spoken.Meta.Err == "" && slices.ContainsFunc(f.steps[before:], func(s Step) bool { return s.Kind == StepText }) {
		f.Err = "" // the agent has gone on, so that was no fatal error
	}
	f.question(ev)
	f.settleCalls(ev)
	f.noteFast(ev, f.steps[before:])
	steps, f.steps, f.event = f.steps, nil, nil
	f.dropEvent()
	return steps
}

// read shows what an event of any kind says. (note, settleCalls and question have the rest of it.)
func (f *Fold) read(ev *a2a.Event) {
	switch ev.Kind {
	case a2a.EventTask:
		if f.verb.OfTask() {
			f.snapshot(ev)
		} else {
			f.liveTask(ev)
			f.metadataCall(ev)
		}
		if ev.State.Terminal() {
			f.has = max(f.has, empty)
		}
	case a2a.EventStatus:
		f.state(ev)
		f.shown.SetState(ev.State, false, false)
		f.statusMessage(ev)
		f.metadataCall(ev)
	case a2a.EventMessage:
		f.shown.SetState("", false, false)
		f.message(&ev.Message, shown.Said)
	case a2a.EventArtifact:
		if !f.outputSoFar(&ev.Artifact) {
			f.shown.SetState("", false, false)
			f.artifact(&ev.Artifact, ev.Append, ev.LastChunk)
		}
	default:
		if e, ok := dialect.ReadExecution(ev.Raw); ok {
			f.execution(e)
		} else {
			f.add(Step{Kind: StepUnknown})
		}
	}
}

// statusMessage shows the message of a status that comes live, if it has one; as a repetition,
// one that was shown before the user's answer. That of a failure is its reason, and no text.
func (f *Fold) statusMessage(ev *a2a.Event) {
	if !ev.HasMessage || f.hasAsked(ev) && f.shown.ShowStaying(&shown.Item{ID: ev.Message.ID, Parts: f.decoded(ev.Message.Parts)}) {
		return
	}
	m, why := f.takeFailure(ev)
	if why && len(m.Parts.FastPath().List) == 0 {
		return
	}
	f.message(m, roleOf(ev))
}

// Grew reports whether the last event did nothing but add to a text that grows, as nearly all do:
// what else the Fold tells is as it was before.
func (f *Fold) Grew() bool { return f.joined.of != nil }

// SaidNothing reports whether this turn has shown no words: nothing but states, connections, calls
// and thoughts.
func (f *Fold) SaidNothing() bool { return f.has < ordinary }

// MayHold reports whether the task may hold what this turn has not shown: it is over by its stream's word, which was
// nothing but states, and no reason of a failure.
func (f *Fold) MayHold() bool {
	over := f.State == a2a.StateCompleted || f.State == a2a.StateFailed && f.FailText == "" && f.Err == ""
	return f.TaskID != "" && over && f.has == nothing
}

// Unread reports whether this turn has shown nothing, and the agent has said something: what is not
// A2A's, or what is neither a task nor a message with content.
func (f *Fold) Unread() bool { return f.has == strange || f.has == nothing && f.State == "" }

// dropEvent drops what points into the event: between turns it would hold on to the buffer that
// the event was read into, which may be large.
func (f *Fold) dropEvent() {
	f.part, f.spoken.Meta = a2a.Part{}, dialect.Meta{}
	f.items.clear()
	clear(f.partsOfOne)
	f.Calls.DropEvent()
}

// add appends a step to those in hand, with the task, and with what the event in hand says beside it.
func (f *Fold) add(s Step) {
	s.TaskID, s.ContextID = f.TaskID, f.ContextID
	s.Model, s.UserTier = f.spoken.Meta.Model, f.spoken.Meta.UserTier
	if ev := f.event; ev != nil {
		s.Raw, s.Metadata = ev.Raw, f.spoken.Meta.Others
		// A message has its own metadata with its first text only: the chunks, which are many,
		// repeat it.
		goesOn := s.Kind == StepText && s.Append && s.op.Follows() && !s.LastChunk
		if goesOn {
			if s.op != shown.Further {
				s.Own = OwnMeta{}
			}
			if !f.spoken.Meta.Extended {
				s.Metadata = ""
			}
		}
		switch {
		case goesOn:
		case s.Kind == StepState:
			s.Timestamp = ev.Timestamp
		case s.ArtifactID != "" && s.ArtifactID == ev.Artifact.ID:
			f.ownOf(&s.Own, &ev.Artifact)
		case s.MessageID != "" && s.MessageID == ev.Message.ID:
			s.Own.ReferenceTaskIDs, s.Own.Extensions = ev.Message.ReferenceTaskIDs, ev.Message.Extensions
			if ev.Kind != a2a.EventMessage { // where it is the event's
				s.Own.Metadata = f.spoken.Others(ev.Message.Metadata)
			}
		}
	}
	switch s.Kind {
	case StepConnection, StepState:
	case StepUnknown:
		f.has = max(f.has, strange)
	case StepTool, StepThought:
		f.has = max(f.has, wordless)
	default:
		f.has = max(f.has, ordinary)
	}
	f.steps = append(f.steps, s)
}

// state shows the state of an event, if the task was not in it, and notes how the task rests.
func (f *Fold) state(ev *a2a.Event) {
	isNew := ev.State != "" && ev.State != f.State
	if isNew {
		f.State = a2a.State(strings.Clone(string(ev.State)))
	}
	f.noteRest(ev)
	if isNew {
		f.failedBefore()
		f.add(Step{Kind: StepState, State: f.State})
	}
}

// execution shows what the agent says of a slash command, unless it was the last that it said: a
// second stream of the same task may repeat it.
func (f *Fold) execution(e dialect.Execution) {
	if f.Execution == e {
		return
	}
	f.Execution = e
	if text := e.Notice(); text != "" {
		f.add(Step{Kind: StepNotice, Text: text, Harmless: true})
	}
}
