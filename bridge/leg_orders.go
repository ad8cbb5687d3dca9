package bridge

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file has what a turn may order a leg to do, and what it asks of it, from the turn's
// goroutine or a cancel's.

// left says what becomes of the streams of a leg that ends.
type left uint8

const (
	leftToEnd    left = iota // they are drained
	leftToCancel             // likewise, and the task is cancelled if it says something more
	leftToNext               // the next leg has them
)

var errDropped = errors.New("the leg was dropped")

// order has the leg do something, which must not give the turn anything: that waits; false: it
// has ended.
func (l *leg) order(do func(ctx context.Context)) bool {
	o := order{do, make(chan struct{})}
	select {
	case l.orders <- o:
		<-o.done
		return true
	case <-l.ended:
		return false
	}
}

func (l *leg) obey(ctx context.Context, o order) {
	o.do(ctx)
	close(o.done)
}

// leave ends the turn's interest in the leg. Its streams are drained, because closing a
// connection makes some agents cancel work. cancel asks for the task to be cancelled as soon as
// it says something more, and has an ID. It does nothing to a leg that has ended.
func (l *leg) leave(cancel bool) {
	l.order(func(context.Context) {
		l.fail(errDropped)
		l.left = leftToEnd
		if cancel && !l.terminal() {
			l.left = leftToCancel
		}
	})
}

// abandon cancels the task of a leg that the turn has left, if it says anything more.
func (l *leg) abandon(ctx context.Context) {
	for awaited := !l.opened && l.request.message != nil; awaited || l.live != nil || l.sub != nil; {
		select {
		case r := <-l.replies:
			if r.from == fromSend {
				if awaited = false; r.stream != nil {
					l.live = l.readers.read(r.stream, nil, r.release)
				}
			}
		case b := <-l.readers.batches:
			own := b.reader == l.live || b.reader == l.sub
			for i := range b.events {
				if l.note(&b.events[i]); own {
					l.state = a2a.State(strings.Clone(string(b.events[i].State)))
				}
			}
			l.readers.goOn(b)
			switch {
			case !own:
			case b.err != nil || l.state.Terminal():
				return
			case l.taskID != "":
				_, _ = l.agent.cancelTask(ctx, l.taskID, "the turn has left it")
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// handOver ends the leg, since its task is answered, and returns its streams for the next leg, nil
// if it has ended; and the newest look at the task, if its own stream has said nothing since.
func (l *leg) handOver() (*readers, *a2a.Event, bool) {
	if !l.order(func(context.Context) { l.fail(errDropped); l.left = leftToNext }) {
		return nil, nil, false
	}
	<-l.ended
	return l.readers, l.held, l.owes || l.first != nil || l.refresh.looking
}

// hangUp tells the agent to stop by ending our half of the connection. It
// reports whether that could be done; the leg ends with the stream then.
func (l *leg) hangUp() (done bool) {
	l.order(func(context.Context) {
		if l.phase == streaming && l.live != nil {
			done = l.live.stream.HangUp()
			l.hungUp = done
		}
	})
	return done
}

// brings returns what a leg hands over; where there is no leg, nothing ever comes.
func (l *leg) brings() <-chan said {
	if l == nil {
		return nil
	}
	return l.out
}

// ends returns what is closed when a leg has ended; where there is no leg, nothing ever is.
func (l *leg) ends() <-chan struct{} {
	if l == nil {
		return nil
	}
	return l.ended
}

// isOver reports whether there is a leg, and the agent has said that it is over.
func (l *leg) isOver() bool { return l != nil && l.hasEnded() && l.err == nil }

// hasEnded reports whether nothing more comes, so that err may be read.
func (l *leg) hasEnded() bool {
	select {
	case <-l.ended:
		return true
	default:
		return false
	}
}

// reach makes the leg's request. An answer to a question that was certainly not
// delivered is sent again for a while: the task waits for it (A5).
func (l *leg) reach(ctx context.Context) (stream *transport.Stream, taskID string, release func(), err error) {
	r, limit := l.request, l.agent.opts.IdleTimeout
	stream, taskID, release, err = send(l.agent.ctx, r, limit)
	for tries, pause := 0, firstWait; r.answers && tries < maxTries && isUndelivered(err); tries, pause = tries+1, pause*2 {
		if release != nil {
			release()
		}
		select {
		case <-time.After(pause):
		case <-l.agent.opts.Client.Exited():
			return nil, "", nil, l.agent.opts.Client.ExplainLoss(ctx, err)
		case <-ctx.Done():
			return nil, "", nil, ctx.Err()
		}
		stream, taskID, release, err = send(l.agent.ctx, r, limit)
	}
	return stream, taskID, release, err
}
