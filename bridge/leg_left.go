package bridge

import (
	"errors"
	"strings"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file has what becomes of a leg's streams. A leg is over when it ends (leg_end.go), or when its turn
// leaves it, or passes its streams to the next. They are drained, not closed, because closing a connection
// makes some agents cancel work.

// errLeft is the error of a leg that was left, or has passed its streams on. Nobody is told it.
var errLeft = errors.New("its turn has left the leg")

// leave ends the leg for its turn, which may do so at any time, and drains its streams. cancel: the
// task, if it has not ended, is cancelled as soon as it says something more, and has an ID; not that of
// a leg whose streams are drained already.
func (l *leg) leave(cancel bool) {
	if l.phase != over {
		l.end(errLeft)
	}
	if !cancel || l.terminal() || l.readers == nil {
		l.drain()
		return
	}
	l.releaseFirst()         // or its subscription would say nothing more
	l.agent.legs.Go(func() { // ends with what the agent says next, or with it
		l.cancelLeft()
		l.drain()
	})
}

// passTo ends the leg, since r, a message to its task, begins the next: r has its streams then, and
// whether they have said something that no look has shown, or a look was under way. It returns the look
// that is kept. A leg that is over is drained, and passes nothing.
func (l *leg) passTo(r *request) glance {
	if l.phase == over {
		l.drain()
		return glance{}
	}
	r.owes = l.owes || l.first != nil || l.looks.underWay() || l.clock.stop(atHint)
	l.end(errLeft)
	l.stop()
	l.releaseFirst()
	r.readers, l.readers = l.readers, nil
	return l.glance
}

// drainOver drains a leg that is over, but where the editor has failed: there its turn leaves it, and cancels
// its task by what the streams say.
func (l *leg) drainOver() {
	if l.phase == over && l.unshown == nil {
		l.drain()
	}
}

// drain ends what a leg that is over waits for, such as a look, and drains its streams, where it has not
// done so before.
func (l *leg) drain() {
	l.stop()
	l.releaseFirst()
	if l.readers != nil {
		l.readers.close()
		l.readers = nil
	}
}

// leftByTurn is why cancelLeft cancels a task.
const leftByTurn = "the turn has left it"

// cancelLeft cancels the task of a leg that its turn has left, once, when it says something
// more, and returns then, or when nothing can come any more.
func (l *leg) cancelLeft() {
	for awaited := l.heardAt.IsZero() && l.request.send != nil; awaited || l.live != nil || l.sub != nil; {
		select {
		case b := <-l.readers.batches:
			switch r := b.reply; {
			case r == nil:
				if l.cancelBy(b) {
					return
				}
			case r.leg != l:
			case r.then != nil: // a slash command, which has become a task
				_, _ = l.agent.cancelTask(l.ctx, r.taskID, leftByTurn)
				return
			default:
				if awaited = awaited && r.from != fromSend; r.reader != nil { // a subscription's, too
					l.live = l.readers.add(r.reader)
				}
			}
		case <-l.ctx.Done():
			return
		}
	}
}

// cancelBy takes what a stream of such a leg has brought, and cancels the task if it has an ID
// and goes on. True: that was all, since it was cancelled, is over, or its stream has ended.
func (l *leg) cancelBy(b batch) bool {
	own := b.reader == l.live || b.reader == l.sub
	for i := range b.events {
		if l.noteEvent(&b.events[i]); own {
			l.state = a2a.State(strings.Clone(string(b.events[i].State)))
		}
	}
	l.readers.readOn(b)
	ends := b.err != nil || l.state.Terminal()
	if own && !ends && l.taskID != "" {
		_, _ = l.agent.cancelTask(l.ctx, l.taskID, leftByTurn)
	}
	return own && (ends || l.taskID != "")
}
