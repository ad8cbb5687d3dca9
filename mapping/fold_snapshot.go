package mapping

import (
	"iter"
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file joins what was shown to what the agent holds, after a connection was lost:
// [Fold.Event] of a snapshot shows what it holds beyond what was shown; [Fold.Echo]
// shows of the events before it what the agent does not hold.

// snapshot shows what a task holds beyond what has been shown: its history and
// its last message, then its artifacts.
func (f *Fold) snapshot(ev *a2a.Event) {
	f.whole = true
	defer func() {
		f.calls.EndSnapshot()
		f.whole, f.heldCalls, f.texts.said.cut = false, nil, false
	}()
	// Nothing was said since, unless that is known already.
	stands := f.rest.MessageID != "" && f.rest.Is(ev) && (f.loss.rest.Is(ev) || f.loss.state == nothingLost)
	f.state(ev)
	f.calls.Snapshot(carrierIDs(ev))
	f.texts.snapshots++
	f.texts.coveredFrom = -1
	f.texts.before = f.texts.epoch
	f.less, f.disordered = f.less[:0], false
	from := len(f.steps)
	failed := ev.HasMessage && f.failure(&ev.Message)
	f.storesSaid, f.storesUser = false, false
	f.growingArtifacts(ev)
	f.texts.lastHeld = ""
	if ev.HasMessage && ev.State.Terminal() {
		f.texts.lastHeld = strings.Clone(ev.Message.ID)
	}
	f.history(ev)
	newest := func() {
		if storesSaid := f.storesSaid; ev.HasMessage && !failed {
			f.newest(&ev.Message)
			f.storesSaid = storesSaid // agents have the newest message, whatever they keep
		}
	}
	if !ev.State.Terminal() {
		newest()
	}
	f.heldArtifacts(ev)
	if ev.State.Terminal() {
		newest() // nothing comes after what ends a task
	}
	f.storesSaid = f.storesSaid || stands || f.loss.away && f.calls.Knows()
	if stands && !f.loss.owed && len(f.steps) == from { // that it waits was the last that was said
		f.loss.state = nothingLost
		return
	}
	f.weigh(from)
}

// heldArtifacts shows what a task's artifacts hold.
func (f *Fold) heldArtifacts(ev *a2a.Event) {
	if ev.Artifacts != nil {
		for a := range ev.Artifacts {
			if !f.outputSoFar(&a) {
				if f.apartArtifact(&a, false, true) {
					continue
				}
				f.heldArtifact(&a)
			}
		}
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

// history shows the messages that the agent has kept. Of several with one ID, which
// are pieces of one message, the last stands for all.
func (f *Fold) history(ev *a2a.Event) {
	if ev.History == nil {
		return
	}
	var seen map[string]int
	repeated := false
	f.texts.sameIDs = len(f.texts.said.text) == 0
	count, shownTo, last := 0, 0, "" // which of them was shown last
	defer func() { f.texts.late, f.texts.followed = false, false }()
	for m := range ev.History {
		if m.Role == a2a.RoleUser {
			f.storesUser = true
			if f.texts.task.asked != m.ID {
				f.texts.task.asked = strings.Clone(m.ID)
			}
			f.storesSaid = f.storesSaid || m.ID == f.sent || f.sent == ""
			continue
		}
		count++
		last = m.ID
		if f.texts.isShown(m.ID) {
			f.texts.sameIDs, shownTo = true, count
		}
		if seen == nil {
			seen = map[string]int{}
		}
		seen[m.ID]++
		repeated = repeated || seen[m.ID] > 1
	}
	if ev.HasMessage && ev.Message.ID != last && f.texts.isShown(ev.Message.ID) {
		shownTo = count + 1
	}
	var pieces map[string][]string
	total := count
	count, f.texts.heldFrom = 0, len(f.texts.said.text)
	for m := range ev.History {
		if m.Role != a2a.RoleUser {
			count++
			f.texts.late, f.texts.followed = count < shownTo, count < total
		}
		switch {
		case m.Role == a2a.RoleUser:
			f.answers(&m)
		case f.failID != "" && m.ID == f.failID:
			// It is shown as the reason of the failure.
		case m.ID == f.texts.lastHeld && seen[m.ID] == 1 && wholeText(m.Parts) == wholeText(ev.Message.Parts):
			// It comes last.
		case !repeated || seen[m.ID] < 2 && pieces[m.ID] == nil:
			f.message(&m, held)
		default:
			if pieces == nil {
				pieces = map[string][]string{}
			}
			pieces[m.ID] = append(pieces[m.ID], wholeText(m.Parts))
			if seen[m.ID]--; seen[m.ID] == 0 {
				f.pieces(&m, pieces[m.ID])
			} else {
				f.otherParts(&m)
			}
		}
	}
}

// Align is Event for events whose place is not known, and for the snapshot of the task that
// was asked for because of them. It shows what the snapshot holds, and what only the events
// have. A message that the snapshot lacks is shown before it: agents that forget messages
// keep the newest. ahead says that what the snapshot has beyond the events will come as
// events, too.
func (f *Fold) Align(task *a2a.Event, events []a2a.Event, ahead bool, steps []Step) []Step {
	held := heldTexts(task)
	f.loss.aligned = true
	f.loss.again = f.loss.again || f.saysAgain(events)
	if f.comesBetween(events) {
		f.loss.state = lost // what is shown now stands behind what it comes before
	}
	isOlder := func(ev *a2a.Event) bool { return lacks(held, ev) }
	newest := f.endsWith(task)
	// A task among the events holds what came before it, which the newer one does not.
	at := slices.IndexFunc(events, func(ev a2a.Event) bool { return ev.Kind == a2a.EventTask })
	if at > 0 && slices.ContainsFunc(events[:at], func(ev a2a.Event) bool { return isOlder(&ev) && f.isNew(&ev) }) {
		f.superseded = true
		steps = f.Align(&events[at], events[:at], true, steps)
		f.superseded = false
		f.newestKnown = newest // though what was said before it stands behind it now
		events = events[at+1:]
	}
	newest = newest || f.endsWith(task)
	f.texts.snapshots++ // what no snapshot holds is no echo
	for i := range events {
		if ev := &events[i]; isOlder(ev) {
			f.loss.unheld()
			if !ev.State.Terminal() {
				steps = f.Echo(ev, steps)
				f.newestKnown = newest
			}
			f.texts.snapshots++ // nor is what follows one that was a task
		}
	}
	f.came = map[string]bool{}
	for i := range events {
		if ev := &events[i]; ev.HasMessage && mayRepeat(ev) == saidNow {
			f.came[strings.Clone(ev.Message.ID)] = true
		}
	}
	f.awaits = ahead
	steps = f.Event(task, steps)
	f.came, f.newestKnown, f.awaits = nil, false, false
	coming := f.loss.awaited
	f.loss.awaited = nil
	coming.said(f, slices.DeleteFunc(slices.Clone(events), func(ev a2a.Event) bool { return isOlder(&ev) }))
	for i := range events {
		if ev := &events[i]; (!isOlder(ev) || ev.State.Terminal()) && !isReplaced(ev, events[i+1:]) {
			steps = f.Echo(ev, steps)
		}
	}
	f.loss.awaited = coming
	return steps
}

// endsWith reports whether a task's status message is what was shown last of that message.
func (f *Fold) endsWith(task *a2a.Event) bool {
	return task.HasMessage && f.texts.isNewest(f.texts.of(task.Message.ID, false), wholeText(task.Message.Parts))
}

// isNew reports whether the text of an event was not shown, or not as it is.
func (f *Fold) isNew(ev *a2a.Event) bool {
	sh, text := f.textOf(ev)
	return sh != nil && text != "" && !f.texts.isAll(sh, text)
}

// isReplaced reports whether an event has an artifact that a later event replaces.
func isReplaced(ev *a2a.Event, later []a2a.Event) bool {
	return ev.Kind == a2a.EventArtifact && slices.ContainsFunc(later, func(x a2a.Event) bool {
		return x.Kind == a2a.EventArtifact && !x.Append && x.Artifact.ID == ev.Artifact.ID
	})
}

// answers notes which questions the user's own messages have answered: a history
// has both.
func (f *Fold) answers(m *a2a.Message) {
	for p := range m.Parts.All() {
		if p.Kind == a2a.PartData {
			f.calls.Answer(string(p.Data))
		}
	}
}

// pieces shows a message that the agent keeps in several, of which m is the last.
func (f *Fold) pieces(m *a2a.Message, texts []string) {
	f.otherParts(m)
	sh := f.texts.of(m.ID, false)
	rest, differs := f.unshown(sh, strings.Join(texts, ""), held)
	if rest != "" {
		f.text(sh, rest, nil, Step{MessageID: m.ID}, f.mayJoin(m))
	}
	if !differs {
		sh.held = f.texts.snapshots
	}
}

// otherParts shows the parts of a message that are not text.
func (f *Fold) otherParts(m *a2a.Message) {
	p := &f.part
	for left := m.Parts; left.Next(p); {
		if p.Kind != a2a.PartText {
			f.otherPart(m, p, true)
		}
	}
}

// newest shows a snapshot's status message. It is the last thing that the agent
// said, and may be a chunk of a message whose other chunks it does not hold: then
// it follows what was shown, unless it is what was shown last.
func (f *Fold) newest(m *a2a.Message) {
	if m.Role == a2a.RoleUser {
		return
	}
	sh := f.texts.of(m.ID, false)
	if sh.n == 0 || sh.held == f.texts.snapshots {
		f.message(m, held)
		return
	}
	text := wholeText(m.Parts)
	switch _, replaced, short := f.texts.rest(sh, text); {
	case text == "" || !replaced && !short:
		f.message(m, held)
	case !f.texts.isNewest(sh, text) && !f.newestKnown:
		f.message(m, saidNow)
		sh.lacking = true
	}
	sh.held = f.texts.snapshots
}
