package bridge

import (
	"time"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file has how the request of a leg is made.

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
