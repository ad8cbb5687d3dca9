package webhook

import (
	"crypto/rand"
	"encoding/hex"
	"slices"
	"strings"

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

// A box is the address of one turn. Receiver.mu guards its state.
type box struct {
	all    *Receiver
	name   string
	token  string
	pushed chan struct{} // has one if something is queued
	queue  [][]byte
	closed bool
	seen   []string // IDs of pushes, the newest last
}

// Open implements [bridge.Webhooks]. A name that is open gets a new one: two turns must
// not take each other's pushes.
func (r *Receiver) Open(name string) bridge.Webhook {
	r.mu.Lock()
	defer r.mu.Unlock()
	if old := r.boxes[name]; old != nil && !old.closed || !isName(name) {
		name = randomName()
	}
	// The token is always new. The configuration is set again, so whoever knows an earlier
	// process's token no longer gets in.
	x := &box{all: r, name: name, token: randomName() + randomName(), pushed: make(chan struct{}, 1)}
	r.boxes[name] = x
	return x
}

// SetBase sets the public URL in front of the addresses.
func (r *Receiver) SetBase(base string) { r.base = strings.TrimSuffix(base, "/") }

// named returns the box of a name, nil if there is none.
func (r *Receiver) named(name string) *box {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.boxes[name]
}

// put queues a push. An id that is not empty identifies repetitions, which are dropped.
func (x *box) put(id string, payload []byte) error {
	r := x.all
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case x.closed, slices.Contains(x.seen, id):
		return nil // without effect
	case len(payload) > maxQueuedBytes-r.bytes+x.bytes():
		return errFull // with other turns' pushes
	}
	for len(x.queue) == maxQueued || r.bytes+len(payload) > maxQueuedBytes {
		r.bytes -= len(x.queue[0])
		x.queue = x.queue[1:]
	}
	r.bytes += len(payload)
	x.queue = append(x.queue, payload)
	if id != "" {
		x.seen = append(x.seen[max(0, len(x.seen)-maxSeen+1):], id)
	}
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

// Name implements [bridge.Webhook].
func (x *box) Name() string { return x.name }

// Config implements [bridge.Webhook]. Agents send the token in a header of its own, or
// credentials in Authorization; both have the same value.
func (x *box) Config() a2a.PushConfig {
	c := a2a.PushConfig{URL: x.all.base + "/" + x.name, Token: x.token}
	if x.all.opts.Keys == nil {
		c.Authentication = &a2a.PushAuthentication{Scheme: "Bearer", Credentials: x.token}
	}
	return c
}

// Close implements [bridge.Webhook].
func (x *box) Close() {
	r := x.all
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bytes -= x.bytes()
	x.closed, x.seen, x.queue = true, nil, nil
	r.ended = append(r.ended, x.name)
	if len(r.ended) <= maxEnded {
		return
	}
	if old := r.boxes[r.ended[0]]; old != nil && old.closed {
		delete(r.boxes, old.name)
	}
	r.ended = r.ended[1:]
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
