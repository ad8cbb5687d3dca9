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
	// maxQueued bounds the pushes that wait for one turn, the newest ones, and maxQueuedBytes the
	// bytes of all. A turn takes them at once, unless the editor is slow.
	maxQueued      = 64
	maxQueuedBytes = 16 << 20
	// maxSeen bounds a box's remembered pushes, by which it knows repetitions.
	maxSeen = 256
	// maxEnded bounds the remembered addresses of ended tasks. Agents push on for a
	// moment, and must not get an error for that.
	maxEnded = 1024
)

// Boxes are the addresses of a bridge's turns, each with a queue: the [Receiver] puts
// pushes in, and the bridge takes them by [bridge.Webhooks].
type Boxes struct {
	base  string // the public URL in front of names
	signs bool   // the agent signs: Authorization is its own

	mu    sync.Mutex
	bytes int // queued bytes of all boxes
	boxes map[string]*box
	ended []string // names of closed boxes, the oldest first
}

// NewBoxes returns boxes whose addresses begin with a base URL. signs: the agent
// authenticates itself by JWT.
func NewBoxes(base string, signs bool) *Boxes {
	return &Boxes{base: strings.TrimSuffix(base, "/"), signs: signs, boxes: map[string]*box{}}
}

// SetBase sets a base URL that is known only after listening. Call it before the first
// Open.
func (b *Boxes) SetBase(base string) { b.base = strings.TrimSuffix(base, "/") }

// A box is one address. Boxes.mu guards its state.
type box struct {
	all    *Boxes
	name   string
	token  string
	pushed chan struct{} // has one if something is queued
	queue  [][]byte
	closed bool
	seen   map[string]bool
	order  []string // of seen
}

// Open implements [bridge.Webhooks]. A name that is open gets a new one: two turns must
// not take each other's pushes.
func (b *Boxes) Open(_ context.Context, name string) (bridge.Webhook, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if old := b.boxes[name]; name == "" || old != nil && !old.closed || !isName(name) {
		name = randomName()
	}
	// The token is always new. The configuration is set again, so whoever knows an earlier
	// process's token no longer gets in.
	x := &box{all: b, name: name, token: randomName() + randomName(), pushed: make(chan struct{}, 1), seen: map[string]bool{}}
	b.boxes[name] = x
	return x, nil
}

// named returns the box of a name, nil if there is none.
func (b *Boxes) named(name string) *box {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.boxes[name]
}

// put queues a push. An id that is not empty identifies repetitions, which are dropped.
func (x *box) put(id string, payload []byte) error {
	b := x.all
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case x.closed, id != "" && x.seen[id]:
		return nil // without effect
	case len(payload) > maxQueuedBytes-b.bytes+x.bytes():
		return errFull // with other turns' pushes
	}
	for len(x.queue) == maxQueued || b.bytes+len(payload) > maxQueuedBytes {
		b.bytes -= len(x.queue[0])
		x.queue = x.queue[1:]
	}
	b.bytes += len(payload)
	x.queue = append(x.queue, payload)
	x.note(id)
	select {
	case x.pushed <- struct{}{}:
	default:
	}
	return nil
}

// bytes is how much the box has queued. The caller holds the mutex.
func (x *box) bytes() (n int) {
	for _, payload := range x.queue {
		n += len(payload)
	}
	return n
}

// Pushed implements [bridge.Webhook].
func (x *box) Pushed() <-chan struct{} { return x.pushed }

// Take implements [bridge.Webhook].
func (x *box) Take() (payloads [][]byte) {
	x.all.mu.Lock()
	defer x.all.mu.Unlock()
	x.all.bytes -= x.bytes()
	payloads, x.queue = x.queue, nil
	return payloads
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

// Config implements [bridge.Webhook]. Agents send the token in a header of its own, or
// credentials in Authorization; both have the same value.
func (x *box) Config() a2a.PushConfig {
	c := a2a.PushConfig{URL: x.all.base + "/" + x.name, Token: x.token}
	if !x.all.signs {
		c.Authentication = &a2a.PushAuthentication{Scheme: "Bearer", Credentials: x.token}
	}
	return c
}

// Close implements [bridge.Webhook].
func (x *box) Close(bool) {
	b := x.all
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bytes -= x.bytes()
	x.closed, x.seen, x.order, x.queue = true, nil, nil, nil
	b.ended = append(b.ended, x.name)
	if len(b.ended) <= maxEnded {
		return
	}
	if old := b.boxes[b.ended[0]]; old != nil && old.closed {
		delete(b.boxes, old.name)
	}
	b.ended = b.ended[1:]
}

// nameBytes is the length of a name: nobody guesses 128 bits.
const nameBytes = 16

func randomName() string {
	var b [nameBytes]byte
	_, _ = rand.Read(b[:]) // it does not fail
	return hex.EncodeToString(b[:])
}

// isName reports whether randomName may have made a string.
func isName(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == nameBytes
}
