package bridge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// answerAside sends each decision in a request of its own, while the task works on;
// false: the dialect has no such answers. If the agent refuses one the turn ends: the
// agent would wait for ever. leg is the one that goes on meanwhile, nil if none is shown.
func (t *turn) answerAside(ctx context.Context, leg *leg, decisions []decision) (aside bool, err error) {
	if slices.ContainsFunc(decisions, func(d decision) bool { return d.option.CancelsTask }) {
		return false, nil // cancelling answers all of them
	}
	for _, d := range decisions {
		m := &a2a.Outgoing{TaskID: t.fold.TaskID, ContextID: t.fold.ContextID}
		call, ok, err := mapping.Aside(d.answer(), m)
		if err != nil || !ok {
			return aside, err
		}
		aside, t.answered, m.ID = true, true, t.agent.opts.NewID()
		t.observeAnswer(&d)
		t.fold.Answered(d.question.Call.ID, d.option.Allows())
		t.session.record(mapping.AnswerLine(nil, d.question.Call, t.fold.TaskID))
		if d.unanswered {
			t.unanswered = append(t.unanswered, d.question.Call)
		}
		doubt, err := t.sayAside(ctx, leg, d.answer(), call, m)
		if err == nil && doubt != nil && t.fold.Unheard() {
			notice := fmt.Sprintf("\n[The agent may not have got the answer about %s: %v]\n", mapping.Title(d.question.Call), doubt)
			err = t.editor.Show(ctx, []mapping.Step{t.notice(t.agent.opts.Mask(notice))})
		} else if err != nil {
			if errors.As(err, new(*notTakenError)) {
				t.fold.Answered(d.question.Call.ID, true) // it may run, whatever the answer was
			}
			err = fmt.Errorf("agent: it has not taken the answer about %s: %w", mapping.Title(d.question.Call), err)
		}
		if err != nil {
			return aside, err
		}
	}
	return aside, nil
}

// notTakenError is for an answer that the agent has heard and does not go by.
type notTakenError struct{ error }

// followAside is the request that follows the task after answers beside it, when the leg
// has ended; nil after an error.
func (t *turn) followAside(err error) *request {
	if err != nil {
		return nil
	}
	return &request{taskID: t.fold.TaskID, beyond: true}
}

// sayAside makes the request, or sends the message, that answers. What was certainly not
// delivered is sent again for a while, as [leg.reach] does; so is a request of which
// that is not known: it names the question, so that twice is once. doubt is why the
// agent may have it or not: the task will tell.
func (t *turn) sayAside(ctx context.Context, leg *leg, a mapping.Answer, call mapping.SideRequest, m *a2a.Outgoing) (doubt, err error) {
	for tries, pause := 0, firstWait; ; tries, pause = tries+1, pause*2 {
		if call.IsZero() {
			var reply *a2a.Event
			if reply, err = t.agent.opts.Client.SendOnce(ctx, m, false); err == nil {
				if err = mapping.AsideTaken(a, reply); err != nil {
					return nil, &notTakenError{err}
				}
				return nil, nil
			}
		} else {
			_, _, err = t.agent.opts.Client.Call(ctx, transport.Call{Method: call.Method, Params: call.Params})
		}
		lost := !call.IsZero() && errors.Is(err, transport.ErrPossiblyDelivered)
		switch {
		case err == nil:
			return nil, nil
		case doubt != nil && !isUndelivered(err) && !lost:
			return err, nil // of a question that is settled, or not
		case !isUndelivered(err) && !lost, tries == maxTries && doubt == nil:
			return nil, err
		case tries == maxTries:
			return doubt, nil
		case lost:
			doubt = err
		}
		if moved, waitErr := t.waitAside(ctx, leg, pause); moved || waitErr != nil {
			return doubt, waitErr
		}
	}
}

// waitAside waits before an answer is sent again, and shows meanwhile what the leg
// brings; moved: the agent has gone on.
func (t *turn) waitAside(ctx context.Context, leg *leg, pause time.Duration) (moved bool, err error) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		select {
		case n := <-leg.brings():
			if err := t.show(ctx, leg, n); err != nil || !t.fold.Unheard() {
				return true, err
			}
		case <-timer.C:
			return false, nil
		case <-t.cancelled.Done():
			return true, context.Canceled
		case <-t.agent.opts.Client.Exited():
			return true, t.agent.opts.Client.ExplainLoss(ctx, transport.ErrInterrupted)
		case <-ctx.Done():
			return true, ctx.Err()
		}
	}
}
