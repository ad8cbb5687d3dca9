package bridge

import (
	"strings"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file tells from what the agent says whether a message has come, and was answered.

// delivery is what is known of that.
type delivery struct {
	// unheard: the message was perhaps not delivered, since no answer to it came, and
	// nothing has told since that it was: see hears. begun: its answer had begun, but
	// no event of it came. message is its ID. opened: an event of the answer has come.
	unheard, begun bool
	told           bool // something was shown of it; the turn sets it as it does leg.repetition
	asWas          int  // how often in a row the task has shown that the message has not come
	message        string
	taker          bool // the journal has it that the agent has taken the answers; the turn's
	opened         bool
	// authenticates: it has waited for the user to authenticate, since when it may go on.
	authenticates bool
	// asBefore: its only event was the task as it stood before the prompt. answered: that has
	// brought new text. The turn sets answered likewise.
	asBefore, answered bool
	// repeats: the stream says again what was said before the message, and is not known to
	// have come to the end of that.
	repeats bool
}

// beginsAsBefore notes the first event. It reports whether that is the task as it stood before
// the message, with which agents may begin their answer.
func (l *leg) beginsAsBefore(ev *a2a.Event) bool {
	stands := !l.opened && l.message != "" && !l.unheard && l.request.was.Is(ev)
	l.asBefore = stands && !l.request.answers
	if l.opened = true; stands && l.isAnswered(ev) { // the end of the stream is that of the leg, but more may come
		l.state = a2a.State(strings.Clone(string(ev.State)))
	}
	return stands
}

// isAnswered reports whether a task holds something that the agent has said behind the
// prompt: an agent may answer with no more than the task, in the state that it had before.
func (l *leg) isAnswered(task *a2a.Event) (answered bool) {
	if task.History == nil || l.request.answers {
		return false
	}
	taken := false
	for m := range task.History {
		answered = answered || taken && m.Role == a2a.RoleAgent
		taken = taken || m.ID == l.message
	}
	return answered
}

// hears reports whether an event shows that the message has come. A task shows that answers
// have come by a state other than before. In the same state, and that a prompt has come, it
// shows by holding the message, or, if it works or was known to rest, by holding no messages
// of ours at all: it may have gone on unheard before the prompt. An update in the same state,
// or of one that waits, does not show that answers have come: agents may say, and ask,
// something else meanwhile. So may the user who has authenticated, which answers no call.
func (l *leg) hears(ev *a2a.Event) bool {
	unsure, ours := false, 0
	l.authenticates = l.authenticates || ev.State == a2a.StateAuthRequired || l.request.was.State == a2a.StateAuthRequired
	switch {
	case ev.Kind != a2a.EventTask:
		return l.hearsFrom(ev)
	case l.isAsWas(ev):
	case l.begun && !l.mayRestSince():
		return true
	case l.begun:
		unsure = true
	case ev.State == a2a.StateSubmitted: // as it was at its beginning
	case ev.State == a2a.StateInputRequired && l.request.was.State != a2a.StateCompleted:
	case l.mayHaveEnded(ev.State):
	case ev.State == l.request.was.State, !l.request.answers, // it worked while it waited for an answer
		l.authenticates: // or goes on since the user has authenticated
		unsure = l.request.was.State != ""
	default:
		return true
	}
	if ev.History != nil {
		for m := range ev.History {
			if m.ID == l.message {
				return true
			}
			if m.Role == a2a.RoleUser {
				ours++
			}
		}
	}
	return unsure && ours == 0
}

// hearsFrom is hears for an update. Of a prompt's, it may be of the work before, if that was not
// known to rest, or, where the agent repeats it, up to its end.
func (l *leg) hearsFrom(update *a2a.Event) bool {
	switch {
	case l.request.answers:
		return update.State != l.request.was.State && update.State != a2a.StateInputRequired && !l.authenticates
	case l.repeats:
		l.repeats = !l.request.was.Was(update)
		return false
	}
	return l.request.was.State != ""
}

// isAsWas reports whether a task is as it was before the message, as far as an agent keeps
// what it says: not the message of a state, if the answer was lost.
func (l *leg) isAsWas(task *a2a.Event) bool {
	return l.request.was.Is(task) || l.begun && task.State == l.request.was.State && !task.HasMessage
}

// mayRestSince reports whether the task may have come to rest before the message came, and
// unheard: it was at work as far as is known.
func (l *leg) mayRestSince() bool {
	return l.request.was.State == "" || l.request.was.State == a2a.StateWorking
}

// mayHaveEnded reports whether a task in that state may have ended before the message came: it
// had, that is not known, or it asked while it worked, and its end was lost.
func (l *leg) mayHaveEnded(state a2a.State) bool {
	switch l.request.was.State {
	case a2a.StateCompleted, "":
		return state == a2a.StateCompleted
	case a2a.StateWorking:
		return state.Terminal() && !l.request.answers
	}
	return false
}
