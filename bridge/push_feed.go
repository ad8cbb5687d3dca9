package bridge

import (
	"context"
	"errors"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

const (
	// maxHeldPushes is how many pushes wait until the task is asked for. More are not
	// needed: any one of them is reason enough.
	maxHeldPushes = 64
	// pushPause is the least time between two requests for a task that is pushed: some
	// agents push each token.
	pushPause = 250 * time.Millisecond
)

// A pushFeed is what an agent pushes for one session. Events have no IDs, so an event
// that came by stream and by push cannot be recognised as one. While a stream is open,
// pushes are acknowledged and ignored; without one, a push is a reason to ask for the
// task. A nil pushFeed gets nothing.
//
// Its goroutine reads the address. It ends with close, or with the Agent.
type pushFeed struct {
	hook   Webhook
	config a2a.PushConfig
	wake   chan struct{} // has one if something is held
	ended  chan struct{} // closed by close
	over   bool          // set before ended is closed

	mu        sync.Mutex
	listening bool // no stream is open
	held      []Push
	dropped   bool // more came than was held
	since     int  // how many came since listening began
	all       int
	agent     *Agent
}

// feed follows an address.
func (a *Agent) feed(hook Webhook) *pushFeed {
	f := &pushFeed{hook: hook, config: hook.Config(), wake: make(chan struct{}, 1), ended: make(chan struct{}), agent: a}
	a.addresses.Add(1)
	f.config.ID = "a2astdio-" + hook.Name()[:min(8, len(hook.Name()))]
	a.legs.Go(func() { // ends as the type says
		defer func() { hook.Close(f.over) }()
		for {
			select {
			case p := <-hook.Pushes():
				f.got(p)
			case <-f.ended:
				return
			case <-a.ctx.Done():
				return
			}
		}
	})
	return f
}

// close ends the feed for good: its task is over.
func (f *pushFeed) close() {
	f.over = true
	f.agent.addresses.Add(-1)
	close(f.ended)
}

func (f *pushFeed) got(p Push) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all++
	f.agent.pushed.Add(1)
	if !f.listening {
		p.Taken()
		return
	}
	f.since++
	if len(f.held) == maxHeldPushes {
		f.held[0].Taken()
		f.held, f.dropped = slices.Delete(f.held, 0, 1), true
	}
	f.held = append(f.held, p)
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// listen sets whether pushes count, because no stream is open. Pushes that are held
// when a stream opens are dropped: their events come on it.
func (f *pushFeed) listen(on bool) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if on == f.listening {
		return
	}
	f.listening, f.since = on, 0
	if !on {
		taken(f.held)
		f.held, f.dropped = nil, false
	}
}

// pushes reports whether the agent has pushed since the stream was lost.
func (f *pushFeed) pushes() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.since > 0
}

// forget forgets that the agent has pushed, so that nobody waits for the next push.
func (f *pushFeed) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.since = 0
}

// takeHeld returns what is held, and whether more came than that.
func (f *pushFeed) takeHeld() (held []Push, dropped bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	held, dropped = f.held, f.dropped
	f.held, f.dropped = nil, false
	return held, dropped
}

// putBack holds pushes again that could not be dealt with.
func (f *pushFeed) putBack(held []Push) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held = append(held, f.held...)
}

func taken(pushes []Push) {
	for _, p := range pushes {
		p.Taken()
	}
}

// pause waits before the next attempt to reach the agent, as wait does, or until the
// agent pushes something; pushed says which. While the agent pushes, the attempts are
// not hurried, unless they are to show whether the task waits for more.
func (l *leg) pause(ctx context.Context, d time.Duration, why error) (pushed bool, err error) {
	if l.request.pushes == nil {
		return false, l.wait(ctx, d, why)
	}
	l.request.pushes.listen(true)
	if l.request.pushes.pushes() && !l.stands {
		d = maxWait
	}
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	waited := make(chan error, 1)
	go func() { waited <- l.wait(waiting, d, why) }() // ends with waiting
	select {
	case err := <-waited:
		return false, err
	case <-l.request.pushes.wake:
	}
	l.joining.Store(true) // until it is known what was pushed: see lookPushed
	rest := time.NewTimer(pushPause - time.Since(l.pushedAt))
	defer rest.Stop()
	select {
	case err := <-waited: // also where the leg was dropped meanwhile
		return err == nil, err
	case <-rest.C:
		return true, nil
	}
}

// lookPushed asks for the task because the agent has pushed something of it.
func (l *leg) lookPushed(ctx context.Context) (outcome, error) {
	l.pushedAt = time.Now()
	defer l.joining.Store(false)
	held, dropped := l.request.pushes.takeHeld()
	if len(held) == 0 {
		return alive, l.goesOn() // a stream has brought it meanwhile
	}
	err := l.look(ctx)
	if errors.Is(err, errCannotLook) {
		err = l.foldPushed(ctx, held, dropped)
	}
	var gone *taskLostError
	switch {
	case err != nil && (errors.Is(err, errDropped) || errors.Is(err, transport.ErrExited) || errors.As(err, &gone) || ctx.Err() != nil):
		l.request.pushes.putBack(held)
		return nothing, err
	case err != nil:
		// The agent is alive, since it pushes. The next attempt comes with the timer,
		// or the next push.
		l.request.pushes.putBack(held)
		return alive, err
	}
	taken(held)
	switch {
	case l.over, l.resting():
		l.bare = !l.polled
		return progress, nil
	case l.unheard && !l.blind:
		return alive, &undeliveredError{l.taskID, l.begun}
	}
	if slices.ContainsFunc(held, l.tellsOfRest) {
		// What the agent says of the task is older than what it pushes, and no push may
		// come any more.
		l.request.pushes.forget()
	}
	return alive, l.goesOn()
}

// tellsOfRest reports whether a push says that the leg's task has ended, or waits.
func (l *leg) tellsOfRest(p Push) bool {
	ev := transport.ReadPushed(p.Payload)
	return ev.TaskID == l.taskID && (ev.State.Terminal() || ev.State == a2a.StateInputRequired || ev.State == a2a.StateAuthRequired)
}

// foldPushed shows the pushed events themselves, for an agent that cannot be asked for
// the task. What was lost in between cannot be known; the user is told so once.
func (l *leg) foldPushed(ctx context.Context, held []Push, dropped bool) error {
	var events []a2a.Event
	subscribes := !l.agent.opts.Client.Lacks().Subscribe
	for _, p := range held {
		ev := transport.ReadPushed(p.Payload)
		// A task that had waited before, and says nothing, may be late: a subscription will tell.
		waits := subscribes && ev.State == a2a.StateInputRequired && !ev.HasMessage && l.request.was.State == a2a.StateInputRequired
		if ev.Kind == a2a.EventUnknown || ev.TaskID != l.taskID || l.request.was.Was(ev) || waits {
			continue
		}
		events = append(events, *ev)
	}
	// Pushes may overtake each other. Nothing comes behind what ends a task.
	sort.SliceStable(events, func(i, j int) bool { return !events[i].State.Terminal() && events[j].State.Terminal() })
	unsure := l.unheard && subscribes
	for i := range events {
		n := arrival{events: events[i : i+1], pushed: true}
		if !l.blind || dropped {
			n.join = joinBlind
		}
		l.older = false
		if err := l.give(ctx, n); err != nil {
			return err
		}
		if l.older {
			continue
		}
		l.looked, l.blind, dropped = true, true, false
		l.note(&events[i])
	}
	if unsure { // they may be older than the message: a subscription will tell
		l.doubt(true)
	}
	// Nor is it known what comes last where the agent waits, and works: likewise.
	l.over = l.over && !unsure && (l.resting() || !subscribes)
	return nil
}
