package webhook

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"strings"
	"sync"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

const (
	// maxQueued is how many pushes wait for one turn, maxQueuedBytes what all of
	// them may weigh. A turn takes them at once, unless the editor is slow.
	maxQueued      = 64
	maxQueuedBytes = 16 << 20
	// maxSeen is how many pushes of a box are remembered to know a repetition.
	maxSeen = 256
	// maxEnded is how many addresses are remembered whose task has ended: agents go
	// on pushing for a moment, and are not to take that for an error.
	maxEnded = 1024
)

// Boxes are the queues of a bridge that listens itself. They are a [Queue] for the
// [Receiver] and [bridge.Webhooks] for the bridge.
type Boxes struct {
	base  string // the public URL that names are put behind
	signs bool   // the agent signs: Authorization is its own

	mu    sync.Mutex
	bytes int // that are queued, in all boxes
	boxes map[string]*box
	ended []string // names of boxes that are closed, the oldest first
}

// NewBoxes returns boxes whose addresses begin with a URL. signs says that the agent
// authenticates itself by JWT.
func NewBoxes(base string, signs bool) *Boxes {
	return &Boxes{base: strings.TrimSuffix(base, "/"), signs: signs, boxes: map[string]*box{}}
}

// SetBase is for a URL that is known only after listening. It is called before the
// first address is opened.
func (b *Boxes) SetBase(base string) { b.base = strings.TrimSuffix(base, "/") }

// A box is one address. What it says of its owner is guarded by Boxes.mu.
type box struct {
	all    *Boxes
	name   string
	token  string
	pushes chan bridge.Push
	bytes  int // that are queued, or with the turn
	closed bool
	seen   map[string]bool
	order  []string // of seen
}

// Open implements [bridge.Webhooks]. A name that is open already gets a new one:
// two turns must not take each other's pushes.
func (b *Boxes) Open(_ context.Context, name string) (bridge.Webhook, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if old := b.boxes[name]; name == "" || old != nil && !old.closed || !isName(name) {
		name = randomName()
	}
	// The token is never the one that an earlier process had: the configuration is
	// set again, and what knew the old one knows it no more.
	x := &box{all: b, name: name, token: randomName() + randomName(), pushes: make(chan bridge.Push, maxQueued), seen: map[string]bool{}}
	b.boxes[name] = x
	return x, nil
}

// Token implements [Queue].
func (b *Boxes) Token(name string) (string, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	x := b.boxes[name]
	if x == nil {
		return "", false
	}
	return x.token, true
}

// Put implements [Queue].
func (b *Boxes) Put(_ context.Context, name, id string, payload []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	x := b.boxes[name]
	switch {
	case x == nil || x.closed, id != "" && x.seen[id]:
		return nil // without effect
	case b.bytes+len(payload) > maxQueuedBytes:
		return ErrFull
	}
	push := bridge.Push{Payload: payload, Taken: sync.OnceFunc(func() { x.release(len(payload)) })}
	select {
	case x.pushes <- push:
	default:
		return ErrFull
	}
	b.bytes += len(payload)
	x.bytes += len(payload)
	x.note(id)
	return nil
}

// release counts a push no more; those of a closed box are not counted anyway.
func (x *box) release(n int) {
	x.all.mu.Lock()
	defer x.all.mu.Unlock()
	if !x.closed {
		x.bytes -= n
		x.all.bytes -= n
	}
}

// note remembers a push. The caller holds the mutex.
func (x *box) note(id string) {
	if id == "" {
		return
	}
	if len(x.order) == maxSeen {
		delete(x.seen, x.order[0])
		x.order = x.order[1:]
	}
	x.seen[id] = true
	x.order = append(x.order, id)
}

// Name implements [bridge.Webhook].
func (x *box) Name() string { return x.name }

// Config implements [bridge.Webhook].
func (x *box) Config() a2a.PushConfig { return config(x.all.base+"/"+x.name, x.token, x.all.signs) }

// Pushes implements [bridge.Webhook].
func (x *box) Pushes() <-chan bridge.Push { return x.pushes }

// Close implements [bridge.Webhook].
func (x *box) Close(bool) {
	b := x.all
	b.mu.Lock()
	defer b.mu.Unlock()
	x.closed, x.seen, x.order = true, nil, nil
	b.bytes -= x.bytes
	b.ended = append(b.ended, x.name)
	if len(b.ended) <= maxEnded {
		return
	}
	if old := b.boxes[b.ended[0]]; old != nil && old.closed {
		delete(b.boxes, old.name)
	}
	b.ended = b.ended[1:]
}

// config is what an agent is told. Agents disagree on what they send: a token in a
// header of its own, or credentials in Authorization, so both are the same.
func config(url, token string, signs bool) a2a.PushConfig {
	c := a2a.PushConfig{URL: url, Token: token}
	if !signs {
		c.Authentication = &a2a.PushAuthentication{Schemes: []string{"Bearer"}, Credentials: token}
	}
	return c
}

// nameBytes is how long a name is: nobody guesses 128 bits.
const nameBytes = 16

func randomName() string {
	var b [nameBytes]byte
	_, _ = rand.Read(b[:]) // it does not fail
	return hex.EncodeToString(b[:])
}

// isName reports whether a string may be one that randomName has made.
func isName(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == nameBytes
}
