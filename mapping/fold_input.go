package mapping

import (
	"fmt"
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file is for questions that the user answers in his own words.

// maxInputs is how many inputs may be waited for: more than anybody answers.
const maxInputs = 64

// wantInput shows a question that is answered in words, and keeps what the answer
// needs.
func (f *Fold) wantInput(d dialect, as shown.Item, in input) {
	in.dialect = d
	if !f.keepInput(in) {
		return
	}
	if in.own {
		f.add(Step{Kind: StepNotice, Text: "\n[" + in.text + "]\n"})
	} else if in.text != "" {
		f.shown.Break()
		f.shown.Live(&shown.Item{Kind: as.Kind, ID: as.ID, Hint: shown.Piece, Parts: partList(a2a.Part{Kind: a2a.PartText, Text: in.text})})
	}
}

// keepInput keeps an input; false if it is known.
func (f *Fold) keepInput(in input) bool {
	in.task = strings.Clone(f.TaskID)
	known := slices.ContainsFunc(f.takings.inputs, func(o input) bool { return o.task == in.task && o.id == in.id })
	if known {
		return false
	}
	in.id, in.name, in.text, in.data = strings.Clone(in.id), strings.Clone(in.name), strings.Clone(in.text), cloneJSON(in.data)
	fields := in.fields
	if in.fields = make([]field, len(fields)); len(f.takings.inputs) == maxInputs {
		f.takings.inputs = slices.Delete(f.takings.inputs, 0, 1)
	}
	for i, one := range fields {
		in.fields[i] = one.clone()
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
		if in.task == f.TaskID {
			n += len(in.fields)
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
// them. It is for answers that need the user's words, and for agents that wait for words
// beside the answers and take everything at once. The notice tells the user what to write.
func (f *Fold) Defer(answers []Answer) (notice string) {
	for _, a := range answers {
		f.Answered(a.Call.ID, true)
		given := a
		in := input{id: "answer-" + a.Call.ID, given: &given, dialect: dialectOfCall(a.Call)}
		if w, ok := dialectOfCall(a.Call).(worder); ok && a.Words {
			in = w.words(a.Call)
			in.call, in.dialect = a.Call, dialectOfCall(a.Call)
			in.text += fieldsText(in.fields)
		}
		f.keepInput(in)
	}
	f.calls.Defer(true)
	f.Question = f.inputText()
	return "\n[Your next message is the answer. " + strings.TrimSpace(f.Question) + "]\n"
}

// Reply puts the user's words into the form in which the agent of the task waits for
// them, if it waits for any: as the message, or as requests beside it. An error says
// that the words do not fit; nothing is to be sent then.
func (f *Fold) Reply(m *a2a.Outgoing) ([]SideRequest, error) {
	var inputs []input
	var fields []field
	for _, in := range f.takings.inputs {
		if in.task == m.TaskID && m.TaskID != "" {
			inputs = append(inputs, in)
			fields = append(fields, in.fields...)
		}
	}
	if len(inputs) == 0 {
		return nil, nil
	}
	var text strings.Builder
	for _, p := range m.Parts {
		if p.Text == "" { // it has more than text, and is sent as it is
			f.dropInputs(m.TaskID)
			return nil, nil
		}
		text.WriteString(p.Text)
	}
	values, err := fill(fields, text.String())
	if err != nil && !slices.ContainsFunc(inputs, func(in input) bool { return !in.loose }) {
		return nil, nil
	}
	rejects := err != nil && takenBack(inputs, text.String())
	if err != nil && !rejects {
		if len(fields) > 1 {
			err = fmt.Errorf("%w. %s%s", err, linesHint(len(fields)), fieldsText(fields))
		}
		return nil, promptError("nothing was sent, because it is no answer to what the agent asks: %v", err)
	}
	plain := m.Parts
	m.Parts = nil
	calls, err := spellInputs(inputs, values, text.String(), rejects, m)
	if err == nil && len(m.Parts) == 0 && len(calls) == 0 {
		m.Parts = plain // it is no answer in any form
	}
	if err == nil && (len(calls) == 0 || len(m.Parts) > 0) {
		f.dropInputs(m.TaskID)
	}
	return calls, err
}

// Replied notes that the agent has taken a request of [Fold.Reply]. Until then its
// question is open.
func (f *Fold) Replied(task string, c SideRequest) {
	f.takings.inputs = slices.DeleteFunc(f.takings.inputs, func(in input) bool { return in.task == task && in.id == c.input })
	if !slices.ContainsFunc(f.takings.inputs, func(in input) bool { return in.task == task }) {
		f.dropInputs(task)
	}
}

func (f *Fold) dropInputs(task string) {
	f.takings.inputs = slices.DeleteFunc(f.takings.inputs, func(in input) bool { return in.task == task })
	f.calls.Defer(false)
}

// takenBack reports whether the user gives up, by a word that is no answer to the
// question.
func takenBack(inputs []input, text string) bool {
	for _, in := range inputs {
		if in.call == nil && in.given == nil {
			return false
		}
	}
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "no", "reject", "cancel", "decline":
		return true
	}
	return false
}

func spellInputs(inputs []input, values []a2a.JSON, text string, rejects bool, m *a2a.Outgoing) (calls []SideRequest, err error) {
	for _, in := range inputs {
		var own []a2a.JSON
		if !rejects {
			own, values = values[:len(in.fields)], values[len(in.fields):]
		}
		var c SideRequest
		switch r, ok := in.dialect.(replier); {
		case in.given != nil:
			c, err = spellAnswer(*in.given, m)
		case rejects:
			q := NewQuestion(in.call)
			c, err = spellAnswer(Answer{Call: in.call, OptionID: q.Reject().SentID()}, m)
		case ok:
			c, err = r.reply(in, own, text, m)
		}
		if err != nil {
			return nil, err
		}
		if !c.IsZero() {
			c.input = in.id
			calls = append(calls, c)
		}
	}
	return calls, nil
}

func spellAnswer(a Answer, m *a2a.Outgoing) (SideRequest, error) {
	if c, aside, err := Aside(a, m); aside || err != nil {
		return c, err
	}
	return SideRequest{}, dialectOfCall(a.Call).answer(a, m)
}
