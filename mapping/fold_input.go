package mapping

import (
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/mapping/dialect"
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file is for questions that the user answers in his own words.

// maxInputs is how many inputs may be waited for: more than anybody answers.
const maxInputs = 64

// An input is what the agent of a task waits for, in the user's words.
type input struct {
	dialect.Input
	task string
	// answered: the user's words are on their way. A task that was looked at asks until they have come.
	answered bool
	asked    int // the number of the newest state that has asked
}

// wantInput asks for what the user answers in words, and keeps what the answer needs; not again
// what was asked, unless the stream asks it behind its answer.
func (f *Fold) wantInput(in dialect.Input) {
	known := func(o input) bool { return o.task == f.TaskID && o.ID == in.ID }
	if i := slices.IndexFunc(f.split.inputs, known); i >= 0 && (f.verb != shown.Live || !f.split.inputs[i].answered) {
		f.split.inputs[i].asked = f.split.states
		return
	}
	f.split.inputs = slices.DeleteFunc(f.split.inputs, known)
	in.ID, in.Name, in.Text = strings.Clone(in.ID), strings.Clone(in.Name), strings.Clone(in.Text)
	if len(f.split.inputs) == maxInputs {
		f.split.inputs = slices.Delete(f.split.inputs, 0, 1)
	}
	f.split.inputs = append(f.split.inputs, input{Input: in, task: f.TaskID, asked: f.split.states})
	f.askInWords(in.Text)
}

func (f *Fold) askInWords(text string) { f.add(Step{Kind: StepNotice, Text: "\n[" + text + "]\n"}) }

// Reask appends what asks again for what was answered, and what the task waits for all the
// same, by its newest state: the next message is the answer. Question has that, too.
func (f *Fold) Reask(steps []Step) []Step {
	f.steps = steps
	for i := range f.split.inputs {
		if in := &f.split.inputs[i]; in.answered && in.task == f.TaskID && in.asked == f.split.states {
			in.answered = false
			f.Question = strings.TrimSpace(f.Question + "\n" + in.Text)
			f.askInWords(in.Text)
		}
	}
	steps, f.steps = f.steps, nil
	return steps
}

// WaitsForWords reports whether the task in hand waits for an answer in words.
func (f *Fold) WaitsForWords() bool { return len(f.inputs(f.TaskID)) > 0 }

// inputs are those that a task waits for, and whose answer is not on its way.
func (f *Fold) inputs(task string) (list []dialect.Input) {
	for _, in := range f.split.inputs {
		if in.task == task && task != "" && !in.answered {
			list = append(list, in.Input)
		}
	}
	return list
}

// Reply puts the user's words into the form in which the task waits for them, if it waits for
// any, and notes that they are on their way. What has more than text is sent as it is. The
// words answer each input: ADK's servers (for Go, JavaScript, .NET) refuse a message that
// leaves one out.
func (f *Fold) Reply(m *a2a.Outgoing) error {
	inputs := f.inputs(m.TaskID)
	if len(inputs) > 0 { // the agent has taken the answers to those before
		f.split.inputs = slices.DeleteFunc(f.split.inputs, func(in input) bool { return in.task == m.TaskID && in.answered })
	}
	f.setAnswered(m.TaskID, true)
	if len(inputs) == 0 || slices.ContainsFunc(m.Parts, func(p a2a.OutPart) bool { return p.Text == "" }) {
		return nil
	}
	text := strings.TrimSpace(m.Text())
	m.Parts = nil
	for _, in := range inputs {
		if err := dialect.WriteReply(in, text, m); err != nil {
			return err
		}
	}
	return nil
}

// Unreply notes that the agent has not taken the message that was made to be an answer: the next one is to be it.
func (f *Fold) Unreply() { f.setAnswered(f.TaskID, false) }

// setAnswered notes of all that a task waits for in words whether the answer is on its way.
func (f *Fold) setAnswered(task string, answered bool) {
	for i := range f.split.inputs {
		if in := &f.split.inputs[i]; in.task == task {
			in.answered = answered
		}
	}
}

// question keeps what the agent asks in prose, by the state that an event has, or forgets it.
// Text that came before the state is not taken for a question: Gemini's server ends every turn
// with input-required, without a message.
func (f *Fold) question(ev *a2a.Event) {
	if ev.State.Terminal() || ev.State == a2a.StateWorking { // or the agent has gone on without an answer
		f.split.inputs = slices.DeleteFunc(f.split.inputs, func(in input) bool { return in.task == f.TaskID })
	}
	switch {
	case ev.State == "":
	case !ev.State.Terminal() && f.WaitsForWords():
		f.Question = ""
		for _, in := range f.inputs(f.TaskID) {
			f.Question = strings.TrimSpace(f.Question + "\n" + in.Text)
		}
	case ev.State == a2a.StateInputRequired && ev.HasMessage && ev.Message.Role != a2a.RoleUser:
		f.Question = strings.Clone(strings.TrimSpace(ev.Message.Parts.Text()))
	case f.Question != "":
		f.Question = ""
	}
}
