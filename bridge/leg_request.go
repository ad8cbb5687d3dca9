package bridge

import (
	"errors"
	"strings"
	"time"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file has how the request of a leg is made, and how its turn leaves it.

// A reply is what a request of the leg's has brought.
type reply struct {
	leg  *leg
	from source
	begun
	reader *reader       // of a stream, which is read once the loop has taken the reply; nil: there is none
	task   *a2a.Event    // that a look has brought
	took   time.Duration // a look
	err    error
}

type source uint8

const (
	fromSend source = iota
	fromSubscribe
	fromLook
)

// start makes the leg's request, in a goroutine, or, where it has none, goes on as behind a cut.
func (l *leg) start() {
	if l.request.send == nil {
		l.phase = away
		l.step(inTick)
		return
	}
	l.wait(liveSilence)
	go l.runRequest(l.readers, l.reach)
}

// runRequest is a request's goroutine: it makes it, gives the loop what it has brought, and
// reads its stream, so that the first words wait for no other. It ends as [readers.run] says.
// readers are the leg's, which has none when it is over.
func (l *leg) runRequest(readers *readers, request func() reply) {
	deepen()
	r := request()
	switch taken := l.handOver(readers, r); {
	case r.reader == nil:
	case taken:
		readers.run(r.reader)
	default:
		r.reader.drain()
	}
}

// handOver gives the loop what a request has brought, and blocks until it is taken, by the next leg
// perhaps, which drops it; false: nobody takes it any more.
func (l *leg) handOver(readers *readers, r reply) bool {
	r.leg = l
	select {
	case readers.batches <- batch{reply: &r}:
		return true
	case <-l.ctx.Done():
		return false
	}
}

// replied deals with what a request of the leg's has brought.
func (l *leg) replied(r *reply) {
	switch r.from {
	case fromSend:
		l.sent(r)
	case fromSubscribe:
		l.subscribed(r)
	case fromLook:
		l.looked(r)
	}
}

// sent deals with the beginning of the answer to the leg's request: a stream, which becomes its
// own or a subscription, an error, another request, or nothing to follow, which ends it well.
func (l *leg) sent(r *reply) {
	if r.taskID != "" {
		l.taskID = r.taskID
	}
	if len(r.steps) > 0 && !l.give(brought{steps: r.steps}) {
		return
	}
	if r.then != nil {
		l.turn.execution, l.request.send = r.execution, r.then
		l.start()
		return
	}
	if r.err != nil {
		l.unanswered(r.err)
		return
	}
	if r.reader == nil { // there is nothing to follow
		l.end(nil)
		return
	}
	stream := l.readers.add(r.reader)
	switch {
	case l.request.message == nil && l.request.taskID != "":
		l.sub, l.subscription, l.phase = stream, subOpen, away
		l.wait(subscriptionSilence)
	case l.phase == streaming:
		l.live, l.heardAt = stream, time.Now()
		l.wait(liveSilence)
	}
}

// reach makes the leg's request, and returns when its answer has begun. An answer to a question
// that was certainly not delivered is sent again for a while: the task waits for it.
func (l *leg) reach() (r reply) {
	r = l.agent.opens(true, l.request.send)
	for tries, pause := 0, firstWait; l.request.answers && tries < maxTries && isUndelivered(r.err); tries, pause = tries+1, pause*2 {
		select {
		case <-time.After(pause):
		case <-l.agent.opts.Client.Exited():
			return reply{err: l.agent.opts.Client.ExplainLoss(l.ctx, r.err)}
		case <-l.ctx.Done():
			return reply{err: l.ctx.Err()}
		}
		r = l.agent.opens(true, l.request.send)
	}
	return r
}

// errLeft is the error of a leg that was left, or has passed its streams on. Nobody is told it.
var errLeft = errors.New("its turn has left the leg")

// leave ends the leg for its turn, which may do so at any time: its streams are drained,
// because closing a connection makes some agents cancel work. cancel: the task, if it has not
// ended, is cancelled as soon as it says something more, and has an ID. A leg that is over is
// only closed, unless its editor has failed.
func (l *leg) leave(cancel bool) {
	cancels := cancel && (l.phase != over || l.unshown != nil) && !l.terminal()
	if l.phase != over {
		l.end(errLeft)
	}
	if !cancels || l.readers == nil {
		l.close()
		return
	}
	// Else its subscription would not be read on, and say nothing more.
	l.releaseFirst()
	l.agent.legs.Go(func() { // ends with what the agent says next, or with it
		l.cancelLeft()
		l.close()
	})
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

// detach ends the leg, since a message goes to its task, and returns for the next leg its
// streams; the look that is kept, nil for none; and whether its streams have said something
// that no look has shown, or a look was under way. A leg that is over is closed, and has none.
func (l *leg) detach() (streams *readers, glance *a2a.Event, owes bool) {
	if l.phase == over {
		l.close()
		return nil, nil, false
	}
	owes = l.owes || l.first != nil || l.refresh.looks() || l.clock.stop(atHint)
	l.end(errLeft)
	return l.halt(), l.glance, owes
}

// endedWell reports whether there is a leg that is over without an error: the agent is done, or
// was hung up on; there was nothing to follow; or it is given up without one (givenUp).
func (l *leg) endedWell() bool { return l != nil && l.phase == over && l.err == nil }

// hasEnded reports whether the leg is over, well or not.
func (l *leg) hasEnded() bool { return l.phase == over }
