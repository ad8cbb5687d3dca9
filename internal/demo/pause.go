package demo

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// A pause is what a story waits for: answers to tool calls, or a prompt. It is
// filled in by the requests that bring them, under the task's mu; done is closed
// when nothing is missing, and only then the story reads it.
type pause struct {
	calls   []toolCall // none: a question in prose
	answers map[string]answer
	prompt  *message
	done    chan struct{}
}

type answer struct {
	option  string
	content *string // the user's version of a file
}

func (a answer) approved() bool { return a.option == optionOnce || a.option == optionAlways }

// unanswered returns the calls that are still open.
func (p *pause) unanswered() []toolCall {
	return slices.DeleteFunc(slices.Clone(p.calls), func(c toolCall) bool {
		_, ok := p.answers[c.ID]
		return ok
	})
}

// wait ends the stream with input-required and returns when p is answered.
func (r *run) wait(ctx context.Context, p *pause, question *message) error {
	p.done = make(chan struct{})
	t := r.task
	t.mu.Lock()
	if t.run != r {
		t.mu.Unlock()
		return errEnded
	}
	t.pause = p
	t.append(event{state: stateInputRequired, kind: kindStateChange, final: true, message: question})
	t.mu.Unlock()
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// listen asks a question in prose and returns the prompt that answers it.
func (r *run) listen(ctx context.Context, question string) (*message, error) {
	if err := r.say(ctx, question); err != nil {
		return nil, err
	}
	p := &pause{}
	if err := r.wait(ctx, p, nil); err != nil {
		return nil, err
	}
	r.prompt = p.prompt
	return p.prompt, r.acknowledge(ctx)
}

// approve asks for tool calls, all in one pause, and returns the answers. A call
// that was refused has been reported as cancelled when it returns; one whose
// tool was allowed for good is not asked for.
func (r *run) approve(ctx context.Context, calls ...toolCall) (map[string]answer, error) {
	p := &pause{answers: map[string]answer{}}
	answers := map[string]answer{}
	for _, c := range calls {
		c.Status = callPending
		if r.task.session.allowed(c.Name) {
			answers[c.ID] = answer{option: optionAlways}
			c.Confirmation = nil
		} else {
			p.calls = append(p.calls, c)
		}
		if err := r.update(ctx, c); err != nil {
			return nil, err
		}
	}
	if len(p.calls) == 0 {
		return answers, nil
	}
	if err := r.wait(ctx, p, r.task.text(r.task.newID(), inProse(p.calls), coreOnly)); err != nil {
		return nil, err
	}
	for _, c := range p.calls {
		given := p.answers[c.ID]
		answers[c.ID] = given
		if given.option == optionAlways {
			r.task.session.allow(c.Name)
		}
		if given.approved() || r.task.status(c.ID) == callCancelled {
			continue
		}
		c.Status, c.Confirmation = callCancelled, nil
		if err := r.update(ctx, c); err != nil {
			return nil, err
		}
	}
	return answers, nil
}

// inProse asks a client without the extension for the same approval.
func inProse(calls []toolCall) string {
	var b strings.Builder
	for _, c := range calls {
		fmt.Fprintf(&b, "%s: %s\n", c.Name, c.Description)
		if d := c.Confirmation; d.FileEdit != nil {
			b.WriteString(d.FileEdit.FormattedDiff)
		} else if d.Execute != nil {
			fmt.Fprintf(&b, "    %s\n", d.Execute.Command)
		}
	}
	b.WriteString("Shall I? (yes or no)")
	return b.String()
}

// follow gives a message to a task that exists, and returns the index in its log
// at which the effects begin.
func (a *Agent) follow(t *task, m *message, extension bool) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	from := len(t.log)
	m.taskID, m.contextID = t.id, t.session.contextID
	switch {
	case t.state == stateCanceled || t.state == stateFailed:
		return 0, over(t.id, t.state)
	case t.pause == nil && t.state != stateCompleted:
		if c := m.confirmations(); extension && len(c) > 0 {
			return 0, invalidParams("no tool call %q awaits confirmation", c[0].ToolCallID)
		}
		return 0, invalidParams("task %s is working: wait for it or cancel it", t.id)
	case t.pause != nil && len(t.pause.calls) > 0:
		return from, t.confirm(m, extension)
	}
	if c := m.confirmations(); extension && len(c) > 0 {
		return 0, invalidParams("no tool call %q awaits confirmation", c[0].ToolCallID)
	}
	if err := a.settle(t.session, m, extension); err != nil {
		return 0, invalidParams("%v", err)
	}
	if p := t.pause; p != nil {
		p.prompt, t.pause = m, nil
		close(p.done)
	} else if err := a.start(t, pick(m.words()), m); err != nil {
		return 0, err
	}
	t.remember(m)
	t.append(event{state: stateWorking, kind: kindStateChange})
	return from, nil
}

// confirm gives the answers in a message to the story. All of them are checked
// before any counts. The caller holds t.mu.
func (t *task) confirm(m *message, extension bool) error {
	p := t.pause
	open := p.unanswered()
	given := map[string]answer{}
	switch confirmations := m.confirmations(); {
	case !extension && len(confirmations) > 0:
		return invalidParams("the message confirms a tool call but its request does not activate %s", ExtensionURI)
	case !extension:
		for _, c := range open {
			given[c.ID] = answer{option: spokenOption(m.words())}
		}
	case len(confirmations) == 0:
		return invalidParams("the approval must be answered first: send a ToolCallConfirmation for %s", ids(open))
	case m.text() != "":
		return invalidParams("a message that confirms a tool call has no text: the story would not read it")
	default:
		for _, c := range confirmations {
			if !slices.ContainsFunc(open, func(o toolCall) bool { return o.ID == c.ToolCallID }) {
				return invalidParams("no tool call %q awaits confirmation", c.ToolCallID)
			}
			given[c.ToolCallID] = answer{option: c.SelectedOptionID, content: c.content()}
		}
		m.audience = extensionOnly
	}
	t.remember(m)
	for id, a := range given {
		p.answers[id] = a
	}
	if len(p.unanswered()) == 0 {
		// The story's next word is the first event of the new stream, as the
		// extension's example has it; until then the task just works again.
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
		// Not yet input-required: in 1.0 that state alone ends the stream.
		t.append(event{state: stateWorking, kind: kindToolCall, message: t.extension(c)})
	}
	t.append(event{state: stateInputRequired, kind: kindStateChange, final: true})
	return nil
}

func ids(calls []toolCall) string {
	var s []string
	for _, c := range calls {
		s = append(s, c.ID)
	}
	return strings.Join(s, ", ")
}

// spokenOption reads an answer in prose. What is not a yes is a no.
func spokenOption(words []string) string {
	if len(words) > 0 {
		switch strings.ToLower(strings.Trim(words[0], ".,!")) {
		case "yes", "y", "ok", "sure", optionOnce:
			return optionOnce
		case "always", optionAlways:
			return optionAlways
		}
	}
	return optionCancel
}

// status returns the status of a tool call as it was last told.
func (t *task) status(id string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.said["call "+id]; s != nil {
		return s.call.Status
	}
	return ""
}

func (s *session) allowed(tool string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.always[tool]
}

func (s *session) allow(tool string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.always[tool] = true
}
