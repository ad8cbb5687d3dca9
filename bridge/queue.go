package bridge

import (
	"context"
	"errors"
	"slices"

	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/spell"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file is for prompts that come during a turn. They wait for those before them. Or, where the
// editor asks for that, one goes to the task that the turn works on: A2A allows it, and an agent may
// refuse it. It goes on as behind an answer: the stream of the newest message is the live one.

// maxHeld is how many prompts of a session may wait, if it queues them: more than anybody types
// ahead.
const maxHeld = 16

var (
	errHeld  = errors.New("bridge: the prompt was cancelled before it was sent")
	errAsked = errors.New("bridge: the prompt was not sent, because the agent has asked something since it was written: send it again, if it is the answer")
)

// wait waits until a turn may run. It does not if it would answer a question that came after the
// prompt was written.
func (t Turn) wait(ctx context.Context) error {
	for before := t.before(); before != nil; before = t.before() {
		select {
		case <-before.over.Done():
		case <-t.cancelled.Done():
			return errHeld
		case <-ctx.Done():
			return errHeld
		}
	}
	if t.fold.State == a2a.StateInputRequired && !t.informed {
		return errAsked
	}
	return nil
}

// before is the turn that this one waits for, nil if it may run.
func (t *turn) before() *turn {
	s := t.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := slices.Index(s.line, t); at > 0 {
		return s.line[at-1]
	}
	return nil
}

// A steering is a message for the task of the turn that runs.
type steering struct {
	prompt []acp.ContentBlock
	tell   func(error) // called in the turn, once, when it is known what became of it; nil: the agent has it
	told   bool        // it was
}

// over tells what became of it; what comes later does not count.
func (p *steering) over(err error) {
	if p == nil || p.told {
		return
	}
	p.told = true
	p.tell(err)
}

// untaken is err or, if the agent has not shown that it has the leg's message, that.
func (l *leg) untaken(err error) error {
	if err == nil && !l.arrived() {
		return errUntaken
	}
	return err
}

var errUntaken = errors.New("bridge: the turn went on before the agent had taken the message, which may have come all the same")

var errCannotSteer = errors.New("bridge: the agent works on nothing that a message could go to now, or it waits for an answer")

// nextSteering has the messages for the task, one after the other: nil while one is under way.
func (t *turn) nextSteering(leg *leg) <-chan *steering {
	if p := leg.request.steering; p != nil && !p.told {
		return nil
	}
	return t.steers
}

// canSteer reports whether a message may go to the turn's task: not while a question is open, or
// it would be taken for the answer.
func (t *turn) canSteer() bool {
	f := t.fold
	return f.TaskID != "" && (f.State == a2a.StateWorking || f.State == a2a.StateSubmitted) && !f.Waits() && !t.isCancelled() && !t.isCommand
}

// steer makes the request that sends it, with which the turn goes on.
func (t *turn) steer(ctx context.Context, leg *leg, p *steering) *request {
	parts, err := spell.Prompt(p.prompt, t.card)
	if err != nil {
		p.over(err)
		return &request{taskID: t.fold.TaskID, leg: leg}
	}
	r := t.send(&a2a.Outgoing{ID: t.agent.opts.NewID(), ContextID: t.fold.ContextID, TaskID: t.fold.TaskID, Parts: parts})
	r.steering = p
	r.readers, r.owes = t.handOver(ctx, leg)
	return r
}

// running is the turn that runs, nil if none does.
func (s *Session) running() *turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.line) == 0 {
		return nil
	}
	return s.line[0]
}
