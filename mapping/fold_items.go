package mapping

import (
	"github.com/a2astdio/a2astdio/mapping/dialect"
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// items are what an event consists of: messages, artifacts and thoughts, which [shown.Shown]
// weighs, and between them, of kind [shown.Foreign], what is done without it, such as tool calls.
type items struct {
	list []shown.Item
	// Of a task: artifacts has the names, ids all that its messages and artifacts have.
	artifacts []a2a.Artifact
	ids       []string
}

func (l *items) clear() {
	clear(l.list)
	clear(l.ids)
	l.list, l.artifacts, l.ids = l.list[:0], nil, l.ids[:0]
}

func (l *items) add(in shown.Item) { l.list = append(l.list, in) }

// do adds what is done when the items before it are shown.
func (l *items) do(act func()) { l.add(shown.Item{Kind: shown.Foreign, Do: act}) }

// liveTask shows a task that comes live. Its history and its artifacts are state; its status
// message is news, unless it stands since the task waited: a stream may begin with that.
func (f *Fold) liveTask(ev *a2a.Event) {
	stands := f.rest.MessageID != "" && f.rest.RepeatedBy(ev)
	f.state(ev)
	isNew := func(a a2a.Artifact) bool {
		return f.shown.IsNew(&shown.Item{Kind: shown.Artifact, ID: a.ID, Parts: a.Parts})
	}
	f.shown.SetState(ev.State, true, ev.HasMessage && a2a.Any(ev.Artifacts, isNew))
	news := func() {
		if !stands {
			f.statusMessage(ev)
		}
	}
	f.showState(func() { f.addHistory(ev, ev.Message.ID) })
	if !ev.State.Terminal() {
		news()
	}
	f.showState(func() { f.addArtifacts(ev) })
	if ev.State.Terminal() {
		news() // nothing comes after what ends a task
	}
}

// showState shows the items that add adds, which are state in a task that comes live, or
// replayed. Meanwhile the verb is a snapshot's: its calls may have been heard (mention).
func (f *Fold) showState(add func()) {
	was := f.verb
	f.verb = shown.Snapshot
	f.items.clear()
	add()
	f.shown.State(f.items.list)
	f.verb = was
}

// list returns the items of a task that was asked for, in the order to show, until the next
// event: its history, its status message and its artifacts. A status message that ends the
// task, or asks, is last, and then not in the history (idInHistory).
func (f *Fold) list(ev *a2a.Event) []shown.Item {
	f.items.clear()
	m, why := &ev.Message, false
	if ev.HasMessage {
		m, why = f.takeFailure(ev)
		f.items.ids = append(f.items.ids, m.ID)
	}
	role, last := roleOf(ev), ev.State.Terminal() || ev.State == a2a.StateInputRequired
	if last {
		role = shown.End
	}
	status := func() {
		has := ev.HasMessage || f.verb == shown.Glance && m.Role == a2a.RoleAgent // Event hides it, and wants its calls
		if has && !f.spoken.ByUser(m) && (!why || len(m.Parts.FastPath().List) > 0) {
			f.addMessage(m, shown.Item{Role: role})
		}
	}
	if !last {
		f.addHistory(ev, "")
		status()
	} else {
		f.addHistory(ev, idInHistory(ev))
	}
	f.addArtifacts(ev)
	if last {
		status()
	}
	return f.items.list
}

// idInHistory returns the ID of the status message where the history has it too, as a2a-js writes it, and neither another
// piece of it nor anything of the agent's behind it; else "".
func idInHistory(ev *a2a.Event) (id string) {
	if !ev.HasMessage {
		return ""
	}
	for m := range a2a.Each(ev.History) {
		switch {
		case m.ID == ev.Message.ID && id == "" && m.Parts.Text() == ev.Message.Parts.Text():
			id = m.ID
		case m.ID == ev.Message.ID, id != "" && m.Role == a2a.RoleAgent:
			return ""
		}
	}
	return id
}

// roleOf is what the status message of an event is.
func roleOf(ev *a2a.Event) shown.Role {
	if ev.EndsLeg || ev.State.Terminal() {
		return shown.End
	}
	return shown.Status
}

// addHistory adds the messages of a task's history, but for the one of an ID, "" for none. Of
// the user's it notes what they answer, when it is their turn.
func (f *Fold) addHistory(ev *a2a.Event, but string) {
	for m := range a2a.Each(ev.History) {
		f.items.ids = append(f.items.ids, m.ID)
		switch {
		case f.spoken.ByUser(&m):
			f.items.add(shown.Item{Kind: shown.User, ID: m.ID, Parts: m.Parts})
			f.noteAnswers(&m)
		case f.failID != "" && m.ID == f.failID:
			// It is shown as the reason of the failure.
		case but == "" || m.ID != but:
			f.addMessage(&m, shown.Item{})
		}
	}
}

// addArtifacts adds a task's artifacts; those that are the output of a call are shown as that.
func (f *Fold) addArtifacts(ev *a2a.Event) {
	for a := range a2a.Each(ev.Artifacts) {
		f.items.ids = append(f.items.ids, a.ID)
		f.items.do(func() { f.outputSoFar(&a) })
		if f.Calls.IsOutput(&a) {
			continue
		}
		f.items.artifacts = append(f.items.artifacts, a)
		f.addArtifact(&a, shown.Item{Last: true, Name: a.Name})
	}
}

// message shows a message that comes live, with the calls and thoughts in it, but not the user's own.
func (f *Fold) message(m *a2a.Message, role shown.Role) {
	if f.spoken.ByUser(m) {
		return
	}
	as := shown.Item{Role: role}
	if f.spoken.Plain() { // every part is the message's own
		as.Kind, as.ID, as.Parts = shown.Message, m.ID, f.decoded(m.Parts)
		f.shown.Live(&as)
		return
	}
	if !f.spoken.Splits() && f.showOnePart(m, as) {
		return
	}
	f.items.clear()
	f.addMessage(m, as)
	f.showLive()
}

// decoded returns parts that are decoded once, since they are walked twice. The next call ends them.
func (f *Fold) decoded(parts a2a.Parts) a2a.Parts {
	if parts.FastPath().Only != nil {
		return parts
	}
	f.partsOfOne = f.partsOfOne[:0]
	for parts.Next(&f.part) {
		f.partsOfOne = append(f.partsOfOne, f.part)
	}
	return partList(f.partsOfOne...)
}

// showOnePart shows a message that is one text, a thought or a tool call, and nothing else, as most are;
// false, with nothing shown, if it is anything else.
func (f *Fold) showOnePart(m *a2a.Message, as shown.Item) bool {
	left := m.Parts
	if !left.Next(&f.part) || f.part.Kind != a2a.PartData && f.part.Kind != a2a.PartText {
		return false
	}
	f.partsOfOne = append(f.partsOfOne[:0], f.part)
	if left.Next(&f.part) {
		return false
	}
	switch p := &f.partsOfOne[0]; {
	case p.Kind == a2a.PartText:
		as.Kind = shown.Message
	case !f.spoken.Thinks() && f.toolCall(string(p.Data), m.ID):
		return true
	default:
		if _, _, ok := f.spoken.Thought(p); !ok {
			return false
		}
		as = shown.Item{Kind: shown.Thought}
	}
	as.ID, as.Parts = m.ID, partList(f.partsOfOne...)
	f.shown.Live(&as)
	return true
}

// ThoughtWords are the subject and the description of a thought, by the data that a step has of it.
func ThoughtWords(data a2a.JSON) (subject, description string) {
	return dialect.ThoughtWords(string(data))
}

// artifact shows an artifact that comes live, or a piece of one: one that follows, or the last.
func (f *Fold) artifact(a *a2a.Artifact, follows, last bool) {
	as := shown.Item{Append: follows, Last: last, Name: a.Name}
	if !f.spoken.Splits() {
		as.Kind, as.ID, as.Parts = shown.Artifact, a.ID, f.decoded(a.Parts)
		f.shown.Live(&as)
		return
	}
	f.items.clear()
	f.addArtifact(a, as)
	f.showLive()
}

// showLive shows the items in hand as live, in their order.
func (f *Fold) showLive() {
	for i := range f.items.list {
		if in := &f.items.list[i]; in.Kind == shown.Foreign {
			in.Do()
		} else {
			f.shown.Live(in)
		}
	}
}

// addMessage adds a message with Kind, ID and parts: what a dialect takes it for, or its text
// with the calls and thoughts in it, in their order.
func (f *Fold) addMessage(m *a2a.Message, as shown.Item) {
	as.ID = m.ID
	if f.addSplit(m, nil, as) {
		return
	}
	as.Kind = shown.Message
	if f.spoken.Plain() {
		as.Parts = m.Parts
		f.items.add(as)
		return
	}
	var own []a2a.Part // since the last thought or call
	before := len(f.items.list)
	for rest := m.Parts; rest.Next(&f.part); {
		p, id := &f.part, m.ID
		if _, _, ok := f.spoken.Thought(p); ok {
			f.flushParts(&as, &own)
			f.items.add(shown.Item{Kind: shown.Thought, ID: id, Parts: partList(*p)})
		} else if data := string(p.Data); p.Kind == a2a.PartData && f.Calls.IsCall(data) {
			f.flushParts(&as, &own)
			f.items.do(func() { f.toolCall(data, id) })
		} else {
			own = append(own, *p)
		}
	}
	if len(f.items.list) > before {
		f.flushParts(&as, &own)
		return
	}
	as.Parts = m.Parts
	f.items.add(as)
}

// flushParts adds the parts that were gathered of a message that has other things between, and empties own.
func (f *Fold) flushParts(as *shown.Item, own *[]a2a.Part) {
	if len(*own) == 0 {
		return
	}
	in := *as
	in.Parts = partList(*own...)
	f.items.add(in)
	*own = nil
}

func partList(list ...a2a.Part) (parts a2a.Parts) {
	parts.FastPath().List = list
	return parts
}

// addArtifact adds an artifact with Kind, ID and parts, or what a dialect takes it for.
func (f *Fold) addArtifact(a *a2a.Artifact, as shown.Item) {
	as.ID = a.ID
	if f.addSplit(nil, a, as) {
		return
	}
	as.Kind, as.Parts = shown.Artifact, a.Parts
	f.items.add(as)
}

// show adds the step of what Shown shows, which calls it.
func (f *Fold) show(x *shown.Step) {
	if x.Op == shown.Gap {
		f.tellGap(len(f.steps))
		return
	}
	s := Step{Own: OwnMeta{Part: f.spoken.Others(x.Part.Metadata)}, MessageID: x.ID, Shown: x.Name, Append: x.Op.Follows(), Repeats: x.Repeats, Replaces: x.Op == shown.Replace, op: x.Op}
	if x.Kind == shown.Artifact {
		f.nameArtifact(&s, x.ID)
	}
	switch {
	case x.Kind == shown.Thought && x.Part.Kind != a2a.PartText:
		s.Kind = StepThought
		s.Subject, s.Description, _ = f.spoken.Thought(x.Part)
		s.Append, s.Data = false, x.Part.Data
	case x.Kind == shown.Thought:
		s.Kind, s.Description = StepThought, x.Text
	case x.Part.Kind != a2a.PartText:
		part := *x.Part
		s.Kind, s.Part = StepPart, &part
	default:
		if s.Kind, s.Text = StepText, x.Text; len(x.Text) == len(x.Part.Text) {
			s.TextJSON, s.Plain = x.Part.TextJSON, x.Part.FastPath().Plain
		}
		s.Append = s.Append || x.Kind == shown.Message
	}
	f.add(s)
}

// nameArtifact adds to a step what is said of an artifact beside its parts, by its event, or by
// the task in hand that has it. The metadata of an event's is added by add.
func (f *Fold) nameArtifact(s *Step, id string) {
	s.ArtifactID = id
	if f.event.Kind == a2a.EventArtifact {
		s.Name, s.Description, s.LastChunk = f.event.Artifact.Name, f.event.Artifact.Description, f.event.LastChunk
		return
	}
	for i := range f.items.artifacts {
		if a := &f.items.artifacts[i]; a.ID == id {
			s.Name, s.Description = a.Name, a.Description
			f.ownOf(&s.Own, a)
		}
	}
}

// ownOf sets what an artifact says beside its parts.
func (f *Fold) ownOf(own *OwnMeta, a *a2a.Artifact) {
	own.Metadata, own.Extensions = f.spoken.Others(a.Metadata), a.Extensions
}
