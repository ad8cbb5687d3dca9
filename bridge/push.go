package bridge

import (
	"context"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// Webhooks make the web addresses that an agent pushes to: see
// [Options.Webhooks]. Its methods may be called concurrently.
type Webhooks interface {
	// Open makes the address that is called name, or, for "", one that nobody has
	// had. A name that another process has made gives the same address again.
	Open(name string) Webhook
}

// A Webhook is one address, which is for the tasks of one session.
type Webhook interface {
	// Name is what [Webhooks.Open] finds the address by. It is no secret.
	Name() string
	// Config is what the agent is told: URL, Token and Authentication. TaskID and
	// ID are empty.
	Config() a2a.PushConfig
	// Pushed has a token if something was pushed since Take was called.
	Pushed() <-chan struct{}
	// Take returns what the agent has pushed, in the order in which it came. The receiver has
	// checked it: it came with the token, and is an A2A task or event, a Task (A2A 0.3) or a
	// StreamResponse (1.x). It keeps the newest, if there is too much.
	Take() (payloads [][]byte)
	// Close ends the address. It is called once.
	Close()
}

// A pushFeed is what an agent pushes for one session. Events have no IDs, so an event
// that came by stream and by push cannot be recognised as one. While the stream of the leg's own
// request is open, pushes are hints (leg.takeHints) and no more; without it, see [leg.pushed]. A nil pushFeed gets nothing.
type pushFeed struct {
	hook   Webhook
	config a2a.PushConfig
	close  func() // its task is over. The agent's end does the same
}

// feed follows an address.
func (a *Agent) feed(hook Webhook) *pushFeed {
	f := &pushFeed{hook: hook, config: hook.Config()}
	f.config.ID = "a2astdio-" + hook.Name()[:min(8, len(hook.Name()))]
	stop := context.AfterFunc(a.ctx, hook.Close)
	f.close = func() {
		if stop() {
			hook.Close()
		}
	}
	return f
}

// waked has a token when something was pushed.
func (f *pushFeed) waked() <-chan struct{} {
	if f == nil {
		return nil
	}
	return f.hook.Pushed()
}

// collect returns what was pushed. What came while a stream was open comes on that, too: it is
// taken to be dropped.
func (f *pushFeed) collect() (payloads [][]byte) {
	if f == nil {
		return nil
	}
	return f.hook.Take()
}
