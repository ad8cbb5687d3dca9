package mapping

import (
	"strings"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file shows what artifacts of a snapshot add to the newest text, before its messages are
// shown.

// growingArtifacts shows new text of artifacts after which no call was shown. A task
// does not tell the order of messages and artifacts. If the messages were shown first,
// an editor that shows one message for an artifact would put the new text before them.
func (f *Fold) growingArtifacts(ev *a2a.Event) {
	if ev.Artifacts == nil {
		return
	}
	mayLack := !f.storesMessages(ev) && !f.came[ev.Message.ID] && !f.newestGrows(ev)
	f.texts.said.cut = f.loss.away
	for a := range ev.Artifacts {
		sh, text := f.texts.task.texts[textID{a.ID, true}], wholeText(a.Parts)
		switch {
		case sh == nil && mayLack: // its beginning was shown in messages
			if rest, ok := f.texts.said.covers(text); ok && rest != "" {
				f.heldArtifact(&a)
				f.endsWithNewest(ev, rest)
			}
		case sh == nil || sh.run == nil || sh.run.turn != f.texts.turn || !f.goesOn(sh, text, &text):
		case sh.run.epoch == f.texts.epoch:
			f.heldArtifact(&a)
		default: // and those behind it may be the whole of what it brings
			mayLack = mayLack && text == ""
		}
	}
}

// newestGrows reports whether the newest message, all of it, goes on from what was shown of it.
func (f *Fold) newestGrows(task *a2a.Event) bool {
	if !task.HasMessage {
		return false
	}
	sh, rest := f.texts.of(task.Message.ID, false), ""
	return sh.n > 0 && f.goesOn(sh, wholeText(task.Message.Parts), &rest) && rest != ""
}

// endsWithNewest notes that the newest message is the end of what an artifact has brought.
func (f *Fold) endsWithNewest(task *a2a.Event, rest string) {
	if !task.HasMessage {
		return
	}
	sh, text := f.texts.of(task.Message.ID, false), wholeText(task.Message.Parts)
	if end := strings.TrimSpace(text); end != "" && !f.texts.isNewest(sh, text) && strings.HasSuffix(strings.TrimSpace(rest), end) {
		f.texts.saidElsewhere(sh, text)
	}
}

// storesMessages reports whether a task's history has messages of the agent's.
func (f *Fold) storesMessages(task *a2a.Event) bool {
	if task.History == nil {
		return false
	}
	for m := range task.History {
		if m.Role != a2a.RoleUser {
			return true
		}
	}
	return false
}
