package demo

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// follow gives a message to an existing task, and returns the log index where the
// effects begin.
func (a *Agent) follow(t *task, m *message) (int, error) {
	if m.ContextID != "" && m.ContextID != t.session.contextID {
		return 0, invalidParams("task %s belongs to context %s, not to %s", t.id, t.session.contextID, m.ContextID)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	from, p := len(t.log), t.pause
	if t.state == stateCanceled || t.state == stateFailed {
		return 0, over(t.id, t.state)
	}
	settings, err := a.admit(t.session, m)
	if err != nil {
		return 0, err
	}
	m.TaskID, m.ContextID = t.id, t.session.contextID
	switch {
	case p != nil && len(p.unanswered()) > 0:
		if err := t.confirm(m); err != nil {
			return 0, err
		}
		t.session.settle(settings)
		return from, nil
	case m.confirms():
		return 0, invalidParams("no tool call of task %s awaits a ToolCallConfirmation", t.id)
	case p == nil && t.state != stateCompleted:
		return 0, invalidParams("task %s is working: wait for it or cancel it", t.id)
	}
	t.session.settle(settings)
	if p != nil {
		p.prompt, t.pause = m, nil
		close(p.done)
	} else if err := a.start(t, m.story(), m); err != nil {
		return 0, err
	}
	t.remember(m)
	t.append(event{state: stateWorking, kind: kindStateChange})
	return from, nil
}

// confirms reports whether a data part of a message has a field that only a
// ToolCallConfirmation has.
func (m *message) confirms() bool {
	return slices.ContainsFunc(m.Parts, func(p part) bool {
		var members map[string]json.RawMessage
		_ = json.Unmarshal(p.Data, &members) // what is no object has none
		return members["tool_call_id"] != nil || members["selected_option_id"] != nil
	})
}

// confirm gives a message's answers to the story. It checks all before it applies any.
// The caller holds t.mu.
func (t *task) confirm(m *message) error {
	p := t.pause
	open := p.unanswered()
	given, err := confirmed(m, open)
	if err != nil {
		return err
	}
	t.remember(m)
	for id, a := range given {
		p.answers[id] = a
	}
	if len(p.unanswered()) == 0 {
		// The story's next event begins the new stream, as in the extension's example; until
		// then the task is working.
		t.pause, t.state = nil, stateWorking
		close(p.done)
		return nil
	}
	for _, c := range open {
		a, ok := given[c.ID]
		if !ok {
			continue
		}
		if c.Confirmation = nil; !a.approved() {
			c.Status = callCancelled
		}
		// Not input-required yet: in 1.0 that state alone ends the stream.
		t.append(event{state: stateWorking, kind: kindToolCall, message: t.extension(c)})
	}
	t.append(event{state: stateInputRequired, kind: kindStateChange, final: true})
	return nil
}

// confirmed reads a message with answers to open calls: only ToolCallConfirmations, one
// for each call.
func confirmed(m *message, open []toolCall) (map[string]answer, error) {
	if !slices.ContainsFunc(m.Parts, func(p part) bool { return p.Data != nil }) {
		return nil, invalidParams("the approval must be answered first: send a ToolCallConfirmation %s", wanted(open))
	}
	given := map[string]answer{}
	for i, p := range m.Parts {
		if p.Data == nil {
			return nil, invalidParams("message.parts[%d] is no data: beside a ToolCallConfirmation the story would not read it", i)
		}
		var c toolCallConfirmation
		err := readStrictly(p.Data, "ToolCallConfirmation", &c)
		if err != nil {
			return nil, invalidParams("message.parts[%d].data: %v", i, err)
		}
		at := slices.IndexFunc(open, func(o toolCall) bool { return o.ID == c.ToolCallID })
		if _, twice := given[c.ToolCallID]; at < 0 || twice {
			return nil, invalidParams("message.parts[%d].data: ToolCallConfirmation.tool_call_id %q: there is no such call that awaits one: send it %s", i, c.ToolCallID, wanted(open))
		}
		if given[c.ToolCallID], err = c.answer(open[at].Confirmation); err != nil {
			return nil, invalidParams("message.parts[%d].data: ToolCallConfirmation.%v", i, err)
		}
	}
	return given, nil
}

// answer finds the meaning of a confirmation for its request.
func (c toolCallConfirmation) answer(asked *confirmationRequest) (answer, error) {
	at := slices.IndexFunc(asked.Options, func(o confirmationOption) bool { return o.ID == c.SelectedOptionID })
	if at < 0 {
		return answer{}, fmt.Errorf("selected_option_id %q was not offered: there are %s", c.SelectedOptionID, listed(asked.Options, func(o confirmationOption) string { return o.ID }))
	}
	a := answer{option: asked.Options[at]}
	if c.FileDetails == nil {
		return a, nil
	}
	a.content = &c.FileDetails.NewContent
	switch {
	case asked.FileEdit == nil:
		return a, fmt.Errorf("file_details is there, but the call is not an edit")
	case !a.approved():
		return a, fmt.Errorf("file_details is there, but %q rejects the edit", a.option.ID)
	}
	return a, nil
}

// wanted names the calls that await an answer.
func wanted(open []toolCall) string {
	return "for " + listed(open, func(c toolCall) string { return c.ID })
}

func listed[T any](all []T, name func(T) string) string {
	var names []string
	for _, one := range all {
		names = append(names, name(one))
	}
	return strings.Join(names, ", ")
}
