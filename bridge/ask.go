package bridge

import (
	"context"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport"
)

// ask gets an answer to every call that waits: by the session's mode, by what
// was always allowed, or from the user. It returns none if the calls went on, or
// the task ended, without an answer. Calls that begin to ask meanwhile are asked
// about too: all answers of a pause go out together.
func (t *turn) ask(ctx context.Context, leg *leg) ([]mapping.Answer, error) {
	if !t.beginAsking() {
		return nil, nil
	}
	defer t.endAsking()
	given := map[string]mapping.Answer{}
	cut := false
	for {
		var questions []mapping.Question
		for _, call := range t.fold.Open() {
			if _, ok := given[call.ID]; ok {
				continue
			}
			q := mapping.Question{Call: call, Options: mapping.Options(call)}
			if a, ok := mapping.Allow(q); ok && t.session.allowed(q) {
				given[call.ID] = a
				continue
			}
			questions = append(questions, q)
		}
		if len(questions) == 0 {
			break
		}
		answers, lost, err := t.put(ctx, leg, questions)
		cut = cut || lost
		if err != nil {
			return nil, err
		}
		for _, a := range answers {
			given[a.Call.ID] = a
		}
		if t.fold.State.Terminal() {
			return nil, nil
		}
	}
	if cut {
		if err := t.reconcile(ctx); err != nil {
			return nil, err
		}
	}
	var answers []mapping.Answer
	for _, call := range t.fold.Open() {
		if a, ok := given[call.ID]; ok {
			answers = append(answers, a)
		}
	}
	return answers, nil
}

// put puts questions to the user while the leg's stream, if it is still open, is
// shown. No answers: they are moot. cut: the connection was lost meanwhile.
func (t *turn) put(ctx context.Context, leg *leg, questions []mapping.Question) (answers []mapping.Answer, cut bool, err error) {
	type reply struct {
		answers []mapping.Answer
		err     error
	}
	askCtx, stop := context.WithCancel(ctx)
	defer stop()
	replies := make(chan reply, 1)
	go func() { // ends when Ask returns, which it does at once when askCtx ends
		a, err := t.editor.Ask(askCtx, questions)
		replies <- reply{a, err}
	}()
	legEnded := leg.ended
	for {
		select {
		case <-t.agent.opts.Client.Gone():
			stop()
			<-replies
			return nil, true, t.agent.opts.Client.Fate(ctx, transport.ErrInterrupted)
		case n := <-leg.news:
			if err := t.show(ctx, leg, n); err != nil {
				return nil, cut, err
			}
			if t.fold.State.Terminal() || !t.anyOpen(questions) {
				stop()
				<-replies
				return nil, cut, nil
			}
		case <-legEnded:
			legEnded = nil
			cut = leg.err != nil
		case r := <-replies:
			if t.isCancelled() {
				return reject(questions), cut, nil
			}
			if r.err != nil {
				return nil, cut, r.err
			}
			for i, a := range r.answers {
				chosen, always := mapping.Choose(questions[i], a.OptionID)
				chosen.NewContent = a.NewContent
				t.session.allow(always)
				answers = append(answers, chosen)
			}
			return answers, cut, nil
		case <-t.cancelled:
			// Not all clients answer their questions after a cancel (avante).
			stop()
			<-replies
			return reject(questions), cut, nil
		case <-ctx.Done():
			stop()
			<-replies
			return nil, cut, ctx.Err()
		}
	}
}

func reject(questions []mapping.Question) []mapping.Answer {
	var answers []mapping.Answer
	for _, q := range questions {
		answers = append(answers, mapping.Reject(q))
	}
	return answers
}

func (t *turn) anyOpen(questions []mapping.Question) bool {
	for _, call := range t.fold.Open() {
		for _, q := range questions {
			if q.Call.ID == call.ID {
				return true
			}
		}
	}
	return false
}

// reconcile shows what the task has become while the connection was lost, before
// an answer goes to it.
func (t *turn) reconcile(ctx context.Context) error {
	task, err := t.agent.opts.Client.Get(ctx, t.fold.TaskID, allHistory)
	if err != nil {
		return err
	}
	t.steps = t.fold.Event(task, t.steps[:0])
	if len(t.steps) == 0 {
		return nil
	}
	return t.editor.Show(ctx, t.steps)
}
