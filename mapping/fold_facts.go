package mapping

import (
	"hash/fnv"
	"io"
	"strings"

	"github.com/a2astdio/a2astdio/mapping/calls"
	"github.com/a2astdio/a2astdio/mapping/dialect"
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// facts is the part of a [Fold] that knows what the agent has said of the task itself.
type facts struct {
	// TaskID, ContextID and State are the last that the agent named.
	TaskID    string
	ContextID string
	State     a2a.State
	// Err is the last error that an event's metadata reported, or why the agent is given up; empty
	// once the agent has said something after it. A turn that ends with it has failed; it ends none.
	Err string
	// FailText is why a task has failed or was rejected, by its status message: an error, no
	// message.
	FailText string
	// Usage is the agent's count of tokens, as a JSON object, if it gave one.
	Usage a2a.JSON
	// Execution is what the agent has said of the slash command that it runs.
	Execution dialect.Execution
	// Question is what the agent asks in prose: the text that the state input-required
	// came with, or what it wants in words.
	Question string

	rest   Rest   // how the task rests that has said so last: see Fold.Rest
	failID string // of the message that FailText is of
	// askedID and asked are the ID and the parts of the newest message that a task has waited with.
	askedID string
	asked   []byte
	spoken  dialect.Spoken
}

// begin forgets what belongs to the turn before.
func (f *facts) begin() {
	f.State, f.Err, f.FailText, f.failID, f.Usage, f.Execution = "", "", "", "", "", dialect.Execution{}
}

// note keeps what an event of any kind may say beside its content: IDs, usage, and an error,
// whose text it returns, "" if it reports none that was not reported before.
func (f *facts) note(ev *a2a.Event) (news string) {
	if ev.TaskID != "" && ev.TaskID != f.TaskID {
		f.TaskID = strings.Clone(ev.TaskID)
	}
	if ev.ContextID != "" && ev.ContextID != f.ContextID {
		f.ContextID = strings.Clone(ev.ContextID)
	}
	f.spoken.Read(ev)
	if meta := &f.spoken.Meta; meta.Usage != "" {
		f.Usage = cloneJSON(meta.Usage)
	}
	if err := f.spoken.Meta.Err; err != "" && err != f.Err {
		f.Err = strings.Clone(err)
		return f.Err
	}
	return ""
}

// A Rest is how a task stands that does not work: it waits, or it is over. Its zero value is none.
type Rest struct {
	TaskID string
	State  a2a.State
	// MessageID is that of the message that the state came with, "" if there was none.
	MessageID string
	text      uint64 // that message's: an agent may have one ID for all that it asks
}

// SaidBy reports whether an event, but an artifact, says that the task stands just so, by state
// and message. One that has come late says that of what has gone on since.
func (r *Rest) SaidBy(ev *a2a.Event) bool {
	return r.State != "" && ev.Kind != a2a.EventArtifact && ev.TaskID == r.TaskID && ev.State == r.State && ev.Message.ID == r.MessageID &&
		(r.MessageID == "" || hashText(&ev.Message) == r.text)
}

// hashText is the hash of a message's text.
func hashText(m *a2a.Message) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, m.Parts.Text()) // of a hash it cannot fail
	return h.Sum64()
}

// RepeatedBy reports whether an event is the task itself, and repeats the state that it rests in.
func (r *Rest) RepeatedBy(ev *a2a.Event) bool { return ev.Kind == a2a.EventTask && r.SaidBy(ev) }

// maxAsked is how long a question in prose is, in bytes. Of the calls that wait, which are longer, nothing is
// kept here: it took 2 of 32 MiB in a stream of tool calls (bench, tools).
const maxAsked = 4 << 10

// hasAsked reports whether a task that does not wait any more still has the message that it has
// waited with, as those of a2alite have until their end.
func (f *facts) hasAsked(ev *a2a.Event) bool {
	return !ev.State.Waits() && f.askedID != "" && ev.Message.ID == f.askedID && string(ev.Message.Parts.Raw) == string(f.asked)
}

// Rest returns how a task was left, also in a turn before; the zero value if it works, is not
// known, or another one has rested since.
func (f *Fold) Rest(taskID string) Rest {
	if f.rest.TaskID != taskID {
		return Rest{}
	}
	return f.rest
}

// noteRest notes how the task in hand rests by an event's state, which f.State has already. One that
// works forgets how the last one rested, whichever that was; the message that it has waited with
// stays: see hasAsked.
func (f *facts) noteRest(ev *a2a.Event) {
	switch {
	case ev.State == "":
	case ev.State.Terminal() || ev.State.Waits():
		f.rest = Rest{TaskID: f.TaskID, State: f.State}
		if ev.HasMessage {
			f.rest.MessageID, f.rest.text = strings.Clone(ev.Message.ID), hashText(&ev.Message)
		}
		if parts := ev.Message.Parts.Raw; ev.HasMessage && !ev.State.Terminal() && len(parts) <= maxAsked {
			f.askedID, f.asked = f.rest.MessageID, append(f.asked[:0], parts...)
		}
	case f.rest.State != "" && f.rest.State != ev.State:
		f.rest.State, f.rest.MessageID = "", ""
	}
}

// takeFailure keeps the text of a status message that says why the task has failed (FailText,
// failID), and returns the message without it: data beside the text is shown. false, with the
// message as it is: it says nothing of that. A stream slower than a look may say other things.
func (f *facts) takeFailure(ev *a2a.Event) (rest *a2a.Message, is bool) {
	m := &ev.Message
	if ev.State != a2a.StateFailed && ev.State != a2a.StateRejected {
		return m, false
	}
	var others []a2a.Part
	for p := range m.Parts.All() {
		if p.Kind != a2a.PartText {
			others = append(others, *p)
		}
	}
	text := m.Parts.Text()
	if len(others) > 0 && strings.TrimSpace(text) == "" {
		return m, false
	}
	f.FailText, f.failID = strings.Clone(text), strings.Clone(m.ID)
	without := *m
	without.Parts = partList(others...)
	return &without, true
}

// failedBefore shows why the task had failed, or was rejected, if it goes on: its agent tries again.
// That was no reason of the turn's end then, so nothing else would tell it.
func (f *Fold) failedBefore() {
	if f.FailText == "" || f.State == a2a.StateFailed || f.State == a2a.StateRejected {
		return
	}
	f.add(Step{Kind: StepError, Text: f.FailText, State: f.State})
	f.FailText = "" // failID stays: a history has the message
}

// Rejection is what the agent has said of a task that it has rejected, as a message of its own
// with a new name, so that it is called once; false if it has said nothing.
func (f *Fold) Rejection() (s Step, ok bool) {
	if f.State != a2a.StateRejected || f.FailText == "" {
		return s, false
	}
	return Step{Kind: StepText, TaskID: f.TaskID, ContextID: f.ContextID, Text: f.FailText, Shown: f.shown.TakeName(shown.Message, f.failID)}, true
}

// Speak notes that the agent speaks a dialect, by what was settled with it, "" for none: so its
// tool calls are read also where an event's metadata is missing, as in a task's history.
func (f *Fold) Speak(name string) { f.spoken.Speak(name) }

// learned takes over the traits of a dialect that the agent is known to speak.
func (f *Fold) learned(name string, place uint8, reader calls.Reader, t dialect.Traits) {
	f.Dialects = append(f.Dialects, name)
	f.shown.Partial = f.shown.Partial || t.PartialHistory || t.CallsOnStream
	f.FinalEnds = f.FinalEnds || t.FinalEnds
	if t.Chunks {
		f.shown.Chunks()
	}
	if t.Grows {
		f.shown.Grows()
	}
	f.Calls.Speak(place, reader, t.Differences)
}
