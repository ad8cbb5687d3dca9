package bridge

import (
	"context"
	"errors"
	"time"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// isBeyond reports whether a task is over, or waits, and did not as far as was heard, or
// has said more: then the stream has stopped.
func (s *subscription) isBeyond(task *a2a.Event) bool {
	return !s.uncut && s.newest != "" && task.HasMessage && task.Message.ID != s.newest ||
		task.State != s.state && (task.State.Terminal() || task.State == a2a.StateInputRequired)
}

// silent looks at the task of a subscription that says nothing: it may be over, or
// wait for the user, or just work.
func (s *subscription) silent(ctx context.Context, silence *time.Timer) error {
	task, said, err := s.fetchInSilence(ctx)
	if said != nil {
		return s.got(ctx, *said, silence)
	}
	defer func() {
		s.pause = min(s.pause*2, maxWait)
		silence.Reset(s.pause)
	}()
	if err == nil {
		err = s.lookAt(ctx, arrival{aligns: task, unheard: s.isBeyond(task), ahead: true})
	}
	if errors.Is(err, errCannotLook) {
		return s.silentUntold(ctx)
	}
	if s.failed++; s.mayStay(err) {
		return nil // as far as is known, the stream is open
	}
	s.failed = 0
	s.joined = time.Now() // what comes now may be in the task
	s.kept = nil          // the task has been looked at: what came was a repetition
	// Gemini's server is in input-required while it executes what was allowed; where
	// it does wait it ends the stream. Calls that wait may go on without the user: that
	// comes on the stream, as long as it is open.
	s.over = s.over || err == nil && s.resting() && !s.running.Load() && !s.asking.Load()
	if err == nil && s.unheard {
		return s.asBefore()
	}
	return err
}

// silentUntold is silent at an agent that cannot be asked.
func (s *subscription) silentUntold(ctx context.Context) error {
	limit := s.agent.opts.IdleTimeout
	switch {
	case s.unheard && s.state == a2a.StateAuthRequired: // until the user has authenticated
		return nil
	case s.unheard:
		return &undeliveredError{s.taskID, s.begun}
	case len(s.kept) > 0 && !s.isAlone() && says(s.kept): // the next one may repeat all
		return &cutError{"agent: says nothing behind the beginning of what it repeats"}
	case len(s.kept) > 0: // what may begin a repetition, or is the task as it is, is all that comes
		events := s.kept
		s.kept, s.repetition = nil, nil
		return s.align(ctx, events)
	case s.asking.Load() && s.resting(): // it waits for the user, and says so no more
	case s.idle == nil && limit > 0 && time.Since(s.heard) >= limit: // the next one has a guard
		return &cutError{(&idleError{limit: limit}).Error()}
	}
	// Then the stream is followed for as long as it may say something.
	s.stands = false
	s.over = s.resting() && s.aligned && !s.uncut && !s.running.Load() && !s.asking.Load()
	return nil
}

// isAlone reports whether a task is all that has come, and is known.
func (s *subscription) isAlone() bool { return len(s.kept) == 1 && s.kept[0].Kind == a2a.EventTask }

// mayStay reports whether the stream is followed though a look at the task has failed: no
// connection was lost before it, or the agent has answered, and may give the task later.
// Otherwise one look may fail, and the next comes soon: the stream may be open, and nothing
// else may have what it brings.
func (s *subscription) mayStay(err error) bool {
	switch {
	case !s.mayLookAgain(err):
		return false
	case s.uncut || errors.As(err, new(*cutError)):
		return s.failed < maxSilence
	case s.failed == 1:
		s.pause = firstWait / 2
		return true
	}
	return false
}

// fetchInSilence is fetch, until the stream says something: an agent may not answer.
func (s *subscription) fetchInSilence(ctx context.Context) (task *a2a.Event, said *batch, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan struct{})
	go func() { // ends with ctx, at the latest
		defer close(done)
		task, err = s.fetch(ctx)
	}()
	select {
	case <-done:
		return task, nil, err
	case b := <-s.batches:
		said = &b
	case <-s.dropped:
	}
	stop()
	<-done
	if said == nil {
		return nil, nil, errDropped
	}
	return nil, said, nil
}

// asBefore is the error for a task that is still as it was before the message.
func (s *subscription) asBefore() error {
	if s.doubt == nil {
		return &cutError{"agent: says nothing"} // the caller counts these errors
	}
	s.asWas++
	return s.doubt
}
