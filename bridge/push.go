package bridge

import (
	"context"
	"slices"
	"sync"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// Webhooks make the web addresses that an agent pushes to: see
// [Options.Webhooks]. Its methods may be called concurrently.
type Webhooks interface {
	// Open makes the address that is called name, or, for "", one that nobody has
	// had. A name that another process has made gives the same address again, with
	// what was pushed to it meanwhile if that is kept anywhere. An error means that
	// there can be no pushes now; the turn goes on without.
	Open(ctx context.Context, name string) (Webhook, error)
}

// A Webhook is one address, which is for the tasks of one session.
type Webhook interface {
	// Name is what [Webhooks.Open] finds the address by. It is no secret.
	Name() string
	// Config is what the agent is told: URL, Token and Authentication. TaskID and
	// ID are empty.
	Config() a2a.PushConfig
	// Pushes is what the agent has pushed, in the order in which it came. It is never
	// closed: its reader also waits for other things.
	Pushes() <-chan Push
	// Close ends the address. over: it is not needed any more, and what was stored of
	// it is deleted; otherwise another process may open it again. It is called once.
	Close(over bool)
}

// A Push is one request of the agent's that the receiver has checked: it came to
// an address of ours, with its token, and holds an A2A task or event.
type Push struct {
	// Payload is the body: a Task (A2A 0.3) or a StreamResponse (1.x).
	Payload []byte
	// Taken says that the turn has dealt with it. Until then it may be delivered
	// again, to this process or to the next. It is called once.
	Taken func()
}

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
	end    context.CancelFunc
	over   bool // set before end is called

	mu        sync.Mutex
	listening bool // no stream is open
	held      []Push
}

// feed follows an address.
func (a *Agent) feed(hook Webhook) *pushFeed {
	f := &pushFeed{hook: hook, config: hook.Config(), wake: make(chan struct{}, 1)}
	ctx, end := context.WithCancel(a.ctx)
	f.end = end
	f.config.ID = "a2astdio-" + hook.Name()[:min(8, len(hook.Name()))]
	a.legs.Go(func() { // ends as the type says
		defer func() { hook.Close(f.over) }()
		for {
			select {
			case p := <-hook.Pushes():
				f.got(p)
			case <-ctx.Done():
				return
			}
		}
	})
	return f
}

// close ends the feed for good: its task is over.
func (f *pushFeed) close() {
	f.over = true
	f.end()
}

func (f *pushFeed) got(p Push) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.listening {
		p.Taken()
		return
	}
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
	if f.listening = on; !on {
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
