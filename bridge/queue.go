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

// wait waits until a turn may run. If it may not, the caller gives it up. errHeld: it was cancelled
// before. errAsked: it would answer a question, or say that the user has signed in, though that was
// asked for after its prompt was written. (That a task waits for input is no question yet: with
// Gemini's server each turn ends so.)
func (t Turn) wait(ctx context.Context) error {
	for before := t.predecessor(); before != nil; before = t.predecessor() {
		select {
		case <-before.released.Done():
		case <-t.cancelled.Done():
			return errHeld
		case <-ctx.Done():
			return errHeld
		}
	}
	rests := t.fold.State == a2a.StateInputRequired || t.fold.State == a2a.StateAuthRequired
	if !rests || t.afterEnd {
		return nil
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(t.cancelled, stop)()
	switch _, w, err := t.agent.Ready(ctx); {
	case t.isCancelled():
		return errHeld
	case err != nil, t.fold.Calls.Waits(), t.session.leavesWaiting(w):
		return errAsked
	}
	return nil
}

// noteShown notes that the editor is told that the turn which runs is over (end): a prompt that comes
// then may answer what that has asked. Or, that it is shown what no prompt that waits knows. The
// editor's protocol calls it, before it writes that.
func (s *Session) noteShown(end bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue[0].endShown = end
	for _, t := range s.queue[1:] {
		t.afterEnd = t.afterEnd && end
	}
}

// predecessor is the turn that this one waits for, nil if it may run.
func (t *turn) predecessor() *turn {
	s := t.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := slices.Index(s.queue, t); at > 0 {
		return s.queue[at-1]
	}
	return nil
}

// A steering is a message for the task of the turn that runs.
type steering struct {
	prompt   []acp.ContentBlock
	tell     func(error) // called in the turn, once, when it is known what became of it; nil: the agent has it
	reported bool        // tell was called
}

// tellOutcome tells what became of the message; what comes later does not count. nil: there
// is none.
func (p *steering) tellOutcome(err error) {
	if p == nil || p.reported {
		return
	}
	p.reported = true
	p.tell(err)
}

// untaken is err or, if the agent has not shown that it has the leg's message, errUntaken.
func (l *leg) untaken(err error) error {
	if err == nil && !l.arrived() {
		return errUntaken
	}
	return err
}

var errUntaken = errors.New("bridge: the turn went on before the agent had taken the message, which may have come all the same")

var errCannotSteer = errors.New("bridge: the agent works on nothing that a message could go to now, or it waits for an answer")

// nextSteering is where the next message for the task comes from: nil while one is under way.
func (t *turn) nextSteering(leg *leg) <-chan *steering {
	if p := leg.request.steering; p != nil && !p.reported {
		return nil
	}
	return t.steers
}

// canSteer reports whether a message may go to the turn's task: not while a question is open, or
// it would be taken for the answer.
func (t *turn) canSteer() bool {
	f := t.fold
	return f.TaskID != "" && (f.State == a2a.StateWorking || f.State == a2a.StateSubmitted) && !f.Calls.Waits() && !t.isCancelled() && !t.isCommand
}

// steerRequest returns the request that sends p, with which the turn goes on. If p cannot be sent,
// it tells that, and the request goes on with the leg.
func (t *turn) steerRequest(ctx context.Context, leg *leg, p *steering) *request {
	parts, err := spell.Prompt(p.prompt, t.card)
	if err != nil {
		p.tellOutcome(err)
		return &request{taskID: t.fold.TaskID, leg: leg}
	}
	r := t.sendRequest(&a2a.Outgoing{ID: t.agent.opts.NewID(), ContextID: t.fold.ContextID, TaskID: t.fold.TaskID, Parts: parts})
	r.steering = p
	t.passOn(ctx, leg, r)
	return r
}

// running is the turn that runs, nil if none does.
func (s *Session) running() *turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		return nil
	}
	return s.queue[0]
}
