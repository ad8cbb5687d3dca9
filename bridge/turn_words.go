package bridge

import (
	"context"
	"errors"

	"github.com/a2astdio/a2astdio/mapping"
)

// This file is for answers that need the user's words beside a choice, and for choices
// that the agent takes only together with words: the turn ends, and the next prompt (or
// the form that an editor shows) completes the answer.

// errWords ends a turn that waits for the user's words.
var errWords = errors.New("the agent waits for words")

// needsWords reports whether decisions must be kept until the next prompt.
func (t *turn) needsWords(decisions []decision) bool {
	words := false
	for _, d := range decisions {
		if d.option.CancelsTask {
			return false
		}
		words = words || d.option.Words
	}
	return words || t.fold.WaitsForWords() && !t.isCancelled()
}

// restForWords is keepForWords where the leg may go on until then.
func (t *turn) restForWords(ctx context.Context, leg *leg, decisions []decision) error {
	if leg.hasEnded() {
		leg.leave(false)
	} else {
		t.session.pause(leg)
	}
	return t.keepForWords(ctx, decisions)
}

// keepForWords keeps decisions until the next prompt, and tells the user what it should
// say.
func (t *turn) keepForWords(ctx context.Context, decisions []decision) error {
	var answers []mapping.Answer
	for i := range decisions {
		d := &decisions[i]
		if !d.option.Words {
			if aside, err := t.answerAside(ctx, nil, decisions[i:i+1]); aside || err != nil {
				if err != nil {
					return err
				}
				continue
			}
		}
		t.observeAnswer(d)
		a := d.answer()
		a.Words = d.option.Words
		answers = append(answers, a)
	}
	notice := t.notice(t.fold.Defer(answers))
	if err := t.editor.Show(ctx, []mapping.Step{notice}); err != nil {
		return err
	}
	return errWords
}

// sayWords sends a prompt that is an answer in a request of its own, and returns the
// request that follows the task from where it was. What the agent refuses it still waits
// for, and the next prompt says it anew.
func (t *turn) sayWords(ctx context.Context, calls []mapping.SideRequest) (*request, error) {
	task := t.session.taskID
	for _, call := range calls {
		if _, err := t.sayAside(ctx, nil, mapping.Answer{}, call, nil); err != nil {
			return nil, err
		}
		t.fold.Replied(task, call)
	}
	if leg := t.session.unpause(); leg != nil {
		return &request{taskID: task, leg: leg, beyond: true}, nil
	}
	return &request{taskID: task, beyond: true}, nil
}

// waitsForUser reports whether the task waits for the user, as far as is known.
func (t *turn) waitsForUser() bool {
	return (t.fold.Waits() && !t.down || t.fold.WaitsForWords()) && !t.isCancelled()
}

// settled returns how a turn that waits for the user goes on: the user is asked, or the
// next prompt answers.
func (t *turn) settled() end {
	if t.fold.Waits() {
		return paused
	}
	return ended
}
