package bridge

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport"
)

// view is how much of what waits for the user is known.
type view uint8

const (
	partView view = iota // more calls may come
	lostView             // the connection is lost, and it is not known what the agent said since
	fullView             // all: the user is to be asked
)

// ask gets a decision about every call that waits: by what the user has said in
// advance, or from the user. Calls that begin to ask meanwhile are asked about
// too: all answers of a pause go out together, and none before all that waits was
// asked.
//
// It returns no decisions if there is nothing to answer (yet): the calls went on,
// the task has ended, or the connection is down, so that it is not known what else
// waits. What was decided by then stays in Session.decided.
func (t *turn) ask(ctx context.Context, leg *leg) ([]decision, error) {
	for {
		if t.isCancelled() {
			return t.takeRejections(), nil
		}
		var err error
		questions := t.decideInAdvance()
		asks := len(questions) > 0 && (t.view != lostView || leg.hasEnded())
		if asks {
			err = t.put(ctx, leg, questions)
		}
		switch {
		case err != nil:
			return nil, err
		case t.fold.State.Terminal():
			return nil, nil
		case asks || t.isCancelled():
			continue
		case leg.hasEnded() && (leg.err != nil || t.view == lostView):
			// The connection was lost while the user was asked, and is not made anew.
			if err := t.lookAtTask(ctx, meanwhile{limit: lookLimit}); err != nil {
				return nil, err
			}
		case t.view == lostView:
			return nil, nil
		}
		if t.undecided() == nil {
			return t.takeDecisions(), nil
		}
	}
}

// decideInAdvance decides what the user has decided in advance (Session.decided), and returns what
// the user is to be asked.
func (t *turn) decideInAdvance() (questions []mapping.Question) {
	for _, call := range t.undecided() {
		q := t.session.question(call)
		if d, ok := t.session.decide(q); ok {
			t.session.decided[call.Shown] = d
		} else {
			questions = append(questions, q)
		}
	}
	return questions
}

// undecided returns the open calls that have no decision: none about what they ask
// now, or one that the user would not have given in advance any more.
func (t *turn) undecided() (calls []*mapping.ToolCall) {
	for _, call := range t.fold.Calls.Open() {
		d, ok := t.session.decided[call.Shown]
		if ok = ok && d.question.StillAsked(call); ok && (d.by == ByMode || d.by == ByAlways) {
			_, ok = t.session.decide(d.question)
		}
		if !ok {
			calls = append(calls, call)
		}
	}
	return calls
}

// takeDecisions takes what was decided about the calls that still wait. The fold goes on with
// their task.
func (t *turn) takeDecisions() (all []decision) {
	t.fold.EnterOpen()
	for _, call := range t.fold.Calls.Open() {
		if d, ok := t.session.decided[call.Shown]; ok {
			all = append(all, d)
		}
	}
	clear(t.session.decided)
	return all
}

// put puts questions to the user, and decides by the answers, while the leg's stream, if it
// is still open, is shown. It decides nothing if the questions do not count any more.
func (t *turn) put(ctx context.Context, leg *leg, questions []mapping.Question) error {
	for i := range questions {
		t.observe(Observation{What: ObservedAsk, Call: questions[i].Call.ID})
	}
	var answers []mapping.Answer
	var err error
	moot := func() bool { return t.fold.State.Terminal() || !t.anyOpen(questions) }
	b := beside{exit: t.agent.opts.Client.Exited(), cancel: t.cancelled.Done(), steers: t.steers}
	came := t.doWhileShowing(ctx, meanwhile{leg: leg, enough: moot}, b, func(ctx context.Context) {
		if answers, err = t.editor.Ask(ctx, questions); err == nil && len(answers) != len(questions) {
			err = fmt.Errorf("editor: answered %d of %d questions", len(answers), len(questions))
		}
	})
	switch {
	case came == ofAnswer && (err != nil || t.isCancelled()):
		return t.notAnswered(ctx, leg, err)
	case came == ofAnswer:
		for i, a := range answers {
			t.session.decided[questions[i].Call.Shown] = t.session.accept(questions[i], a)
		}
		return nil
	case came == ofExit:
		return t.agent.opts.Client.ExplainLoss(ctx, transport.ErrInterrupted)
	case came == ofLeg:
		return leg.unshown
	case t.isCancelled(): // not all clients answer their questions after a cancel (avante)
		return nil
	}
	return ctx.Err()
}

// notAnswered is what comes of questions that the editor has not answered, with an error: nothing if they do
// not count any more. If nobody can be asked, it cancels the turn.
func (t *turn) notAnswered(ctx context.Context, leg *leg, err error) error {
	switch {
	case t.isCancelled(), errors.Is(err, ErrPause) && t.view == lostView && !leg.hasEnded():
		return nil // the connection was lost meanwhile: the task is looked at first
	case errors.Is(err, ErrPause) || ctx.Err() != nil:
		return err
	}
	t.editorFailed(err) // nobody can answer
	return err
}

// takeRejections takes what a cancel decides, in place of takeDecisions: all calls that wait are
// rejected, also where the user has approved one and that was not sent.
func (t *turn) takeRejections() []decision {
	for _, call := range t.fold.Calls.Open() {
		q := t.session.question(call)
		t.session.decided[call.Shown] = decision{question: q, option: q.Reject(), by: ByCancel}
	}
	return t.takeDecisions()
}

// anyOpen reports whether the call of one of the questions still waits.
func (t *turn) anyOpen(questions []mapping.Question) bool {
	return slices.ContainsFunc(t.fold.Calls.Open(), func(call *mapping.ToolCall) bool {
		return slices.ContainsFunc(questions, func(q mapping.Question) bool { return q.Call.Shown == call.Shown })
	})
}
