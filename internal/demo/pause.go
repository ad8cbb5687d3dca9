package demo

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A pause is what a story waits for: answers to tool calls, or a prompt. The task's mu
// guards it while it is the task's. done is closed when nothing is missing; only then
// the story reads it.
type pause struct {
	calls   []toolCall // none: a question in prose
	answers map[string]answer
	prompt  *message
	done    chan struct{}

	asking bool // the story asks for more calls
	quiet  bool // a rejected call gets no further event
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

// unanswered returns the open calls.
func (p *pause) unanswered() []toolCall {
	return slices.DeleteFunc(slices.Clone(p.calls), func(c toolCall) bool {
		_, ok := p.answers[c.ID]
		return ok
	})
}

// wait ends the stream with input-required and returns when p is answered. It does not
// end the stream if p is answered already.
func (r *run) wait(ctx context.Context, p *pause, kind string, question *message) error {
	t := r.task
	t.mu.Lock()
	if t.run != r {
		t.mu.Unlock()
		return errEnded
	}
	if p.asking = false; len(p.calls) > 0 && len(p.unanswered()) == 0 {
		t.pause = nil
		t.mu.Unlock()
		return nil
	}
	t.pause = p
	t.append(event{state: stateInputRequired, kind: kind, final: true, message: question})
	t.mu.Unlock()
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// listen asks a question in prose and returns the answering prompt.
func (r *run) listen(ctx context.Context, question string) (*message, error) {
	if err := r.say(ctx, question); err != nil {
		return nil, err
	}
	p := newPause()
	if err := r.wait(ctx, p, kindStateChange, nil); err != nil {
		return nil, err
	}
	r.prompt = p.prompt
	return p.prompt, r.acknowledge(ctx)
}

// approve asks for tool calls in one pause, and returns the answers. When it returns,
// rejected calls were reported as cancelled. It does not ask for calls that an "always"
// allows.
func (r *run) approve(ctx context.Context, calls ...toolCall) (map[string]answer, error) {
	return r.approveIn(ctx, newPause(), calls...)
}

// approveIn is approve with the caller's pause.
func (r *run) approveIn(ctx context.Context, p *pause, calls ...toolCall) (map[string]answer, error) {
	r.asked = true
	s := r.task.session
	answers := map[string]answer{}
	for _, c := range calls {
		c.Status = callPending
		if !r.forgets && (s.memory.allows(c) || r.agent.saved.allows(c)) {
			answers[c.ID] = answer{remembered: true}
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
	question := r.task.text(r.task.messageID(), inProse(p.calls), coreOnly)
	if err := r.wait(ctx, p, kindStateChange, question); err != nil {
		return nil, err
	}
	maps.Copy(answers, p.answers)
	return answers, r.heed(ctx, p)
}

// heed applies the answers: it remembers each "always", and reports the rejected calls.
func (r *run) heed(ctx context.Context, p *pause) error {
	for _, c := range p.calls {
		given := p.answers[c.ID]
		switch effect := given.option.effect; {
		case r.forgets:
		case effect == alwaysSaved:
			r.agent.saved.allow(c, effect)
		default:
			r.task.session.memory.allow(c, effect)
		}
		if given.approved() || p.quiet || r.task.status(c.ID) == callCancelled {
			continue
		}
		c.Status, c.Confirmation = callCancelled, nil
		if err := r.update(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// inProse asks a client without the extension for the same approval.
func inProse(calls []toolCall) string {
	var b strings.Builder
	for _, c := range calls {
		fmt.Fprintf(&b, "%s: %s\n", c.Name, c.Description)
		d := c.Confirmation
		if d.FileEdit != nil {
			b.WriteString(d.FileEdit.FormattedDiff)
		}
		if d.Execute != nil {
			fmt.Fprintf(&b, "    %s\n", d.Execute.Command)
		}
	}
	b.WriteString("Shall I? (yes or no)")
	return b.String()
}

// status returns the last status of a tool call.
func (t *task) status(id string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.said["call "+id]; s != nil {
		return s.call.Status
	}
	return ""
}
