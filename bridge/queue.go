package bridge

import (
	"context"
	"errors"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file is for prompts that come during a turn. They wait for those before them: no agent that was
// run is known to take a second message for what the first one began.

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

// running is the turn that runs, nil if none does.
func (s *Session) running() *turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turn
}
