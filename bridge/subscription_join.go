package bridge

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// behindWait is how long the first events of an answer's stream wait for what may have
// been said before them; behindPause is the wait before a look is tried again, and doubles.
// behindEcho is how long after them further events may also be in the task that was asked
// for, in addition to the time that asking took.
const (
	behindWait  = 2 * time.Second
	behindPause = 250 * time.Millisecond
	behindEcho  = 50 * time.Millisecond
)

// joinBehind is join for the first events of an answer's stream. It does not wait long: the
// connection is open, and its events need not wait for an agent that cannot tell.
func (s *subscription) joinBehind(ctx context.Context, events []a2a.Event) error {
	began := time.Now()
	wait, stop := context.WithTimeout(ctx, behindWait)
	defer stop()
	task, events, err := s.fetchWith(wait, events)
	for pause := behindPause; wait.Err() == nil && s.mayLookAgain(err) && !errors.As(err, new(*cutError)); pause *= 2 {
		more, waitErr := s.collect(func() error { return s.wait(wait, pause, err) })
		if events = append(events, more...); waitErr != nil {
			break // it is late, or the turn has left
		}
		began = time.Now()
		task, events, err = s.fetchWith(wait, events)
	}
	took := time.Since(began)
	switch {
	case errors.Is(err, transport.ErrExited), ctx.Err() != nil:
		return err
	case errors.As(err, new(*cutError)): // it has answered, and may tell later
		return s.join(ctx, events)
	case err != nil:
		if !errors.Is(err, errCannotLook) {
			if err := s.give(ctx, arrival{unlooked: true}); err != nil {
				return err
			}
		}
		return s.deliver(ctx, events)
	}
	s.opened = s.opened || endsLeg(events) // it waits again, though as it did before
	if err := s.lookAt(ctx, arrival{aligns: task, events: events, ahead: true}); err != nil {
		return err
	}
	// Events that came meanwhile may be in the task. On an open stream they come soon
	// after.
	s.joined = time.Now().Add(took + behindEcho - echoTime)
	s.settleOver(events)
	return nil
}

// join shows events that may be in the task already. It asks for the task as often as
// other attempts are made: events are shown unaligned only if the agent cannot be
// asked.
//
// Events that come while it asks are joined with the rest: the task holds them, too.
func (s *subscription) join(ctx context.Context, events []a2a.Event) error {
	s.joining.Store(true)
	defer s.joining.Store(false)
	if s.again {
		if err := s.give(ctx, arrival{again: true}); err != nil {
			return err
		}
	}
	began, ahead := time.Now(), !s.ahead || time.Since(s.joined) <= echoTime
	events, err := s.lookWith(ctx, events)
	s.joined = s.joined.Add(time.Since(began)) // what came meanwhile may be in the task
	for tries, pause := 0, firstWait; tries < maxSilence && s.mayLookAgain(err); tries, pause = tries+1, pause*2 {
		more, waitErr := s.collect(func() error { return s.wait(ctx, pause, err) })
		events = append(events, more...)
		if waitErr != nil {
			s.drop(events)
			return waitErr
		}
		events, err = s.lookWith(ctx, events)
		s.joined = time.Now() // more may have come meanwhile, and be in the task
	}
	if err != nil {
		return s.withoutTask(ctx, events, err)
	}
	s.level, s.ahead = true, ahead // late events are looked at once
	s.settleOver(events)
	return nil
}

// withoutTask shows events of a task that could not be asked for: err says why.
func (s *subscription) withoutTask(ctx context.Context, events []a2a.Event, err error) error {
	s.keepOver(events)
	s.noteUntold(events)
	switch {
	case errors.Is(err, errDropped), errors.Is(err, context.Canceled):
		s.drop(events)
	case errors.As(err, new(*taskLostError)): // the events before that are all that there is, and may be a repetition's
		if events[0].Kind == a2a.EventTask && len(events) > 1 && s.unaligned() == joinBlind {
			if giveErr := s.give(ctx, arrival{events: events[:1], join: joinBlind, again: true}); giveErr != nil {
				return giveErr
			}
			events, s.level = events[1:], true // servers say the newest event again behind it
		}
		if giveErr := s.give(ctx, arrival{events: events, join: s.unaligned(), again: true}); giveErr != nil {
			return giveErr
		}
		if s.end == nil { // and what else has come on the stream
			s.aligned = true
			return nil
		}
		if s.over && !s.endsAsBefore(events) {
			return nil
		}
		if s.over {
			s.over, s.state = false, "" // how it stands is not known
		}
	case errors.Is(err, errCannotLook):
		how := s.unaligned() // what is in the snapshot that it began with is not shown again
		s.aligned = true
		if how == joinBlind && events[0].Kind == a2a.EventTask {
			s.joined = time.Now()
		}
		return s.give(ctx, arrival{events: events, join: how, again: s.again})
	case s.mayLookAgain(err) && ctx.Err() == nil:
		// They may be in the task that the stream has begun with, or that was looked at last.
		return s.give(ctx, arrival{events: events, join: s.unaligned(), again: s.again})
	}
	return err
}

// keepOver lets a task stay over if the last look has told that it is: the states of events that
// come now are older.
func (s *subscription) keepOver(events []a2a.Event) {
	if over := s.state; s.lookedOver && !s.unheard && over.Terminal() {
		for i := range events {
			if events[i].State != "" {
				events[i].State = over
			}
		}
	}
}

// endsAsBefore reports whether a replay may end with an older leg: in the state that the task was
// in before the message, which it says once.
func (s *subscription) endsAsBefore(events []a2a.Event) bool {
	ends := 0
	for i := range events {
		if events[i].EndsLeg && events[i].State == s.request.was.State {
			ends++
		}
	}
	return s.again && ends == 1
}

// noteUntold notes events that may be a replay's: it has the ends of older legs, and says
// nothing of the message. A task alone that is beyond its beginning is none.
func (s *subscription) noteUntold(events []a2a.Event) {
	alone := len(events) == 1 && events[0].Kind == a2a.EventTask && events[0].State != a2a.StateSubmitted
	unheard := s.again && s.unheard && !s.begun && !alone
	older := s.olderThanMessage(events)
	for i := range events {
		if s.note(&events[i]); i < older {
			s.leg.doubt(true)
		}
	}
	if s.over = s.over && s.resting() && !unheard; unheard {
		s.leg.doubt(true)
	}
}

// olderThanMessage returns how many events were said before an answer that was perhaps not delivered:
// those up to the question.
func (s *subscription) olderThanMessage(events []a2a.Event) int {
	if was := &s.request.was; s.unheard && !s.begun && s.request.answers && was.MessageID != "" {
		for i := len(events); i > 0; i-- {
			if was.Was(&events[i-1]) {
				return i
			}
		}
	}
	return 0
}

// unaligned is how events are joined that the agent cannot be asked about: blindly,
// unless the stream is aligned, or goes on from a look.
func (s *subscription) unaligned() join {
	if s.aligned || s.level {
		return joinBehind
	}
	return joinBlind
}

// settleOver says whether the leg is over by a task that was asked for when events had
// come: if they do not say so, more may follow.
func (s *subscription) settleOver(events []a2a.Event) {
	switch {
	case endsLast(events): // the task is newer than the events
		s.stands = s.stands && s.again // it has gone on, and waits again
		s.over = s.over || s.resting()
	case s.over:
		s.late, s.over = true, false
	}
}

// endsLast reports whether the last event that tells a state ends a leg: those before it may be of
// older legs.
func endsLast(events []a2a.Event) bool {
	for i := len(events) - 1; i >= 0; i-- {
		if events[i].State != "" || events[i].EndsLeg {
			return events[i].EndsLeg
		}
	}
	return false
}

func endsLeg(events []a2a.Event) bool {
	return slices.ContainsFunc(events, func(ev a2a.Event) bool { return ev.EndsLeg })
}

const (
	// maxLooks is how often the task is asked for because more events have come meanwhile.
	maxLooks = 3
	// readTime is for reading what had come on an answer's stream before the task did: later it
	// would be taken for newer. Nothing depends on it but the order in which that is shown.
	// (Rejected: behind a subscription, too. The task goes on meanwhile, so that the newest event,
	// which servers say again, is not told from one that is new.)
	readTime = 2 * time.Millisecond
)

// fetchWith is fetch, and takes the events that come meanwhile. Then it asks again, since they
// may be newer than the task. It returns them behind those before.
func (s *subscription) fetchWith(ctx context.Context, before []a2a.Event) (task *a2a.Event, events []a2a.Event, err error) {
	fetch := func() (err error) {
		if task, err = s.fetch(ctx); err == nil && s.uncut {
			select {
			case <-time.After(readTime):
			case <-ctx.Done():
			}
		}
		return err
	}
	events = clones(before)
	for range maxLooks {
		var more []a2a.Event
		more, err = s.collect(fetch)
		if events = append(events, more...); err != nil || len(more) == 0 {
			return task, events, err
		}
	}
	err = fetch() // what comes now waits
	return task, events, err
}

// lookWith is look with what fetchWith returns.
func (s *subscription) lookWith(ctx context.Context, before []a2a.Event) (events []a2a.Event, err error) {
	task, events, err := s.fetchWith(ctx, before)
	if err == nil {
		err = s.lookAt(ctx, arrival{aligns: task, events: events, ahead: true})
	}
	return events, err
}

// maxCollected is how many bytes of events collect takes before the reader waits.
const maxCollected = 1 << 20

// collect does something that takes its time, and takes the events that come meanwhile.
func (s *subscription) collect(do func() error) (events []a2a.Event, err error) {
	waited := make(chan error, 1)
	go func() { waited <- do() }() // ends with do, which collect awaits
	for size := 0; ; {
		var batches <-chan batch
		if s.end == nil && size < maxCollected {
			s.goOn()
			batches = s.batches
		}
		select {
		case b := <-batches:
			if s.end = b.err; s.end == nil {
				events = append(events, clones(b.events)...)
				s.holding = true
				for i := range b.events {
					size += len(b.events[i].Raw)
				}
			}
		case err := <-waited:
			return events, err
		}
	}
}

func clones(events []a2a.Event) []a2a.Event {
	list := make([]a2a.Event, len(events))
	for i := range events {
		list[i] = *events[i].Clone()
	}
	return list
}

// mayLookAgain reports whether another look may succeed after an error.
func (s *subscription) mayLookAgain(err error) bool {
	var agentErr *a2a.Error
	return err != nil && !errors.Is(err, errCannotLook) && !errors.Is(err, errDropped) && !errors.Is(err, transport.ErrExited) &&
		!errors.Is(err, context.Canceled) && !errors.As(err, &agentErr)
}
