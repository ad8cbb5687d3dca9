package bridge

import (
	"context"

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
