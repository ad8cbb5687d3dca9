package mapping

import (
	"fmt"
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/mapping/dialect"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file is for questions that the user answers in his own words.

// maxInputs is how many inputs may be waited for: more than anybody answers.
const maxInputs = 64

// An input is what the agent of a task waits for.
type input struct {
	dialect.Input
	task string
	// given is an answer that is known, and waits for the others.
	given *Answer
}

// wantInput asks for what the user answers in words, and keeps what the answer needs.
func (f *Fold) wantInput(in dialect.Input) {
	if f.keepInput(input{Input: in}) {
		f.add(Step{Kind: StepNotice, Text: "\n[" + in.Text + "]\n"})
	}
}

// keepInput keeps an input; false if it is known.
func (f *Fold) keepInput(in input) bool {
	in.task = strings.Clone(f.TaskID)
	known := slices.ContainsFunc(f.split.inputs, func(o input) bool { return o.task == in.task && o.ID == in.ID })
	if known {
		return false
	}
	in.ID, in.Name, in.Text = strings.Clone(in.ID), strings.Clone(in.Name), strings.Clone(in.Text)
	if len(f.split.inputs) == maxInputs {
		f.split.inputs = slices.Delete(f.split.inputs, 0, 1)
	}
	f.split.inputs = append(f.split.inputs, in)
	return true
}

// WaitsForWords reports whether the task in hand waits for an answer in words.
func (f *Fold) WaitsForWords() bool {
	return slices.ContainsFunc(f.split.inputs, func(in input) bool { return in.task == f.TaskID && in.given == nil })
}

// asked counts the answers in words that the task in hand waits for.
func (f *Fold) asked() (n int) {
	for _, in := range f.split.inputs {
		if in.task == f.TaskID && in.given == nil {
			n++
		}
	}
	return n
}

// inputText is all of that, as a question.
func (f *Fold) inputText() string {
	var list []string
	for _, in := range f.split.inputs {
		if in.task == f.TaskID && in.given == nil {
			list = append(list, in.Text)
		}
	}
	if n := f.asked(); n > 1 {
		list = append(list, linesHint(n))
	}
	return strings.Join(list, "\n")
}

// linesHint says how several things are answered.
func linesHint(n int) string { return fmt.Sprintf("Answer with %d lines, one for each.", n) }

// Defer keeps answers until the user's next prompt, which [Fold.Reply] sends together with
// them. It is for agents that wait for words beside the answers and take everything at once.
// The notice tells the user what to write.
func (f *Fold) Defer(answers []Answer) (notice string) {
	for _, a := range answers {
		f.Answered(a.Call.ID, true)
		f.keepInput(input{Input: dialect.Input{ID: "answer-" + a.Call.ID}, given: &a})
	}
	f.calls.Defer(true)
	f.Question = f.inputText()
	return "\n[Your next message is the answer. " + strings.TrimSpace(f.Question) + "]\n"
}

// Reply puts the user's words into the form in which the agent of the task waits for
// them, if it waits for any. An error says that the words do not fit; nothing is to be sent
// then.
func (f *Fold) Reply(m *a2a.Outgoing) error {
	var inputs []input
	n := 0
	for _, in := range f.split.inputs {
		if in.task == m.TaskID && m.TaskID != "" {
			inputs = append(inputs, in)
			if in.given == nil {
				n++
			}
		}
	}
	if len(inputs) == 0 {
		return nil
	}
	var text strings.Builder
	for _, p := range m.Parts {
		if p.Text == "" { // it has more than text, and is sent as it is
			f.dropInputs(m.TaskID)
			return nil
		}
		text.WriteString(p.Text)
	}
	words := []string{strings.TrimSpace(text.String())}
	if n > 1 {
		words = strings.Split(words[0], "\n")
	}
	if n > 0 && (len(words) != n || slices.Contains(words, "")) {
		return &PromptError{fmt.Sprintf("nothing was sent, because it is no answer to what the agent asks: it has %d lines, and %d are asked for", len(words), n)}
	}
	plain := m.Parts
	m.Parts = nil
	for _, in := range inputs {
		var err error
		if in.given != nil {
			err = dialect.WriteAnswer(*in.given, m)
		} else {
			err = dialect.WriteReply(in.Input, strings.TrimSpace(words[0]), m)
			words = words[1:]
		}
		if err != nil {
			return err
		}
	}
	if n == 0 {
		m.Parts = append(m.Parts, plain...) // it waits for no words any more
	}
	f.dropInputs(m.TaskID)
	return nil
}

func (f *Fold) dropInputs(task string) {
	f.split.inputs = slices.DeleteFunc(f.split.inputs, func(in input) bool { return in.task == task })
	f.calls.Defer(false)
}
