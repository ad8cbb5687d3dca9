package bridge

import (
	"context"
	"sync"
)

// This file has what happens when an editor closes a session, or deletes it.

// dismissed is a session that was closed or deleted, until its last turn is over. One with
// its ID that is loaded meanwhile waits for that, or it would show what the turn shows
// once more.
type dismissed struct {
	deleted bool
	done    sync.WaitGroup
}

// dismiss closes a session, if it is open, cancels its work, and calls then when nothing of
// it runs any more. It does not wait for that.
func (s *server) dismiss(id string, deleted bool, then func()) {
	l := &dismissed{deleted: deleted}
	l.done.Add(1)
	s.mu.Lock()
	session, before := s.sessions[id], s.dismissed[id]
	delete(s.sessions, id)
	s.dismissed[id] = l
	s.mu.Unlock()
	if session != nil {
		if task := session.unwatch(); task != "" {
			s.agent.cancelLater(task)
		}
		session.Cancel()
		session.shut()
	}
	s.spawn(func(context.Context) { // ends with the session's turn
		if before != nil {
			before.done.Wait()
		}
		if session != nil {
			session.waitIdle()
			session.endTools()
		}
		then()
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.dismissed[id] == l {
			delete(s.dismissed, id)
		}
		l.done.Done()
	})
}

// shut releases the journal of a closed session, as soon as no turn writes to it, so
// that a long-lived process with many sessions keeps no files open.
func (s *Session) shut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shutting = true
	if len(s.queue) == 0 {
		_ = s.journal.Close() // it has been written
	}
}

func (s *Session) isShut() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shutting
}

// waitIdle waits until no turn is in the session's queue.
func (s *Session) waitIdle() {
	for t := s.running(); t != nil; t = s.running() {
		<-t.released.Done()
	}
}
