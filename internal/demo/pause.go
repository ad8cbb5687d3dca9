package demo

import (
	"fmt"
	"maps"
	"slices"
)

// A pause is what a story waits for: answers to tool calls, or a prompt. The task's mu
// guards it while it is the task's. done is closed when nothing is missing; only then
// the story reads it.
type pause struct {
	calls   []toolCall // none: a question in prose
	answers map[string]answer
	prompt  *message
	done    chan struct{}
}

func newPause() *pause {
	return &pause{answers: map[string]answer{}, done: make(chan struct{})}
}

// An answer is the chosen option. Without one nothing is approved.
type answer struct {
	option     confirmationOption
	content    *string // the user's version of a file
	remembered bool    // allowed by an earlier answer
}

func (a answer) approved() bool { return a.remembered || a.option.effect != reject }

func (p *pause) unanswered() []toolCall {
	return slices.DeleteFunc(slices.Clone(p.calls), func(c toolCall) bool {
		_, ok := p.answers[c.ID]
		return ok
	})
}

// wait says what p is about, ends the stream with input-required, and a question or nil, and
// returns when p is answered. A client may answer a call as soon as it has read of it.
func (r *run) wait(p *pause, question *message, about ...event) {
	t := r.task
	t.mu.Lock()
	for _, e := range about {
		r.append(e)
	}
	r.append(event{state: stateInputRequired, kind: kindStateChange, final: true, message: question})
	if r.err == nil {
		t.pause = p
	}
	t.mu.Unlock()
	if r.err != nil {
		return
	}
	select {
	case <-p.done:
	case <-r.ctx.Done():
		r.err = r.ctx.Err()
	}
}

// listen waits for the user's next prompt. question is the state's message, or nil.
func (r *run) listen(question *message) {
	p := newPause()
	if r.wait(p, question); r.err == nil {
		r.prompt = p.prompt
		r.acknowledge()
	}
}

// approve asks for tool calls in one pause, and returns the answers. When it returns,
// rejected calls were reported as cancelled. It does not ask for calls that an "always"
// allows. After an error nothing is approved.
func (r *run) approve(calls ...toolCall) map[string]answer {
	r.asked = true
	p, session := newPause(), r.task.session
	answers := map[string]answer{}
	var said []event
	for _, c := range calls {
		c.Status = callPending
		if _, ok := session.allowed.Load(toolOf(c)); ok {
			answers[c.ID] = answer{remembered: true}
			c.Confirmation = nil
		} else {
			p.calls = append(p.calls, c)
		}
		said = append(said, r.mention(c))
	}
	if len(p.calls) > 0 {
		r.wait(p, nil, said...)
	} else {
		for _, e := range said {
			r.emit(e, r.agent.pace)
		}
	}
	if r.err == nil {
		maps.Copy(answers, p.answers)
		r.heed(p)
	}
	if r.err != nil {
		return nil
	}
	return answers
}

// heed applies the answers: it remembers each "always", and reports the rejected calls.
func (r *run) heed(p *pause) {
	for _, c := range p.calls {
		given := p.answers[c.ID]
		if given.option.effect == always {
			r.task.session.allowed.Store(toolOf(c), true)
		}
		if given.approved() || r.task.status(c.ID) == callCancelled {
			continue
		}
		c.Status, c.Confirmation = callCancelled, nil
		r.update(c)
	}
}

// status returns the last status of a tool call.
func (t *task) status(id string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.said["call "+id]; s != nil {
		return s.message.call.Status
	}
	return ""
}

// An effect is what choosing an option does. It belongs to the option, not to its ID or
// name: the extension gives these no meaning.
type effect int

const (
	reject effect = iota // do not run the call
	once                 // run this call
	always               // and each later call of this tool, until the session ends
)

// The options of each confirmation request.
const (
	optionOnce   = "proceed_once"
	optionAlways = "proceed_always"
	optionCancel = "cancel"
)

func options() []confirmationOption {
	return []confirmationOption{
		{optionOnce, "Allow once", "Run this call only.", once},
		{optionAlways, "Always allow", "Run this tool without asking, until the session ends.", always},
		{optionCancel, "Reject", "Do not run it.", reject},
	}
}

// toolOf is a call's tool, and the MCP server that has it.
func toolOf(c toolCall) string {
	if d := c.Confirmation.MCP; d != nil {
		return fmt.Sprintf("%q of %q", d.ToolName, d.ServerName)
	}
	return fmt.Sprintf("%q", c.Name)
}
