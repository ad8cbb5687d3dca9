package bridge

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A subscription is the stream of a task that was followed before: its events have to
// be joined to what was shown.
//
// If it begins with the task, that snapshot joins them. If it begins with all earlier
// events, nothing is shown until these are over ([mapping.Repetition]). Otherwise the
// task is asked for after each batch of events, so that it holds these events if the
// agent keeps such events at all; those that it does not hold are shown from the stream
// ([mapping.Fold.Echo]). That costs a request for each batch, and is exact: events have
// no offsets, so text that repeats itself cannot be aligned. (Rejected: looking for the
// overlap of the two. "ha" after "haha" has two.)
type subscription struct {
	*leg
	stream *transport.Stream
	said   bool // something has come
	// repetition compares what comes with what was said before; nil when that is done.
	// kept are the events that may be a repetition's beginning.
	repetition *mapping.Repetition
	kept       []a2a.Event
	// late: the snapshot says that the task is over, but the stream may still bring
	// more than the snapshot holds. concluded: the stream itself has brought the last
	// state.
	late, concluded bool
	// aligned: the stream has begun with the task, at joined, or with a repetition.
	aligned bool
	// level: a look has shown all that was said before what the stream brings next.
	level bool
	// doubt is the error for a task that is as it was before the message. The stream is
	// read on: what the agent has to say may only take its time.
	doubt error
	// again: it repeats what was said before, and not all of that is known here.
	again         bool
	joined, heard time.Time // heard: when it was made, or has last brought something
	// ahead: the task was looked at, and may have held what the stream, however slow, has
	// still to bring.
	ahead bool
	// behind is the leg before the stream of an answer, until something has come on it.
	behind *leg
	// uncut: no connection was lost before it. failed counts looks at its task that failed.
	uncut  bool
	failed int
	// told is the leg's lossTold before something has come.
	told bool

	batches    chan batch
	next, left chan struct{} // the reader goes on, or ends
	holding    bool          // the reader waits until its events are done with
	end        error         // of the stream, once it has come
	pause      time.Duration // how long it may be silent until the task is asked for again
	idle       *idleGuard    // nil: it may be silent for ever, unless the task cannot be looked at
}

// A batch is what one read of a stream has brought.
type batch struct {
	events []a2a.Event
	err    error
}

// resume reads a subscription.
func (l *leg) resume(ctx context.Context, stream *transport.Stream) (said bool, err error) {
	s := newSubscription(l, stream)
	l.repeats, l.resumed = false, true
	if s.repetition = l.repetition; s.repetition != nil {
		s.repetition.Begin()
	}
	if l.agent.opts.Client.Lacks().Get { // else it is looked at when it is silent
		s.idle = newIdleGuard(stream, l.agent.opts.IdleTimeout)
	}
	return s.follow(ctx, subscriptionSilence)
}

// catchUp reads the stream of an answer that was sent while the leg before went on.
// What the agent said before this stream began was not heard. If it said anything, and
// the stream does not begin with the task, the task is asked for. It is also asked for
// if the stream is silent: the agent may wait for an answer to a question that was not
// heard.
func (l *leg) catchUp(ctx context.Context, stream *transport.Stream, before *leg) (said bool, err error) {
	l.stream.Store(stream) // a cancel may hang it up
	s := newSubscription(l, stream)
	s.behind, s.uncut, s.idle = before, true, newIdleGuard(stream, l.agent.opts.IdleTimeout)
	return s.follow(ctx, workSilence)
}

func newSubscription(l *leg, stream *transport.Stream) *subscription {
	return &subscription{leg: l, stream: stream, heard: time.Now(), batches: make(chan batch), next: make(chan struct{}), left: make(chan struct{})}
}

// follow reads the stream. pause is how long it may be silent before its first event.
func (s *subscription) follow(ctx context.Context, pause time.Duration) (said bool, err error) {
	l, stream := s.leg, s.stream
	l.stream.Store(stream)
	s.pause = pause
	l.request.pushes.listen(false)
	defer l.request.pushes.listen(true)
	defer close(s.left)
	go s.readBatches() // ends as it says
	silence := time.NewTimer(pause)
	defer silence.Stop()
	for {
		select {
		case b := <-s.batches:
			err = s.got(ctx, b, silence)
		case <-silence.C:
			if s.late {
				l.over = true
				break
			}
			err = s.silent(ctx, silence)
		case <-l.dropped:
			err = errDropped
		case <-ctx.Done():
			stream.Close()
			return s.said, ctx.Err()
		}
		switch {
		case err != nil:
			l.finish(ctx, stream)
			return s.said, err
		case l.over && l.state.Terminal() && !s.late && s.end == nil:
			s.late, s.concluded, l.over = true, true, false
			silence.Reset(lateSilence)
		case l.over:
			stream.Drain()
			return true, nil
		case s.end != nil:
			return s.ended(ctx)
		}
		s.goOn()
	}
}

// got takes what a read of the stream has brought.
func (s *subscription) got(ctx context.Context, b batch, silence *time.Timer) error {
	if s.end = b.err; s.end != nil {
		return nil
	}
	s.holding, s.heard = true, time.Now()
	s.told = s.told || s.lossTold
	s.polled, s.lossTold = false, false // it streams
	s.adrift.Store(false)
	s.pause = subscriptionSilence
	if n := len(b.events); n > 0 && b.events[n-1].HasMessage && b.events[n-1].Message.ID != s.newest {
		s.newest = strings.Clone(b.events[n-1].Message.ID)
	}
	return s.takeIn(ctx, b.events, silence)
}

// takeIn is take, and starts silence anew if the stream has said anything.
func (s *subscription) takeIn(ctx context.Context, events []a2a.Event, silence *time.Timer) error {
	late, doubted := s.late, s.doubt != nil
	if !late && !doubted {
		silence.Stop()
	}
	err := s.doubting(s.take(ctx, events))
	if doubted = doubted && s.doubt != nil; !doubted && (!late || says(events)) {
		silence.Reset(s.maySilent())
	}
	return err
}

// doubting keeps the error for a task that is as it was before the message while the stream
// is open.
func (s *subscription) doubting(err error) error {
	switch {
	case s.end == nil && errors.As(err, new(*undeliveredError)):
		s.doubt, err = err, nil
	case !s.unheard:
		s.doubt = nil
	}
	return err
}

// maySilent is how long the stream may be silent after what it has brought.
func (s *subscription) maySilent() time.Duration {
	switch {
	case s.late:
		return lateSilence
	case s.resting() || s.unheard || s.stands:
		// The end of the turn may have been in the snapshot: then nothing more comes, and
		// some leave the stream open all the same.
		return subscriptionSilence
	}
	// The task works. A connection that was lost once may be lost again without a sign.
	return workSilence
}

// ended says what the end of the stream means. Events that were held back as a possible
// repetition were known, and are dropped; but a task alone that comes time and again is the
// task as it is.
func (s *subscription) ended(ctx context.Context) (said bool, err error) {
	if s.isAlone() && s.agent.opts.Client.Lacks().Get {
		if s.alone++; s.alone > maxUnheard {
			events := s.kept
			s.kept, s.repetition = nil, nil
			if err := s.align(ctx, events); err != nil {
				return true, err
			}
		}
	}
	if s.late && (s.concluded || isEnd(s.end)) {
		s.stream.Close()
		if task, err := s.fetchUnconcluded(ctx); err == nil && task != nil {
			return true, s.lookAt(ctx, arrival{aligns: task, unheard: true})
		}
		return true, nil
	}
	if s.unheard && !s.begun && s.said && s.doubt == nil && s.agent.opts.Client.Lacks().Get {
		s.doubt = &undeliveredError{s.taskID, s.begun} // nothing else can tell
	}
	if s.doubt != nil {
		s.stream.Close()
		return false, s.doubt
	}
	said = s.said && len(s.kept) == 0
	if isEnd(s.end) && s.state == a2a.StateInputRequired && !s.news {
		s.lossTold = s.told // it was no more than a look at a task that waits
	}
	s.polled = s.stream.Unstreamed()
	return said, s.endOf(s.stream, s.end, said)
}

// fetchUnconcluded asks for a task that is over, where its stream has ended without saying so:
// the last that the agent has said may be lost.
func (s *subscription) fetchUnconcluded(ctx context.Context) (*a2a.Event, error) {
	if s.concluded || s.uncut {
		return nil, nil
	}
	return s.fetch(ctx)
}

// goOn lets the reader read on, if it waits.
func (s *subscription) goOn() {
	if s.holding {
		s.holding = false
		s.next <- struct{}{}
	}
}

// readBatches reads a stream, one batch at a time. It ends with the stream, or at
// its next event after left; at the latest when the client is closed, which is why
// it is not one of the agent's: a Read can only be ended by closing the connection,
// and that may cancel the task.
func (s *subscription) readBatches() {
	for {
		s.idle.start()
		events, err := s.stream.Read()
		if s.idle.stop() {
			err = &cutError{(&idleError{limit: s.idle.limit}).Error()}
		}
		select {
		case s.batches <- batch{events, err}:
		case <-s.left:
			s.drop(events)
			return
		}
		if err != nil {
			return
		}
		select {
		case <-s.next:
		case <-s.left:
			return
		}
	}
}

// take shows what a batch brings.
func (s *subscription) take(ctx context.Context, events []a2a.Event) error {
	s.said = true
	if s.late {
		for i := range events {
			s.note(&events[i])
		}
		return s.give(ctx, arrival{events: events, join: joinEcho, again: s.again})
	}
	for i := 0; s.repetition != nil && i < len(events); i++ {
		switch known := s.repetition.Next(&events[i]); known {
		case mapping.KnownPerhaps:
			s.kept = append(s.kept, *events[i].Clone())
		case mapping.KnownAgain:
			s.kept = nil
		case mapping.KnownLast, mapping.KnownBefore:
			next := i
			if known == mapping.KnownLast {
				next++
			}
			s.repeats = s.repeatsOn(append(s.kept, events[:next]...))
			if s.unheard && !s.begun && next == len(events) {
				return &undeliveredError{s.taskID, s.begun} // the agent has said nothing since the message
			}
			if known == mapping.KnownLast {
				s.noteLast(&events[i])
			}
			// The events that a look at the task has shown since the cut come again.
			s.kept, s.repetition, s.aligned, s.again = nil, nil, !s.looked, s.looked
			if err := s.give(ctx, arrival{join: joinRepeated, again: s.again}); err != nil {
				return err
			}
			events = events[next:]
		case mapping.KnownNot:
			s.repetition = nil
			s.again = s.again || tellsReplay(s.kept)
			// All at once: while the task is asked for, more is read into the same buffer.
			events, s.kept = append(s.kept, events[i:]...), nil
		}
	}
	if s.repetition != nil || len(events) == 0 {
		return nil
	}
	return s.align(ctx, events)
}

// tellsReplay reports whether events that were known tell a replay: a task in the state of its
// earlier events is no snapshot, and several events that say something are no chance.
func tellsReplay(known []a2a.Event) bool {
	return len(known) > 0 && known[0].Kind == a2a.EventTask || len(known) > 1 && says(known)
}

// repeatsOn reports whether the agent may go on repeating what it had said before the message:
// the newest of the events that were known does not say how the task was then.
func (s *subscription) repeatsOn(known []a2a.Event) bool {
	return s.unheard && len(known) > 0 && !s.request.was.Was(&known[len(known)-1])
}

// noteLast notes the last event that was known, if it came behind the message: when it came
// first it has not told that the message has come, and does not tell it now.
func (s *subscription) noteLast(ev *a2a.Event) {
	if !s.repetition.Fresh() && !s.unheard {
		s.note(ev)
	}
}

// align shows events that are no repetition.
func (s *subscription) align(ctx context.Context, events []a2a.Event) error {
	first := &events[0]
	if before := s.behind; before != nil {
		missed := before.missed(first)
		s.behind, s.aligned = nil, !missed || first.Kind != a2a.EventTask
		if missed && s.aligned {
			return s.joinBehind(ctx, events)
		}
	}
	s.again = s.again || !s.aligned && s.isNoSnapshot(first)
	if !s.aligned && !s.again && first.Kind == a2a.EventTask {
		if err := s.giveFirst(ctx, events); err != nil {
			return err
		}
		if s.aligned {
			events = events[1:]
		}
	}
	switch {
	case len(events) == 0:
		return nil
	case s.aligned && s.isNext(events):
		return s.deliver(ctx, events)
	}
	if err := s.join(ctx, events); err != nil || !s.unheard || s.begun || s.aligned {
		return err // where nothing else tells, the stream will, or its silence
	}
	return &undeliveredError{s.taskID, s.begun} // the task has told
}

// isNext reports whether events, of an aligned stream, are in no task that was looked at.
func (s *subscription) isNext(events []a2a.Event) bool {
	return !says(events) || !s.ahead && time.Since(s.joined) > echoTime
}

// giveFirst shows the task that a subscription begins with, unless that may be the task as
// it was before: then it is looked at.
func (s *subscription) giveFirst(ctx context.Context, events []a2a.Event) error {
	s.note(&events[0])
	s.older = false
	if err := s.give(ctx, arrival{events: events[:1], join: joinFirst}); err != nil {
		return err
	}
	s.aligned, s.again = !s.older, s.older
	if s.joined = time.Now(); s.aligned && s.unheard && len(events) == 1 { // not before a slow editor has it
		return &undeliveredError{s.taskID, s.begun}
	}
	return nil
}

// isNoSnapshot reports whether a task that a subscription begins with may be what was said
// before: one at its beginning, or any while it is not known whether the message has come.
func (s *subscription) isNoSnapshot(first *a2a.Event) bool {
	return first.Kind == a2a.EventTask && (first.State == a2a.StateSubmitted && s.beyond || s.unheard && !s.begun)
}
