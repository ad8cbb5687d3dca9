package bridge

import (
	"errors"
	"slices"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file keeps a program from losing calls that wait for its answer.

// noteWaiting notes the calls that wait when a leg has ended. Params that were refused
// change nothing.
func (e *linesEditor) noteWaiting(r Result, err error) {
	if errors.As(err, new(*paramsError)) {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if delete(e.waiting, r.TaskID); len(r.Pending) > 0 {
		e.waiting[r.TaskID] = r.Pending
	}
}

// noWaiting notes that no call of a task waits any more.
func (e *linesEditor) noWaiting(task string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.waiting, task)
}

// waitsLocked reports whether calls of the task wait in which a session goes on.
func (e *linesEditor) waitsLocked(s *Session) bool {
	_, task := s.NextIDs()
	return len(e.waiting[task]) > 0
}

// checkWaiting refuses words to a task whose calls wait: Gemini's server says nothing any
// more then, and the calls could not be answered. A message with data may be an answer
// that the program has spelled itself.
func (e *linesEditor) checkWaiting(m *a2a.Outgoing) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	calls := e.waiting[m.TaskID]
	if len(calls) == 0 || slices.ContainsFunc(m.Parts, func(p a2a.OutPart) bool { return len(p.Data) > 0 }) {
		return nil
	}
	return paramsErrorf("calls of task %q wait for an answer: %v: send toolCall/confirm first, or tasks/cancel", m.TaskID, calls)
}
