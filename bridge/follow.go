package bridge

import (
	"context"
	"time"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// said is what a leg hands to its turn.
type said struct {
	verb   shown.Verb
	events []a2a.Event // valid until the turn has answered
	conn   *mapping.Connection
	cut    bool // something may have been said unheard before what comes next
	learn  bool // nothing of the events is shown: they tell which dialect the agent speaks
	quiet  bool // a look at a task whose stream is open, and brings the words
	ask    bool // what waits is all that waits: the user is asked
}

// A leg is what follows from one request to the agent, over as many streams as that takes. It is
// one goroutine, started by [Agent.follow]: what comes to it becomes an input of the machine
// (phase.go), whose action it takes. What it hands over the turn answers with all that the leg
// knows of the fold; it has no queue, so that a slow editor slows the agent.
type leg struct {
	agent   *Agent
	request *request
	out     chan said
	back    chan heard
	orders  chan order
	replies chan reply
	ended   chan struct{} // closed when nothing more comes; err may be read then
	gone    chan struct{} // closed when nothing is awaited any more
	err     error         // nil if the agent has said that the leg is over

	phase phase
	known
	taskID   string
	readers  *readers
	live     *reader    // its own stream, while it is open
	sub      *reader    // a subscription
	first    *batch     // its first events, which wait for the look that tells whether the task is bare
	held     *a2a.Event // the newest look at a task whose stream is open
	came     time.Time  // when its own stream has last said something
	refresh  refresh
	timers   timers
	outage   outage
	opened   bool // its own stream has said something
	moves    bool // and a state other than that in which the task stood
	hungUp   bool
	refused  bool // the agent's answer to the message is an error: it has not taken it
	left     left
	bare     bool // the newest look has shown that the task holds nothing of what the agent has said
	keeps    bool // a look has shown that the task holds something of what the agent has said
	settling int  // the number of questions for which the timer runs
	asLast   bool // its own stream was read on, and nothing else has come since
}

// timers are those of a leg's loop.
type timers struct {
	tick, silent, settle *time.Timer
	pause                time.Duration // of the next tick
	patience             time.Duration // of silent
	grown                time.Time     // when a text has last grown, if silent was not set anew for it
}

// An order is what the turn wants of a leg.
type order struct {
	do   func(ctx context.Context)
	done chan struct{}
}

// A reply is what a request of the leg's has brought.
type reply struct {
	from    source
	stream  *transport.Stream
	task    *a2a.Event
	taskID  string
	release func()
	took    time.Duration
	err     error
}

type source uint8

const (
	fromSend source = iota
	fromSubscribe
	fromLook
	fromProbe
)

// follow makes a request and follows what comes of it.
func (a *Agent) follow(r *request) *leg {
	l := &leg{agent: a, request: r, taskID: r.taskID, readers: r.readers, out: make(chan said), back: make(chan heard), orders: make(chan order),
		replies: make(chan reply), ended: make(chan struct{}), gone: make(chan struct{})}
	if l.readers == nil {
		l.readers = newReaders()
	}
	l.known = known{arrived: r.message == nil, heard: heard{moved: true, took: true}}
	l.owes = r.owes
	r.pushes.listen(false)
	a.legs.Go(func() { // ends as the type says
		l.run(a.ctx)
		l.err = l.explain(l.err)
		close(l.ended)
		if l.left == leftToCancel {
			l.abandon(a.ctx)
		}
		if close(l.gone); l.left != leftToNext {
			l.readers.close()
		}
	})
	return l
}

func (l *leg) run(ctx context.Context) {
	ctx, stop := context.WithCancel(ctx)
	defer stop() // ends what was asked, and is not needed any more
	l.timers = timers{tick: stopped(), silent: stopped(), settle: stopped(), pause: firstWait, patience: liveSilence}
	l.begin(ctx)
	defer l.goOn()
	for l.phase != over {
		var exited <-chan struct{}
		if l.phase != streaming { // else its stream still has what it has said last
			exited = l.agent.opts.Client.Exited()
		}
		asLast := l.asLast
		l.asLast = false
		select {
		case b := <-l.readers.batches:
			if l.take(ctx, b, asLast); l.first == nil || l.first.reader != b.reader {
				l.readers.goOn(b)
			}
		case r := <-l.replies:
			l.replied(ctx, r)
		case <-l.timers.tick.C:
			l.step(ctx, inTick)
		case <-l.timers.silent.C:
			if rest := l.timers.patience - time.Since(l.timers.grown); rest > 0 {
				l.asLast = asLast
				l.silentIn(rest)
			} else {
				l.silence(ctx)
			}
		case <-l.timers.settle.C:
			l.settling, l.settled = 0, l.asked
			l.step(ctx, inSettled)
		case <-l.request.pushes.waked():
			l.pushed(ctx)
		case o := <-l.orders:
			l.obey(ctx, o)
		case <-exited:
			l.fail(l.agent.opts.Client.ExplainLoss(ctx, l.outage.why))
		case <-ctx.Done():
			l.fail(ctx.Err())
		}
	}
}

func stopped() *time.Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}

// fail ends the leg; nil: as the agent has said.
func (l *leg) fail(err error) {
	l.phase, l.err = over, err
}

// begin makes the leg's request.
func (l *leg) begin(ctx context.Context) {
	if l.request.send == nil {
		l.phase = refreshing
		l.request.pushes.listen(true)
		l.step(ctx, inTick)
		return
	}
	l.patience(liveSilence)
	go func() { // ends with the answer's beginning, or with the agent
		stream, taskID, release, err := l.reach(ctx)
		l.answer(reply{from: fromSend, stream: stream, taskID: taskID, release: release, err: err})
	}()
}

// answer gives the loop what a request has brought.
func (l *leg) answer(r reply) {
	select {
	case l.replies <- r:
	case <-l.gone:
		if r.stream != nil {
			r.stream.Drain()
		}
		if r.release != nil {
			r.release()
		}
	}
}

func (l *leg) replied(ctx context.Context, r reply) {
	switch r.from {
	case fromSend:
		l.sent(ctx, r)
	case fromSubscribe:
		l.subscribed(ctx, r)
	case fromLook:
		l.looked(ctx, r)
	case fromProbe:
		l.refuses(ctx, r.err)
	}
}

// sent takes the beginning of the answer to the leg's request.
func (l *leg) sent(ctx context.Context, r reply) {
	if r.taskID != "" {
		l.taskID = r.taskID
	}
	if r.err != nil {
		if r.release != nil {
			r.release()
		}
		l.unanswered(ctx, r.err)
		return
	}
	if r.stream == nil { // there is nothing to follow
		l.fail(nil)
		return
	}
	stream := l.readers.read(r.stream, newIdleGuard(r.stream, l.agent.opts.IdleTimeout), r.release)
	switch {
	case l.request.message == nil && l.request.taskID != "":
		l.sub, l.followed, l.phase = stream, true, refreshing
		l.patience(subscriptionSilence)
	case l.phase == streaming:
		l.live, l.came = stream, time.Now()
		l.patience(liveSilence)
	}
}

// take takes what a stream has brought.
func (l *leg) take(ctx context.Context, b batch, asLast bool) {
	switch {
	case b.reader == l.sub:
		l.takeSubscribed(ctx, b)
	case b.reader != l.live || l.phase != streaming:
		l.takeOlder(ctx, b)
	case b.err != nil:
		l.live = nil
		l.endOfStream(ctx, b)
	default:
		l.takeLive(ctx, b.events, asLast)
	}
}

// watchCalls has the user asked when calls have waited for a while.
func (l *leg) watchCalls() {
	switch {
	case l.phase == over || !l.waits:
		l.timers.settle.Stop()
		l.settling = 0
	case l.settling != l.asked+1:
		l.settling = l.asked + 1
		l.timers.settle.Reset(approvalSettle)
	}
}

// step has the machine decide about an input, and does what it says.
func (l *leg) step(ctx context.Context, in input) action {
	if l.phase == over {
		return doEnd
	}
	unsupported := l.agent.opts.Client.Unsupported()
	l.named, l.followed, l.follows, l.pushes = l.taskID != "", l.sub != nil || l.refresh.subscribing, !unsupported.Subscribe, l.request.pushes != nil
	before := l.phase
	p, do := next(l.phase, &l.known, in)
	if l.phase = p; before == streaming && (p == lost || p == refreshing) {
		l.request.pushes.listen(true)
	}
	l.act(ctx, in, do)
	return do
}

func (l *leg) act(ctx context.Context, in input, do action) {
	switch do {
	case doRead:
		if in >= inSnapshot {
			l.beMorePatient()
		}
	case doLook:
		if in == inSilent {
			l.beMorePatient()
		}
		l.look(ctx, in)
	case doFollow:
		l.subscribe(ctx)
	case doLater:
		l.later()
	case doAsk:
		l.timers.settle.Stop()
		l.settling, l.settled = 0, l.asked
		l.give(ctx, said{ask: true})
		l.patience(l.timers.patience)
	case doSoon:
		if in == inSnapshot {
			l.patience(moreSilence)
			l.done = true
		}
	case doLeave:
		l.live = nil
		if l.giveHeld(ctx, true) {
			l.later()
		}
	case doEnd:
		if !l.giveHeld(ctx, l.done) {
			return
		}
		l.fail(nil)
	case doGiveUp:
		l.fail(l.givenUp(ctx, in))
	case doUnsent:
		l.fail(&undeliveredError{l.taskID, l.outage.begun})
	}
}

// giveHeld shows what a look at the task has held back, when its own stream is not waited for
// any more. cut: that may have been about to say it, and more (E10).
func (l *leg) giveHeld(ctx context.Context, cut bool) bool {
	task := l.held
	if l.held = nil; task == nil {
		return true
	}
	return l.give(ctx, said{cut: cut}) && l.give(ctx, said{verb: shown.Snapshot, events: []a2a.Event{*task}})
}

// give hands something to the turn, and takes what that knows then; false: the leg is over.
func (l *leg) give(ctx context.Context, n said) bool {
	for out := l.out; ; {
		select {
		case out <- n:
			out = nil // the turn shows it
		case l.heard = <-l.back:
			return true
		case o := <-l.orders:
			l.obey(ctx, o)
			if l.phase == over {
				return false
			}
		case <-ctx.Done():
			l.fail(ctx.Err())
			return false
		}
	}
}

// tell reports what became of the connection.
func (l *leg) tell(ctx context.Context, c mapping.Connection) { l.give(ctx, said{conn: &c}) }
