package bridge

import (
	"slices"
	"sync"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// maxHeldPushes is how many pushes wait until the task is asked for. More are not
// needed: any one of them is reason enough.
const maxHeldPushes = 64

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
	since     int // how many came since listening began
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
		f.held = slices.Delete(f.held, 0, 1)
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
		f.held = nil
	}
}

// waked has a token when something was pushed while no stream was open.
func (f *pushFeed) waked() <-chan struct{} {
	if f == nil {
		return nil
	}
	return f.wake
}

// hasPushed reports whether the agent has pushed since the stream was lost.
func (f *pushFeed) hasPushed() bool {
	if f == nil {
		return false
	}
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

// takeHeld returns what is held.
func (f *pushFeed) takeHeld() (held []Push) {
	f.mu.Lock()
	defer f.mu.Unlock()
	held, f.held = f.held, nil
	return held
}

func taken(pushes []Push) {
	for _, p := range pushes {
		p.Taken()
	}
}
