package mapping

import (
	"bytes"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/mapping/calls"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A Fold turns what an agent says in one conversation into steps, each shown once. What
// was shown gives no step when it is said again: a repeated event, a snapshot of the
// task after a lost connection, the whole of a text that was streamed. It keeps lengths
// and hashes of what was shown, the text of the present turn, and, within bounds, tool
// calls that have not ended.
//
// An event goes through three parts, each of which owns its state: [facts] about
// the task, [texts] that were shown, tool [calls]; what a lost connection has cost
// is the business of [loss].
//
// A Fold is for one conversation, and not safe for concurrent use.
type Fold struct {
	facts
	takings takings
	texts   texts
	calls   *calls.Calls
	loss    loss
	fast    [maxFast]fastStep
	// nextFast is the index of the one to replace next.
	nextFast int
	// restored is what is known of a journal until the first turn.
	restored *restored
	traitsOf dialectSet // whose traits are known

	steps []Step
	event *a2a.Event
	echo  bool // the event may be in the snapshot before it
	// cut: a connection was lost since the last request.
	cut bool
	// heldCalls are the places of the calls that the snapshot in hand has shown.
	heldCalls map[string]int
	// behind: it is an echo of what was said last, or new.
	behind bool
	whole  bool // the event is a snapshot
	// partial: the agent holds part of what it says: see [Traits].
	partial bool
	// disordered: the snapshot in hand has replaced what others had, and may be older.
	disordered bool
	// sent is the ID of the message that the agent answers, "" if that is not known.
	sent string
	// storesSaid: the snapshot in hand shows that the agent keeps what it says in status
	// messages: it has the message that was sent, or what was shown in this turn. Or that
	// nothing was said since the task came to rest.
	storesSaid bool
	// storesUser: the last snapshot holds messages of the user's.
	storesUser bool
	// less are the texts of artifacts in the snapshot in hand of which more was shown.
	less []string
	// came are the messages of the snapshot in hand that have come as events, too.
	came map[string]bool
	// newestKnown: the message of the snapshot in hand was shown last, before what is older.
	newestKnown bool
	// superseded: a newer snapshot is known than the one in hand.
	superseded bool
	// awaits: what the snapshot in hand has beyond what was shown comes as an event, too.
	awaits bool
	part   a2a.Part
}

// NewFold returns a Fold for a conversation of which nothing has been shown.
func NewFold() *Fold {
	f := &Fold{texts: newTexts()}
	f.calls = calls.New()
	f.texts.enter("")
	return f
}

// Begin begins the turn of a prompt in a task, "" for one that is not known yet.
// It forgets what belongs to the turn before: its state, its errors, the questions
// that were left open. What was shown stays known.
func (f *Fold) Begin(taskID string) { f.begin(taskID, false) }

// GoOn is Begin for a turn in which the task says on what it was saying: the user's
// words have answered a question beside it.
func (f *Fold) GoOn(taskID string) { f.begin(taskID, true) }

func (f *Fold) begin(taskID string, goesOn bool) {
	f.facts.begin()
	f.calls.Begin()
	f.texts.begin(goesOn)
	f.takings.begin()
	f.loss, f.sent, f.cut = loss{}, "", false
	f.SetTask(taskID)
}

// Sent notes the ID of the message that is being sent: a history that has it has
// what came after it.
func (f *Fold) Sent(messageID string) {
	f.sent, f.cut, f.loss.away, f.loss.awaited = messageID, false, false, nil
	f.loss.again, f.loss.replays = false, nil // the answer has a stream of its own
	f.texts.settle()                          // what the one before may still bring is between: see between
}

// SetTask says which task the next events are of, until one names another.
func (f *Fold) SetTask(taskID string) {
	if f.restored != nil {
		f.restored = nil
		f.texts.seal() // what comes need not go on with it
	}
	f.TaskID = taskID
	f.texts.enter(taskID)
	f.calls.Enter(taskID)
}

// Event appends to steps what the event adds to what has been shown.
func (f *Fold) Event(ev *a2a.Event, steps []Step) []Step {
	if l := f.fits(ev); l != nil {
		return f.fastEvent(l, ev, steps)
	}
	f.steps, f.event = steps, ev
	f.texts.event++
	failed := f.Err != ""
	news := f.note(ev)
	f.findApart(ev)
	f.texts.enter(f.TaskID)
	f.calls.Enter(f.TaskID)
	f.learnTraits()
	f.resumed()
	if news != "" {
		f.add(Step{Kind: StepError, Text: news, State: ev.State})
	}
	before := len(f.steps)
	switch ev.Kind {
	case a2a.EventTask:
		if !f.echo || f.behind && ev.State.Terminal() && !f.State.Terminal() {
			f.snapshot(ev)
		} else if ev.HasMessage && (ev.State != f.State || !f.failure(&ev.Message)) { // what else the event says is older than the last snapshot
			f.newest(&ev.Message)
		}
	case a2a.EventStatus:
		f.state(ev)
		f.apartEvent(ev)
		older := f.echo && ev.State != f.State
		if ev.HasMessage && (older || !f.failure(&ev.Message)) {
			f.message(&ev.Message, mayRepeat(ev))
		}
	case a2a.EventMessage:
		f.message(&ev.Message, saidNow)
	case a2a.EventArtifact:
		if !f.outputSoFar(&ev.Artifact) && !f.apartArtifact(&ev.Artifact, ev.Append, ev.LastChunk) {
			f.artifact(&ev.Artifact, ev.Append, ev.LastChunk)
		}
	default:
		if e, ok := ReadExecution(ev.Raw); ok {
			f.execution(e)
		} else {
			f.add(Step{Kind: StepUnknown})
		}
	}
	if failed && f.meta.err == "" && hasText(f.steps[before:]) {
		f.Err = "" // the agent has gone on, so that was no fatal error
	}
	if f.calls.Waits() && ev.HasMessage && len(f.steps) > before {
		f.wait(ev)
	}
	f.question(ev)
	f.settleCalls(ev)
	f.learn(ev, f.steps[before:])
	steps, f.steps, f.event = f.steps, nil, nil
	f.letGo()
	return steps
}

// Echo is Event for an event that came before the last snapshot was taken. If the agent
// keeps such events, the snapshot holds it, so only what the snapshot does not hold is
// shown. So events of a subscription are aligned, which carry no offsets. A message
// that is all that was shown under its ID is the same one, since IDs are unique, unless
// the agent is known to say messages in pieces: some servers begin a subscription with
// the newest event, which they hold nowhere.
func (f *Fold) Echo(ev *a2a.Event, steps []Step) []Step {
	f.echo = true
	defer func() { f.echo = false }()
	return f.Event(ev, steps)
}

// Behind is Echo for an event that has come right after the last snapshot. It is not known
// which of the two the agent has made first. If the event has words that were not shown, or
// brings another state, it counts as the newer one.
func (f *Fold) Behind(ev *a2a.Event, steps []Step) []Step {
	f.behind = true
	defer func() { f.behind = false }()
	return f.Echo(ev, steps)
}

// echoed reports whether the event in hand is an echo, of something that the
// last snapshot held.
func (f *Fold) echoed(sh *shown, text string) bool {
	if !f.echo || sh.held != f.texts.snapshots {
		return false
	}
	if f.behind && sh.turn != f.texts.turn {
		return f.texts.isNewest(sh, text) || f.texts.isAll(sh, text)
	}
	return !f.behind || bytes.Contains(f.texts.said.text, []byte(text))
}

func hasText(steps []Step) bool {
	for i := range steps {
		if steps[i].Kind == StepText {
			return true
		}
	}
	return false
}

// letGo drops what points into the event: between turns it would hold on to the
// buffer that the event was read into, which may be large.
func (f *Fold) letGo() {
	f.part, f.meta, f.less = a2a.Part{}, meta{}, nil
	f.calls.LetGo()
}

// add appends a step.
func (f *Fold) add(s Step) {
	s.TaskID, s.ContextID = f.TaskID, f.ContextID
	s.Model, s.UserTier = f.meta.model, f.meta.userTier
	if ev := f.event; ev != nil {
		s.Raw, s.Metadata = ev.Raw, f.meta.others
		// A message has its own metadata with its first text only: the chunks, which
		// are many, repeat it.
		goesOn := s.Kind == StepText && s.Append && s.mark == nil && !s.LastChunk
		if goesOn {
			s.Own = OwnMeta{}
			if !f.meta.extended {
				s.Metadata = ""
			}
		}
		switch {
		case goesOn:
		case s.Kind == StepState:
			s.Timestamp = ev.Timestamp
		case s.ArtifactID != "" && s.ArtifactID == ev.Artifact.ID:
			s.Own.Metadata = others(ev.Artifact.Metadata, f.spoken != 0)
		case s.MessageID != "" && s.MessageID == ev.Message.ID:
			s.Own.ReferenceTaskIDs, s.Own.Extensions = ev.Message.ReferenceTaskIDs, ev.Message.Extensions
			if ev.Kind != a2a.EventMessage { // where it is the event's
				s.Own.Metadata = others(ev.Message.Metadata, f.spoken != 0)
			}
		}
	}
	if s.Kind != StepConnection && s.Kind != StepState {
		f.loss.content = f.texts.event
	}
	f.steps = append(f.steps, s)
}

func (f *Fold) state(ev *a2a.Event) {
	if f.echo && !f.behind {
		return
	}
	isNew := f.facts.enter(ev.State)
	f.noteRest(ev)
	if !isNew {
		return
	}
	f.add(Step{Kind: StepState, State: f.State})
}

// A carriage says in what kind of event a message has come.
type carriage uint8

const (
	// saidNow: its text follows what the same message has said before.
	saidNow carriage = iota
	// saidLast: likewise, but it ends the task or the turn, where agents repeat what
	// they have streamed.
	saidLast
	// held: a snapshot has it, with all that it has said.
	held
)

func mayRepeat(ev *a2a.Event) carriage {
	if ev.EndsLeg || ev.State.Terminal() {
		return saidLast
	}
	return saidNow
}

// message shows a message, but not the user's own that comes back.
func (f *Fold) message(m *a2a.Message, how carriage) {
	if m.Role == a2a.RoleUser || f.apartMessage(m, how) {
		return
	}
	f.plainMessage(m, how)
}

// plainMessage shows a message by A2A's own rules.
func (f *Fold) plainMessage(m *a2a.Message, how carriage) {
	if how != saidNow {
		f.wholeMessage(m, how)
		return
	}
	known := false
	if f.loss.again || f.loss.blind || f.echo || len(f.loss.awaited) > 0 {
		sh, text := f.texts.of(m.ID, false), wholeText(m.Parts)
		known = (f.loss.again || !f.texts.pieces) && f.texts.isAll(sh, text) || f.echoed(sh, text)
		known = f.comesLate(sh, text, true) || known || f.blindly(sh, text)
		rest, again := f.replayed(sh, text, true)
		if known {
			rest = "" // it still tells how far a replay has come in what was foretold
		}
		if (f.loss.again || f.loss.awaited.aWhole(&f.texts)) && f.texts.foretold(sh, text[:max(0, len(text)-len(rest))], rest) { // rest may hold pieces before it
			known = true
		} else if again && !known {
			known = true
			f.text(sh, rest, nil, Step{MessageID: m.ID}, f.mayJoin(m))
		}
	}
	p := &f.part
	for left := m.Parts; left.Next(p); {
		if p.Kind == a2a.PartText {
			sh := f.texts.of(m.ID, false)
			if !known {
				f.text(sh, p.Text, p, Step{MessageID: m.ID}, f.mayJoin(m))
			}
			continue
		}
		f.otherPart(m, p, false)
	}
}

// otherPart shows a part of a message that is not text.
func (f *Fold) otherPart(m *a2a.Message, p *a2a.Part, whole bool) {
	if p.Kind == a2a.PartData {
		if f.toolCall(string(p.Data), m.ID) {
			return
		}
		if subject, description, ok := f.thought(gjson.Parse(string(p.Data))); ok {
			sh := f.texts.of(m.ID, false)
			if sum := markSum("thought", subject, description); f.texts.once(sh, sum) {
				f.missed(true)
				f.texts.epoch++
				f.add(Step{Kind: StepThought, MessageID: m.ID, Shown: f.texts.thoughtName(sh), Subject: subject, Description: description, mark: partMark(sh, sum)})
			}
			return
		}
		if isEmptyJSON(p.Data) {
			return
		}
	}
	sh := f.texts.of(m.ID, false)
	if sum := markSum(string(p.Raw)); f.texts.once(sh, sum) || !whole && !f.echoed(sh, "") {
		f.missed(true)
		part := *p
		f.add(Step{Kind: StepPart, MessageID: m.ID, Shown: f.texts.partName(sh), Part: &part, mark: partMark(sh, sum)})
	}
}

// isEmptyJSON reports whether data is empty: frameworks send an empty object to reset
// an artifact, or where they have nothing to send.
func isEmptyJSON(data a2a.JSON) bool {
	switch string(data) {
	case "{}", "[]", "null", `""`:
		return true
	}
	return false
}

// text shows text that follows what was shown of sh. part is the one that it is
// all of, nil if it is less.
func (f *Fold) text(sh *shown, text string, part *a2a.Part, s Step, may joining) {
	if text == "" {
		return
	}
	f.missed(!sh.artifact)
	if f.texts.join(sh, text, may); sh.run.of != sh {
		s.mark = &mark{task: sh.task, id: sh.textID, name: sh.run.name, at: sh.run.n, from: sh.stored.n + sh.n, headless: sh.headless, within: s.mark != nil}
	}
	f.texts.saw(sh, text)
	f.await(sh, text)
	s.Kind, s.Text, s.Shown = StepText, text, sh.run.name
	if !sh.artifact {
		s.Append = true
	}
	if part != nil {
		s.TextJSON, s.Plain = part.TextJSON, part.FastPath().Plain
		s.Own.Part = others(part.Metadata, f.spoken != 0)
	}
	f.add(s)
}
