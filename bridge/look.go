package bridge

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file looks at the task. Behind a cut nothing that a subscription says is read for its words, if
// a look can bring them: its first task is a snapshot, and whatever else it says means "look now", as a
// push does, and a stream of an older request. So the stream, the timer and the push are one path, on which
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
	// lookTime is how long a look may take.
	lookTime = 10 * time.Second
	// firstWait is the wait before the first attempt to go on behind a cut; each further one
	// waits twice as long, up to maxWait. Looks that hints cause in between do not make it longer.
	firstWait = time.Second
	maxWait   = 16 * time.Second
)

// looks is what a leg knows of its looks at the task.
type looks struct {
	began     time.Time // when the look that is under way has begun; zero: none is
	again     input     // what asks for another one behind it; 0: nothing does
	counts    bool      // the next one counts (leg.count): the timer or silence has caused it, no hint, of which there are many
	polls     polling
	overAt    time.Time     // when a subscription has first said that the task is over; zero: none has
	firstTask time.Time     // when the newest subscription's first task has come, which overtakes a slow look
	at        time.Time     // when the newest look has ended
	took      time.Duration // what it took
	news      int           // turn.news when judge has found it changed, or has not counted
	newsAt    time.Time     // and when that was
}

// polling is why a task is asked for that cannot be followed.
type polling uint8

const (
	pollNone       polling = iota
	pollUnstreamed         // the agent has answered without a stream: none was lost
	pollTold               // that was lost, and the user knows that the task is asked for
)

// look asks for the task, in a goroutine, because of an input; nothing, while it has no ID. One look
// is under way at a time; another follows, if something has come meanwhile. A hint may have to wait.
func (l *leg) look(in input) {
	f, hinted := &l.looks, in == inHint || in == inOldEnded
	switch {
	case l.taskID == "":
		return
	case l.agent.opts.Client.Unsupported().Get:
		if !hinted {
			l.cannotLook(in == inSilent)
		}
		return
	case f.underWay(): // and may not show what was said meanwhile
		switch {
		case !hinted && l.heardAt.After(f.began):
			f.again = inEvent
		case hinted && (f.again == 0 || in == inOldEnded):
			f.again = in
		}
		return
	}
	if wait := max(hintPause, hintShare*f.took) - time.Since(f.at); in == inHint && wait > 0 {
		l.clock.set(atHint, wait)
		return
	}
	l.clock.stop(atHint)
	f.began = time.Now()
	f.counts = f.counts || in == inSilent || in == inEvent
	readers, taskID, began := l.readers, l.taskID, f.began
	go func() { // ends with l.ctx, or with the look
		looking, stop := context.WithTimeout(l.ctx, lookTime)
		defer stop()
		task, err := l.agent.opts.Client.Get(looking, taskID, transport.AllHistory)
		l.handOver(readers, reply{from: fromLook, task: task, took: time.Since(began), err: err})
	}()
}

// underWay reports whether a look is.
func (f *looks) underWay() bool { return !f.began.IsZero() }

// looked deals with what a look has brought. A task is looked at again, and not shown, where a stream
// has said something meanwhile. Of errors those decide that each look would give; others may pass.
func (l *leg) looked(r *reply) {
	f := &l.looks
	agrees := r.err == nil && l.byOwnWord() && r.task.State == l.state // with a stream that repeats that the task waits, too
	overtaken := f.firstTask.After(f.began) || l.heardAt.After(f.began) && !agrees
	f.began, f.at, f.took = time.Time{}, time.Now(), r.took
	switch refusal := a2a.ErrorOf(r.err); {
	case r.err == nil:
		l.tries, l.unknown, l.outage.unreachableSince = 0, 0, time.Time{}
		if !l.endsEarly(r.task) { // else an answer is no sign that the connection is back
			l.outage.attempt = 0
		}
		if overtaken { // a slow look: what has come since is newer
			if l.step(inHint); l.phase == streaming { // of a stream that says each few seconds that it works, too
				l.clock.set(atSilent, min(l.patience, olderSilence))
			}
			break
		}
		l.takeSnapshot(r.task)
	case errors.Is(r.err, transport.ErrExited), a2a.ErrorOf(r.err).Unauthenticated():
		l.end(r.err)
	case a2a.ErrorOf(r.err).Has(a2a.CodeTaskNotFound):
		l.outage.why = &taskLostError{l.taskID, refusal}
		l.unknown++
		l.step(inGone)
	case comesAgain(r.err):
		l.outage.why = r.err
		l.cannotLook(false)
	case hasNone(r.err), a2a.ErrorOf(r.err).Has(a2a.CodeInvalidParams) && l.byOwnWord(): // LangGraph's server wants a context, and fewer messages
		l.cannotLook(false)
	default:
		l.tries++
		if l.outage.why = r.err; refusal != nil { // for example a gateway's 502, which is not the agent's answer
			l.outage.why = &cutError{r.err.Error()}
		}
		if f.polls == pollUnstreamed { // now something was lost
			f.polls = pollNone
			l.tellCut()
		}
		l.takeFirst()
		if l.noteUnreachable(r.err); l.phase != over {
			l.step(inFailed)
		}
	}
	if in := f.again; in != 0 && l.phase != over {
		f.again = 0
		l.look(in)
	}
}

// endsEarly reports whether the agent ends each stream and subscription in the middle of a task that
// works, so that nobody hears what it says. AgentStack ends them while it waits for a sign-in, and a
// message may have been the answer.
func (l *leg) endsEarly(task *a2a.Event) bool {
	return l.outage.why == errMiddle && l.looks.polls == pollNone && task.State == a2a.StateWorking && !l.spokeLast
}

// cannotLook counts a look that cannot be, since the agent has no tasks/get, and the machine
// decides. silent: silence has asked for it.
func (l *leg) cannotLook(silent bool) {
	gone := !l.followed()
	if gone {
		l.tries++ // a subscription that ends without a word may do so for ever
	}
	if !l.arrived() && (gone || silent) {
		l.missing++
	}
	l.takeFirst()
	l.step(inCannot)
	l.watchCalls()
}

// takeSnapshot deals with the task as it is, from a look or the beginning of a subscription. It
// is shown, while its stream is open as a glance; what it tells of the state, and of the leg's
// message, is noted, unless it is older than what is known; and the machine decides.
func (l *leg) takeSnapshot(task *a2a.Event) {
	open := l.phase == streaming
	verb := shown.Snapshot
	if open && !(l.byOwnWord() && task.State == l.state) { // else that has said all
		verb = shown.Glance
	}
	asked, waited := l.asked, l.waitsForInput()
	if l.wentOnUnheard(task) {
		l.turn.fold.Cut()
	}
	stale, ok := l.giveTask(verb, task)
	if !ok {
		return
	}
	l.glance.owed = verb == shown.Glance && (l.owes || l.glance.owed)
	stale, l.owes = stale && task.State != l.state, false
	switch {
	case !isBare(task):
		l.holds = holdsWords
	case l.turn.fold.Partial() || l.first != nil && says(l.first.events):
		l.holds = holdsNoWord
	}
	l.takeFirst()
	l.glance.asks = l.glance.asks || open && l.asked > asked && !waited
	l.compareLooks(task, open)
	in := l.takeTask(task, stale)
	if l.looks.counts {
		l.looks.counts = false
		l.count(task)
	}
	l.judge()
	if l.step(in); l.settled != l.asked {
		l.watchCalls()
	}
}

// later sets the alarm of the next attempt. Until then silence tells nothing.
func (l *leg) later() {
	l.clock.stop(atSilent)
	d := l.pause
	d = d*9/10 + rand.N(d/5+1) // so that a restarted agent is not met by all its editors at once
	if !l.outage.unreachableSince.IsZero() && l.pushes == nil {
		d = min(d, max(maxUnreachable-time.Since(l.outage.unreachableSince), 0))
	}
	l.clock.set(atTick, d)
}
