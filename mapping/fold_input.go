package mapping

import (
	"fmt"
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file is for questions that the user answers in his own words.

// maxInputs is how many inputs may be waited for: more than anybody answers.
const maxInputs = 64

// wantInput asks for what the user answers in words, and keeps what the answer needs.
func (f *Fold) wantInput(d dialect, in input) {
	in.dialect = d
	if f.keepInput(in) {
		f.add(Step{Kind: StepNotice, Text: "\n[" + in.text + "]\n"})
	}
}

// keepInput keeps an input; false if it is known.
func (f *Fold) keepInput(in input) bool {
	in.task = strings.Clone(f.TaskID)
	known := slices.ContainsFunc(f.takings.inputs, func(o input) bool { return o.task == in.task && o.id == in.id })
	if known {
		return false
	}
	in.id, in.name, in.text = strings.Clone(in.id), strings.Clone(in.name), strings.Clone(in.text)
	if len(f.takings.inputs) == maxInputs {
		f.takings.inputs = slices.Delete(f.takings.inputs, 0, 1)
	}
	f.takings.inputs = append(f.takings.inputs, in)
	return true
}

// WaitsForWords reports whether the task in hand waits for an answer in words.
func (f *Fold) WaitsForWords() bool {
	return slices.ContainsFunc(f.takings.inputs, func(in input) bool { return in.task == f.TaskID && in.given == nil })
}

// asked counts the answers in words that the task in hand waits for.
func (f *Fold) asked() (n int) {
	for _, in := range f.takings.inputs {
		if in.task == f.TaskID && in.given == nil {
			n++
		}
	}
	return n
}

// inputText is all of that, as a question.
func (f *Fold) inputText() string {
	var list []string
	for _, in := range f.takings.inputs {
		if in.task == f.TaskID && in.given == nil {
			list = append(list, in.text)
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
		f.keepInput(input{id: "answer-" + a.Call.ID, given: &a, dialect: dialectOfCall(a.Call)})
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
	for _, in := range f.takings.inputs {
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
		if err := in.spell(&words, m); err != nil {
			return err
		}
	}
	if n == 0 {
		m.Parts = append(m.Parts, plain...) // it waits for no words any more
	}
	f.dropInputs(m.TaskID)
	return nil
}

// spell adds the answer to an input to a message: the one that is known, or the next words.
func (in *input) spell(words *[]string, m *a2a.Outgoing) error {
	if in.given != nil {
		return in.dialect.answer(*in.given, m)
	}
	text := strings.TrimSpace((*words)[0])
	*words = (*words)[1:]
	if r, ok := in.dialect.(replier); ok {
		return r.reply(*in, text, m)
	}
	return nil
}

func (f *Fold) dropInputs(task string) {
	f.takings.inputs = slices.DeleteFunc(f.takings.inputs, func(in input) bool { return in.task == task })
	f.calls.Defer(false)
}
