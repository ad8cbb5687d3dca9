package mapping

import (
	"hash/maphash"
	"strings"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file joins what was shown to what the agent holds, after a connection was
// lost: [Fold.Event] of a snapshot shows what it holds beyond what was shown,
// [Fold.Echo] what of the events before it the agent does not hold, and Fold.Gap
// tells whether there may be more.

// snapshot shows what a task holds beyond what has been shown: its history and
// its last message, then its artifacts.
func (f *Fold) snapshot(ev *a2a.Event) {
	f.state(ev)
	f.countCalls(ev)
	f.snapshots++
	history := false
	if ev.History != nil {
		for m := range ev.History {
			history = true
			f.message(&m, true)
		}
	}
	if ev.HasMessage && !f.failure(&ev.Message) {
		f.newest(&ev.Message)
	}
	if ev.Artifacts != nil {
		for a := range ev.Artifacts {
			if !f.liveOutput(&a) {
				f.artifact(&a, false, false, true)
			}
		}
	}
	f.Gap = ev.HasMessage && !history
	for _, sh := range f.texts {
		f.Gap = f.Gap || sh.n > 0 && sh.task == f.TaskID && (sh.held < f.snapshots || sh.lacking)
	}
}

// newest shows a snapshot's status message. It is the last thing that the agent
// said, and may be a chunk of a message whose other chunks it does not hold: then
// it follows what was shown, unless it is what was shown last.
func (f *Fold) newest(m *a2a.Message) {
	before := f.texts[m.ID]
	if before == nil || before.n == 0 || before.held == f.snapshots {
		f.message(m, true)
		return
	}
	var b strings.Builder
	for p := range m.Parts.All() {
		b.WriteString(p.Text)
	}
	text := b.String()
	if f.live == before {
		f.settle()
	}
	switch _, replaced := f.rest(before, text, 0); {
	case text == "" || !replaced && len(text) >= before.n:
		f.message(m, true)
	case maphash.String(f.seed, text) != before.chunk:
		f.message(m, false)
		before.lacking = true
	}
	before.held = f.snapshots
}

// Echo is Event for an event that came before the last snapshot was taken, so
// that the snapshot holds it, if the agent holds such things at all: only what it
// does not hold is shown. It is how the events of a subscription are aligned that
// carry no offsets.
func (f *Fold) Echo(ev *a2a.Event, steps []Step) []Step {
	f.echo = true
	defer func() { f.echo = false }()
	return f.Event(ev, steps)
}

// echoed reports whether the event in hand is an echo, of something that the
// last snapshot held.
func (f *Fold) echoed(sh *shown) bool { return f.echo && sh.held == f.snapshots }
