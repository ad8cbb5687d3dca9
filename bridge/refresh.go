package bridge

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file looks at the task. Behind a cut nothing that a subscription says is read for its
// words: its first task is a snapshot, and whatever else it says means "look now", as a push does,
// and a stream of an older request. So the stream, the timer and the push are one path, on which
// text that repeats itself needs no alignment, for which A2A has no offsets.

const (
	// subscriptionSilence is how long a subscription may say nothing before the task is looked
	// at: trpc's says nothing when the task is over, and Go 0.3's nothing of what was before.
	subscriptionSilence = 4 * time.Second
	// hintPause is the least time between two looks that are caused by hints, which come with
	// each token; besides, looks take a tenth of the time at most. Looks that decide something
	// (an end, a timer, silence) are not held back.
	hintPause = 250 * time.Millisecond
	hintShare = 9
	// overPatience is how long looks may not show an end that subscriptions tell.
	overPatience = 15 * time.Second
	// lookTime is how long a look may take.
	lookTime = 10 * time.Second
	// firstWait is the wait before the first attempt to go on behind a cut; each further one
	// waits twice as long, up to maxWait.
	firstWait = time.Second
	maxWait   = 16 * time.Second
	// allHistory asks for the whole of a task's history. Without a length, the SDK for
	// JS and Gemini's server send none of it; 0 means none to some agents and all to
	// others.
	allHistory = 1 << 20
)

// refresh is what a leg knows of its looks at the task.
type refresh struct {
	looking     bool // one is under way, since began
	again       bool // and another is wanted
	began       time.Time
	subscribing bool          // a subscription is asked for
	counts      bool          // the next one counts: the timer or silence has caused it, no hint (E18)
	polled      bool          // the agent has answered without a stream: none was lost
	told        bool          // that the task is asked for since it cannot be followed
	overAt      time.Time     // when a subscription has first said that the task is over
	said        bool          // the subscription has said something
	at          time.Time     // of the newest
	took        time.Duration // what it took
	length      int           // of the task that it has brought
	named       bool          // a history has named the leg's message
}

// look asks for the task, because of an input. A hint may have to wait.
func (l *leg) look(ctx context.Context, in input) {
	f, hinted := &l.refresh, in == inHint
	switch {
	case l.taskID == "":
		return
	case l.agent.opts.Client.Lacks().Get:
		if !hinted {
			l.cannotLook(ctx, in == inSilent)
		}
		return
	case f.looking:
		f.again = f.again || !hinted && l.came.After(f.began)
		return
	}
	var wait time.Duration
	if hinted && !f.at.IsZero() {
		wait = max(hintPause, hintShare*f.took) - time.Since(f.at)
	}
	f.looking, f.began = true, time.Now()
	f.counts = f.counts || in == inSilent || in == inEvent
	taskID := l.taskID
	go func() { // ends with ctx, or with the look
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
		began := time.Now()
		looking, stop := context.WithTimeout(ctx, lookTime)
		defer stop()
		task, err := l.agent.opts.Client.Get(looking, taskID, allHistory)
		l.answer(reply{from: fromLook, task: task, taskID: taskID, took: time.Since(began), err: err})
	}()
}

// looked takes what a look has brought.
func (l *leg) looked(ctx context.Context, r reply) {
	f := &l.refresh
	f.looking, f.at, f.took = false, time.Now(), r.took
	agentErr := (*a2a.Error)(nil)
	switch refused := errors.As(r.err, &agentErr); {
	case r.err == nil:
		l.tries, l.outage.refusedAt = 0, time.Time{}
		l.takeSnapshot(ctx, r.task)
	case ctx.Err() != nil:
	case errors.Is(r.err, transport.ErrExited), refused && agentErr.Unauthenticated():
		l.fail(r.err)
	case refused && agentErr.Code == a2a.CodeTaskNotFound:
		l.outage.why = &taskLostError{l.taskID, agentErr}
		l.step(ctx, inGone)
	case refused && isFinal(r.err):
		l.cannotLook(ctx, false)
	default:
		l.tries++
		if l.outage.why = r.err; refused { // for example a gateway's 502, which is not the agent's answer
			l.outage.why = &cutError{r.err.Error()}
		}
		if f.polled { // now something was lost
			f.polled, f.told = false, false
			l.lose(ctx)
		}
		if l.refuses(ctx, r.err); l.phase != over {
			l.step(ctx, inFailed)
		}
	}
	if l.first != nil && l.phase != over {
		l.takeBare(ctx, l.first.events)
		l.goOn()
	}
	if f.again && l.phase != over {
		f.again = false
		l.look(ctx, inEvent)
	}
}

// cannotLook is look at an agent without tasks/get.
func (l *leg) cannotLook(ctx context.Context, silent bool) {
	gone := l.sub == nil && !l.refresh.subscribing
	if gone {
		l.tries++ // a subscription that ends without a word may do so for ever (R7)
	}
	if !l.arrived && (gone || silent) {
		l.unheard++
	}
	l.step(ctx, inCannot)
}

// takeSnapshot takes the task as it is.
func (l *leg) takeSnapshot(ctx context.Context, task *a2a.Event) {
	open := l.phase == streaming && (l.live != nil || !l.opened)
	if !l.give(ctx, said{verb: shown.Snapshot, events: []a2a.Event{*task}, quiet: open && !l.own}) {
		return
	}
	l.owes, l.stale, l.bare = false, l.stale && task.State != l.state, l.partial && isBare(task)
	l.told = !l.refresh.overAt.IsZero() && time.Since(l.refresh.overAt) > overPatience
	l.compareLooks(task, open)
	if l.arrives(task); l.arrived && !l.stale {
		l.noteTask(task)
	}
	if l.refresh.counts {
		l.refresh.counts = false
		l.count(task)
	}
	if l.step(ctx, inSnapshot); l.settled != l.asked {
		l.watchCalls()
	}
}

// compareLooks notes whether the task grows while its stream says nothing, and keeps it until the
// stream has said its words.
func (l *leg) compareLooks(task *a2a.Event, open bool) {
	if !open {
		l.grown, l.held = 0, nil
		return
	}
	if l.refresh.length > 0 && len(task.Raw) > l.refresh.length && l.held != nil {
		l.grown++
	}
	l.refresh.length, l.held = len(task.Raw), task
}

// count counts looks that tell nothing new. Hints cause too many of them at once.
func (l *leg) count(task *a2a.Event) {
	if !l.arrived {
		l.unheard++
	}
	switch {
	case !l.arrived || !l.waitsForInput():
	case !l.moved, l.executes && l.own && l.phase != streaming:
		l.stood += standing
	case l.executes && l.phase != streaming:
		l.stood++
	}
	if task.State == a2a.StateAuthRequired && !l.refresh.subscribing {
		l.auths++
	}
}

// later starts the timer of the next attempt.
func (l *leg) later() {
	d := l.timers.pause
	switch {
	case l.request.pushes.hasPushed() && l.arrived && !l.waitsForInput(): // it tells when there is something
		d = maxWait
	}
	l.timers.pause = min(l.timers.pause*2, maxWait)
	d = d*9/10 + rand.N(d/5+1) // so that a restarted agent is not met by all its editors at once
	if !l.outage.refusedAt.IsZero() && l.request.pushes == nil {
		d = min(d, max(maxRefused-time.Since(l.outage.refusedAt), 0))
	}
	l.timers.tick.Reset(d)
}

// subscribe follows the task, or looks at it where that cannot be.
func (l *leg) subscribe(ctx context.Context) {
	l.refresh.counts = true
	if l.outage.attempt++; !l.refresh.polled && l.outage.why != nil {
		l.tell(ctx, mapping.Connection{Phase: mapping.PhaseRetrying, Attempt: l.outage.attempt, Why: l.outage.why.Error()})
	}
	switch {
	case l.phase == over:
		return
	case l.sub != nil || l.refresh.subscribing:
		l.look(ctx, inTick)
		return
	case !l.subscribes(ctx):
		l.looksOnly(ctx)
		return
	}
	taskID := l.taskID
	l.refresh.subscribing, l.refresh.said = true, false
	l.patience(subscriptionSilence)
	go func() { // ends with the answer's beginning, or with the agent
		stream, err := l.agent.opts.Client.Resubscribe(l.agent.ctx, taskID)
		l.answer(reply{from: fromSubscribe, stream: stream, err: err})
	}()
}

// looksOnly is subscribe at an agent that cannot be subscribed to.
func (l *leg) looksOnly(ctx context.Context) {
	if !l.refresh.polled && !l.refresh.told {
		l.refresh.told = true
		l.tell(ctx, mapping.Connection{Phase: mapping.PhasePolling})
	}
	l.look(ctx, inTick)
}

// subscribes reports whether the agent may take a subscription: not if it has answered
// without a stream, and its card does not say that it has streams.
func (l *leg) subscribes(ctx context.Context) bool {
	if l.agent.opts.Client.Lacks().Subscribe {
		return false
	}
	if !l.refresh.polled {
		return true
	}
	card, err := l.agent.opts.Client.Card(ctx) // it is there
	return err != nil || card.Streaming
}

// subscribed takes the beginning of a subscription.
func (l *leg) subscribed(ctx context.Context, r reply) {
	l.refresh.subscribing = false
	if r.err == nil {
		l.sub, l.refresh.said = l.readers.read(r.stream, newIdleGuard(r.stream, l.agent.opts.IdleTimeout), nil), false
		l.patience(subscriptionSilence)
		return
	}
	if errors.Is(r.err, transport.ErrExited) {
		l.fail(r.err)
		return
	}
	l.outage.refusal = r.err
	if agentErr := (*a2a.Error)(nil); l.agent.opts.Client.Lacks().Get {
		if l.outage.why = r.err; errors.As(r.err, &agentErr) && agentErr.Code == a2a.CodeTaskNotFound {
			l.step(ctx, inGone)
			return
		}
	}
	if l.refuses(ctx, r.err); l.phase == over {
		return
	}
	if !l.refresh.polled && !l.refresh.told {
		l.refresh.told = true
		l.tell(ctx, mapping.Connection{Phase: mapping.PhasePolling})
	}
	l.step(ctx, inSubClosed)
}

// takeSubscribed takes what a subscription has brought.
func (l *leg) takeSubscribed(ctx context.Context, b batch) {
	if b.err != nil {
		l.sub = nil
		if l.outage.why = b.err; isEnd(b.err) {
			l.outage.why = errMiddle
		}
		l.step(ctx, inSubClosed)
		return
	}
	f := &l.refresh
	events, first := b.events, !f.said
	f.said, f.told, f.polled, l.outage.attempt, l.timers.pause = true, false, false, 0, firstWait
	l.tries, l.outage.refusedAt = 0, time.Time{}
	l.timers.tick.Stop()
	l.patience(subscriptionSilence)
	for i := range events {
		if l.note(&events[i]); f.overAt.IsZero() && events[i].State.Terminal() && !events[i].MoreFollows {
			f.overAt = time.Now()
		}
	}
	// A task at its beginning, of one that is beyond it, begins what some agents say all over.
	atBeginning := events[0].State == a2a.StateSubmitted && (l.request.beyond || l.state != "" && l.state != a2a.StateSubmitted || l.request.was.State != "")
	if first && events[0].Kind == a2a.EventTask && !atBeginning {
		l.takeSnapshot(ctx, &events[0])
		events, first = events[1:], false
	}
	switch {
	case len(events) == 0 || l.phase == over:
	case l.agent.opts.Client.Lacks().Get:
		l.takeReplayed(ctx, events)
		l.step(ctx, inCannot)
		l.watchCalls()
	case l.bare:
		l.takeBare(ctx, events)
		l.step(ctx, inHint)
	default:
		if first {
			l.first = &b
		}
		if !l.speaks { // else its task may be read without its dialect (codex-a2a)
			l.give(ctx, said{verb: shown.Replayed, events: events, learn: true})
		}
		l.step(ctx, inHint)
	}
}

// takeBare shows what a subscription says of an agent whose task holds nothing that it says: no
// look can bring it, and none can double it.
func (l *leg) takeBare(ctx context.Context, events []a2a.Event) {
	if l.bare {
		l.give(ctx, said{verb: shown.Replayed, events: events})
	}
}

// goOn has the subscription go on whose first events have waited.
func (l *leg) goOn() {
	if l.first != nil {
		l.readers.goOn(*l.first)
		l.first = nil
	}
}

// takeReplayed takes events that may repeat what was heard, of an agent that cannot be asked.
func (l *leg) takeReplayed(ctx context.Context, events []a2a.Event) {
	if !l.give(ctx, said{verb: shown.Replayed, events: events}) {
		return
	}
	for i := range events {
		if ev := &events[i]; ev.State != "" && !l.request.was.Was(ev) {
			l.arrived = true
		}
	}
	if l.arrived {
		l.noteState(events, false)
	}
}

// pushed takes what the agent has pushed while no stream of its own was open: it is a reason to
// look. Where the agent cannot be asked, or does not answer, it is the word itself (R6).
func (l *leg) pushed(ctx context.Context) {
	held := l.request.pushes.takeHeld()
	if l.phase == streaming || len(held) == 0 {
		taken(held)
		return
	}
	if l.agent.opts.Client.Lacks().Get || l.tries > 0 {
		for _, p := range held {
			ev := transport.ReadPushed(p.Payload)
			if ev.Kind == a2a.EventUnknown || ev.TaskID != l.taskID || l.request.was.Was(ev) {
				continue
			}
			if l.takeReplayed(ctx, []a2a.Event{*ev}); l.phase == over {
				return
			}
			if ev.State.Terminal() {
				taken(held)
				l.step(ctx, inSnapshot)
				return
			}
		}
		l.watchCalls()
	}
	taken(held)
	if slices.ContainsFunc(held, l.tellsOfRest) {
		// What the agent says of the task may be older than what it pushes, and no push may
		// come any more.
		l.request.pushes.forget()
		l.timers.pause = firstWait
	}
	l.step(ctx, inHint)
}

// tellsOfRest reports whether a push says that the leg's task has ended, or waits.
func (l *leg) tellsOfRest(p Push) bool {
	ev := transport.ReadPushed(p.Payload)
	return ev.TaskID == l.taskID && (ev.State.Terminal() || ev.State == a2a.StateInputRequired || ev.State == a2a.StateAuthRequired)
}
