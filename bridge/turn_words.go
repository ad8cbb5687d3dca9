package bridge

import (
	"context"
	"errors"
	"slices"

	"github.com/a2astdio/a2astdio/mapping"
)

// This file is for choices that the agent takes only together with words: the turn ends, and
// the next prompt completes the answer.

// errWords ends a turn that waits for the user's words.
var errWords = errors.New("the agent waits for words")

// needsWords reports whether decisions must be kept until the next prompt.
func (t *turn) needsWords(decisions []decision) bool {
	cancels := slices.ContainsFunc(decisions, func(d decision) bool { return d.option.CancelsTask })
	return t.fold.WaitsForWords() && !cancels && !t.isCancelled()
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
		t.observeAnswer(&decisions[i])
		answers = append(answers, decisions[i].answer())
	}
	notice := t.notice(t.fold.Defer(answers))
	if err := t.editor.Show(ctx, []mapping.Step{notice}); err != nil {
		return err
	}
	return errWords
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
