package bridge

import (
	"context"
	"time"

	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

const (
	// lateSilence is how long the stream of a task that is over may say nothing before
	// it counts as ended: what an agent says behind its last state is shown before the
	// reply, and a server that leaves its stream open delays that by no more.
	lateSilence = 250 * time.Millisecond
	// messagePause is the same for the stream of an agent that has answered with one
	// message. By the protocol that is all. Agents that say more (see messageGrace) say
	// it piece by piece, at the pace of their model.
	messagePause = 2 * time.Second
	// messageGrace is the same where an agent has answered with several messages in a
	// row (Microsoft's Agent Framework, Agno): then only the end of the stream tells that
	// the answer is whole, and a tool may run in between.
	messageGrace = 30 * time.Second
)

// How streams of messages have ended so far: see patience.
const (
	streamsEnd  = 1 + iota // the agent ends them
	streamsStay            // it leaves them open
)

// patience is how long the stream may say nothing. An agent that has answered with
// messages before is expected to end its stream, or leave it open, as it did then.
func (l *leg) patience() time.Duration {
	pause := messageGrace
	switch ended := l.agent.messagesEnd.Load(); {
	case l.over:
		return lateSilence
	case ended == streamsStay, l.spoke == 1 && l.worded && ended == 0:
		pause = messagePause
	}
	if limit := l.agent.opts.IdleTimeout; limit > 0 {
		pause = min(pause, limit)
	}
	return pause
}

// linger reads on after an event that ends the leg by the protocol: a terminal state,
// or a message. It ends with the stream, or when the stream has had no event for too
// long; then the stream is drained, since closing it makes some agents stop. Comments
// do not count: they may come for as long as the stream is open.
func (l *leg) linger(ctx context.Context, stream *transport.Stream) error {
	stream.Heard(nil)
	s := newSubscription(l, stream)
	defer close(s.left)
	go s.readBatches() // ends as it says
	quiet := time.NewTimer(l.patience())
	defer quiet.Stop()
	for {
		select {
		case b := <-s.batches:
			if b.err != nil {
				return l.lingered(stream, b.err)
			}
			s.holding = true
			was := l.over
			if was {
				stateless(b.events)
			}
			if err := l.deliver(ctx, b.events); err != nil {
				l.finish(ctx, stream)
				return err
			}
			switch {
			case l.over && !l.state.Terminal():
				stream.Drain()
				return nil
			case l.state != "" && !l.over: // a task, behind a message: it is followed as any
				quiet.Stop()
				if s.idle == nil {
					s.idle = newIdleGuard(stream, l.agent.opts.IdleTimeout)
				}
			case says(b.events) || l.over != was:
				quiet.Reset(l.patience())
			}
			s.goOn()
		case <-quiet.C:
			if !l.over {
				l.agent.messagesEnd.Store(streamsStay)
			}
			stream.Drain()
			return nil
		case <-l.dropped:
			l.finish(ctx, stream)
			return errDropped
		case <-ctx.Done():
			stream.Close()
			return ctx.Err()
		}
	}
}

// lingered says what the end of the stream means for linger.
func (l *leg) lingered(stream *transport.Stream, err error) error {
	if l.over {
		stream.Close()
		return nil // nothing was missing
	}
	if l.spoke > 0 && l.state == "" {
		l.agent.messagesEnd.Store(streamsEnd)
	}
	l.polled = stream.Unstreamed()
	return l.endOf(stream, err, true)
}

// stateless takes states out of events that come behind a terminal one, which is the
// task's last.
func stateless(events []a2a.Event) {
	for i := range events {
		if ev := &events[i]; !ev.State.Terminal() {
			ev.State = ""
		}
	}
}

// hasWords reports whether a message holds anything but empty texts.
func hasWords(m *a2a.Message) bool {
	for p := range m.Parts.All() {
		if p.Kind != a2a.PartText || p.Text != "" {
			return true
		}
	}
	return false
}
