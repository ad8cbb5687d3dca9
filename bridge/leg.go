package bridge

import (
	"context"
	"time"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// brought is what a leg hands to its turn.
type brought struct {
	verb   shown.Verb          // of events
	events []a2a.Event         // valid until the turn has shown them
	conn   *mapping.Connection // what became of the connection, nil for nothing
	steps  []mapping.Step      // that are shown as they are
}

// A leg is what follows from one request to the agent, over as many streams as that takes. It runs
// in its turn's goroutine, which takes what comes to it ([leg.await]), one at a time: that becomes
// an input of the machine (machine.go), whose action it takes. What the agent says it has the turn
// show, so that a slow editor slows the agent, and it is told then what it decides by ([callFacts]).
type leg struct {
	agent   *Agent
	turn    *turn // whose it is: a pause ends one, and the next goes on
	request *request
	ctx     context.Context // of its looks, and of what waits for its loop; stop ends it. Streams are not on it
	stop    context.CancelFunc
	err     error // why it is over; nil: it is not, or has endedWell
	unshown error // the editor's: nothing more is shown, and it is over

	phase phase
	known
	readers   *readers // nil: they are drained, or passed on (leg_left.go)
	live      *reader  // its own stream, nil if it is not open
	sub       *reader  // a subscription, nil if none is open
	first     *batch   // what it has said, and is not read on behind, until a look tells whether the task is bare; nil: nothing waits
	glance    glance
	heardAt   time.Time // when its own stream has last said something, or has begun; zero: it has not
	looks     looks
	clock     clock
	pause     time.Duration // of the next tick
	words     int           // turn.words when the leg began
	patience  time.Duration // how long its streams may say nothing
	outage    outage
	refusal   *a2a.Error // the agent's answer to the message, if it has not taken that; else nil
	holds     holding
	spokeLast bool // what its own stream has said last is a message, or that nothing follows
	settling  int  // for how many questions the timer runs that has them asked
	flows     bool // its own stream was read on, and nothing has come since but text that grows: nothing new is to be decided
}

// A glance is the newest look at a task whose stream is open, until that has said its words. It is kept, since
// they may come nowhere else.
type glance struct {
	task *a2a.Event // nil: there is none
	owed bool       // it was for what an older stream has said (known.owes), which is not shown yet
	asks bool       // it, or one before, asks what the stream has not said, nor that the task waits
}

// holding is what looks have shown of what a task holds.
type holding uint8

const (
	unseen      holding = iota
	holdsWords          // something of what the agent has said
	holdsNoWord         // nothing of that, by the newest look
)

// follow makes a request, in a goroutine, and returns the leg that follows what comes of it:
// until it is over, the turn leaves it, or passes its streams on.
func (t *turn) follow(r *request) *leg {
	l := &leg{agent: t.agent, turn: t, request: r, readers: r.readers, phase: streaming, words: t.words}
	l.ctx, l.stop = context.WithCancel(t.agent.ctx)
	if l.readers == nil {
		l.readers = newReaders(t.agent.ctx)
	}
	l.known = known{taskID: r.taskID, owes: r.owes, pushes: t.session.pushes, callFacts: callFacts{moved: true}}
	if r.message == nil {
		l.progress = hasCome
	}
	l.pushes.collect()
	l.clock, l.pause, l.patience = newClock(), firstWait, liveSilence
	l.start()
	return l
}

// came says what has come to a turn.
type came uint8

const (
	ofLeg came = iota // what the leg has dealt with, or its end
	ofSilence
	ofCancel
	ofCancelSent // the agent was told of it, or need not be
	ofGrace      // the time after a cancel is over
	ofAnswer     // what was asked for is there
	ofExit       // the agent's process has ended
	ofSteering   // turn.steering
	ofEnd        // of the turn's context
)

// beside is what a turn waits for beside its leg; what is nil does not come.
type beside struct {
	cancel, cancelSent <-chan struct{}
	answer, exit       <-chan struct{}
	steers             <-chan *steering
}

// inputs are what can come to a leg.
type inputs struct {
	batches        <-chan batch
	clock          <-chan time.Time
	pushed, exited <-chan struct{}
}

// listens returns what may come now, and leg.flows so far, which holds for what comes next alone. Where the
// leg is over, only the turn's alarms come; where there is none, nothing.
func (l *leg) listens() (in inputs, flows bool) {
	if l == nil {
		return in, false
	}
	if in.clock = l.clock.timer.C; l.phase == over {
		return in, false
	}
	in.batches, in.pushed = l.readers.batches, l.pushes.waked()
	if l.phase != streaming { // else its stream still has what it has said last
		in.exited = l.agent.opts.Client.Exited()
	}
	flows, l.flows = l.flows, false
	return in, flows
}

// await waits for what comes next to a turn, and deals with it where it is the leg's (ofLeg);
// nil: the turn has none. A leg that is over brings nothing but the turn's alarms, and is closed.
func (l *leg) await(ctx context.Context, b beside) came {
	in, flows := l.listens()
	select {
	case b := <-in.batches:
		l.take(b, flows)
	case <-in.clock:
		switch a := l.clock.rang(); {
		case a == atSilenceNotice:
			return ofSilence
		case a == atGrace:
			return ofGrace
		case a == noAlarm: // it was put off: nothing has come
			l.flows = flows
		case l.phase != over:
			l.ring(a)
		}
	case <-in.pushed:
		l.pushed()
	case <-in.exited:
		l.end(l.agent.opts.Client.ExplainLoss(l.ctx, l.outage.why))
	case <-b.cancel:
		return ofCancel
	case <-b.cancelSent:
		return ofCancelSent
	case <-b.answer:
		return ofAnswer
	case <-b.exit:
		return ofExit
	case p := <-b.steers:
		l.turn.steering = p
		return ofSteering
	case <-ctx.Done():
		return ofEnd
	}
	l.drainOver()
	return ofLeg
}

// ring does what an alarm of the leg's is for, which has rung.
func (l *leg) ring(a alarm) {
	switch a {
	case atTick:
		l.pause = min(l.pause*2, maxWait)
		l.step(inTick)
	case atSilent:
		l.fellSilent()
	case atSettle:
		l.settled = l.asked
		l.step(inSettled)
	case atHint:
		l.look(inHint)
	}
}

// take deals with what a stream has brought, or a request of the leg's, and has the stream be
// read on, unless that waits for a look (leg.first). flows: see listens.
func (l *leg) take(b batch, flows bool) {
	switch {
	case b.reply != nil:
		if b.reply.leg == l { // else it is of the leg before, which was left just then
			l.replied(b.reply)
		}
		return
	case b.reader == l.sub:
		l.takeSubscribed(b)
	case b.reader != l.live:
		l.takeOlder(b)
	case b.err != nil:
		l.live = nil
		if l.turn.chooseCancel(l); !l.takesUpOlder(b) {
			l.endOfStream(b)
		}
	default:
		l.takeLive(b.events, flows)
	}
	if l.first == nil || l.first.reader != b.reader {
		l.readers.readOn(b)
	}
}

// give has the turn show something, as slowly as the editor takes it, and takes over what
// is known of calls then, if the stream does not flow. False: the leg is over, as the editor has failed.
func (l *leg) give(n brought) bool {
	if l.unshown != nil {
		return false
	}
	now, err := l.turn.show(l, &n)
	if !l.flows {
		l.callFacts = now
	}
	if err != nil {
		l.phase, l.err, l.unshown = over, err, err
		return false
	}
	return true
}

// giveTask gives a task that was looked at. stale: it is older than what is known, and was not
// shown; not while its stream is open, and has said that more follows its end.
func (l *leg) giveTask(v shown.Verb, task *a2a.Event) (stale, ok bool) {
	n := brought{verb: v, events: []a2a.Event{*task}}
	if stale = l.turn.countStale(task) && !(v == shown.Glance && l.finality == more); stale {
		n.events = nil
	}
	return stale, l.give(n)
}

// giveGlance shows the look that is kept (leg.glance), if one is, when its stream is not waited
// for any more. cut: that may have been about to say it, and more. False: the editor has
// failed.
func (l *leg) giveGlance(cut bool) bool {
	task := l.glance.task
	if l.glance = (glance{}); task == nil {
		return true
	}
	if cut {
		l.turn.fold.Cut()
	}
	_, ok := l.giveTask(shown.Snapshot, task)
	return ok
}

// tell shows what became of the connection.
func (l *leg) tell(c mapping.Connection) { l.give(brought{conn: &c}) }
