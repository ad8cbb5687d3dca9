package bridge

import (
	"context"
	"errors"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file lets prompts wait for those before them.

// maxHeld is how many prompts of a session may wait: more than anybody types ahead.
const maxHeld = 16

var (
	errHeld  = errors.New("bridge: the prompt was cancelled before it was sent")
	errAsked = errors.New("bridge: the prompt was not sent, because the agent has asked something since it was written: send it again, if it is the answer")
)

// waitLocked begins a turn that waits for those before it.
func (s *Session) waitLocked() Turn {
	t := newTurn(s)
	t.up = make(chan struct{})
	s.line = append(s.line, t)
	return Turn{t}
}

// queue is Begin for a prompt that may wait for those before it.
func (s *Session) queue() (Turn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.turn == nil:
		s.unwatchLocked()
		s.turn = newTurn(s)
		return Turn{s.turn}, nil
	case len(s.line) < maxHeld:
		t := s.waitLocked()
		t.informed = s.turn.told && len(s.line) == 1
		return t, nil
	}
	return Turn{}, ErrBusy
}

// wait waits until a turn may run. It does not if it would answer a question that came after the
// prompt was written.
func (t Turn) wait(ctx context.Context) error {
	if t.up == nil {
		return nil
	}
	select {
	case <-t.up:
	case <-t.cancelled.Done():
	case <-ctx.Done():
	}
	switch {
	case t.isCancelled() || ctx.Err() != nil:
		return errHeld
	case t.fold.State == a2a.StateInputRequired && !t.informed:
		return errAsked
	}
	return nil
}
