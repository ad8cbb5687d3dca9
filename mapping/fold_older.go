package mapping

import (
	"strings"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file tells a task, or an event, that is older than what was shown.

// Lacks reports whether a task may be older than what was shown. There are four signs: it has
// less of a text than was shown; it has no artifact though one was shown, and the connection
// has been lost since; it has something that was shown, but not what was shown last; it has
// messages of the user's, but not the newest that a snapshot has held. None of them counts if
// the task rests with the message that it is known to rest with.
func (f *Fold) Lacks(task *a2a.Event) bool {
	known := f.texts.tasks[task.TaskID]
	if known == nil || f.rest.MessageID != "" && f.rest.Is(task) {
		return false
	}
	held, none := heldBy(task)
	if known.lacksAsked(held, task) {
		return true
	}
	var newest *shown
	holds := false
	for id, sh := range known.texts {
		if sh.n == 0 {
			continue
		}
		text, ok := held[id]
		if _, _, short := f.texts.rest(sh, text); ok && short {
			return true
		}
		if sh.run == nil {
			continue
		}
		if id.artifact && none && f.loss.away {
			return true
		}
		holds = holds || ok
		if newest == nil || newest.turn < sh.turn || newest.turn == sh.turn && newest.pos < sh.pos {
			newest = sh
		}
	}
	if !holds {
		return false
	}
	_, ok := held[newest.textID]
	return !ok
}

// lacksAsked reports whether a task, which holds these messages, has some of the user's, and not
// the newest that a snapshot has held.
func (t *taskTexts) lacksAsked(held map[textID]string, task *a2a.Event) bool {
	if _, ok := held[textID{t.asked, false}]; ok || t.asked == "" || task.History == nil {
		return false
	}
	for m := range task.History {
		if m.Role == a2a.RoleUser {
			return true
		}
	}
	return false
}

// Knows reports whether the message of an event was shown, all of it, so that the event has
// come late. In the turn in hand it may be a chunk, where the agent says messages in pieces.
func (f *Fold) Knows(ev *a2a.Event) bool {
	known := f.texts.tasks[ev.TaskID]
	if known == nil || !ev.HasMessage {
		return false
	}
	sh := known.texts[textID{ev.Message.ID, false}]
	return sh != nil && sh.n > 0 && (sh.turn != f.texts.turn || !f.texts.pieces) && f.texts.isAll(sh, wholeText(ev.Message.Parts))
}

// heldBy are the texts of the messages and artifacts that a task holds. none: it has no artifacts.
func heldBy(task *a2a.Event) (held map[textID]string, none bool) {
	held, none = map[textID]string{}, true
	for id, text := range heldTexts(task) {
		held[textID{id, false}] = text
	}
	if task.Artifacts != nil {
		for a := range task.Artifacts {
			none = false
			held[textID{strings.Clone(a.ID), true}] = wholeText(a.Parts)
		}
	}
	return held, none
}

// heldTexts are the texts of the messages that a task holds, by their IDs.
func heldTexts(task *a2a.Event) map[string]string {
	held, last, text := map[string]string{}, "", ""
	note := func(m *a2a.Message) {
		last, text = strings.Clone(m.ID), wholeText(m.Parts)
		held[last] += text
	}
	if task.History != nil {
		for m := range task.History {
			note(&m)
		}
	}
	if m := &task.Message; task.HasMessage && (m.ID != last || wholeText(m.Parts) != text) { // many have it in both
		note(m)
	}
	return held
}

// lacks reports whether a message of the agent's is not among the texts that a task holds.
func lacks(held map[string]string, ev *a2a.Event) bool {
	if !ev.HasMessage || ev.Message.Role == a2a.RoleUser {
		return false
	}
	text, ok := held[ev.Message.ID]
	return !ok || !strings.Contains(text, wholeText(ev.Message.Parts))
}
