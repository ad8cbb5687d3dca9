package trace

import (
	"sync"
	"time"
)

// maxQueue bounds the waiting bytes. Beyond it the wires wait: lost records and full
// memory would be worse. It holds two of the transport's reads. A larger queue would leave
// the processor's caches before it is read: 1 MiB costs an event a tenth more.
const maxQueue = 512 << 10

// gather is how long items wait for more, unless the queue is half full: waking a
// goroutine for each event costs more than the event. It is also how much of a
// conversation is lost if the process is killed.
const gather = 5 * time.Millisecond

type itemKind uint8

const (
	itemLine itemKind = iota
	itemStderr
	itemRequest     // more is a *requestHead
	itemRequestBody // a piece
	itemSent        // the end of the request
	itemResponse    // more is a *responseHead
	itemBody        // a piece
	itemEnd         // more is an *ending
	itemDecision    // more is a *Decision
	itemTaken       // x is the bridge's number of an event with this hash
	itemBecame      // hash is a line's; more are the numbers of its events
)

// An item is a unit of a wire, or what the bridge says of one. Its bytes are arena[from:to].
type item struct {
	kind     itemKind
	toEditor bool
	at       time.Time
	x        int64 // of the exchange, unless its kind says otherwise
	from, to int
	hash     uint64
	more     any
}

// A queue stands between the wires and the writing goroutine. On a wire an item costs
// one copy and one list element; its bytes are read elsewhere. The writer takes all
// items at once, and writes them together.
type queue struct {
	mu      sync.Mutex
	changed *sync.Cond // due or closed was set, or the items were taken
	items   []item
	arena   []byte
	due     bool // the items may be taken: the first has waited for more, or the queue is half full
	closed  bool
	timer   *time.Timer // sets due
	last    time.Time   // of the newest item that makes a record
}

func newQueue() *queue {
	q := &queue{}
	q.changed = sync.NewCond(&q.mu)
	q.timer = time.AfterFunc(time.Hour, func() { q.set(&q.due) })
	q.timer.Stop()
	return q
}

// set sets due or closed, and wakes who waits.
func (q *queue) set(flag *bool) {
	q.mu.Lock()
	*flag = true
	q.mu.Unlock()
	q.changed.Broadcast()
}

// add adds an item, at this time and with the bytes of b, unless the queue is closed. It waits
// while the queue is full, with larger bytes until it is empty.
func (q *queue) add(it item, b []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.arena)+len(b) > maxQueue && len(q.items) > 0 && !q.closed {
		q.changed.Wait()
	}
	if q.closed {
		return
	}
	// Under the lock, so that times never decrease. Items about other bytes make no
	// record.
	if it.kind < itemTaken {
		q.last = time.Now()
	}
	it.at = q.last
	it.from = len(q.arena)
	q.arena = append(q.arena, b...)
	it.to = len(q.arena)
	q.items = append(q.items, it)
	switch {
	case it.to > maxQueue/2 && it.from <= maxQueue/2:
		q.due = true
		q.changed.Broadcast()
	case len(q.items) == 1:
		q.timer.Reset(gather)
	}
}

// take waits for items and returns all, with their arena. It reuses the slices that it gets.
// false: the queue is closed and empty.
func (q *queue) take(items []item, arena []byte) ([]item, []byte, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.closed && (len(q.items) == 0 || !q.due) {
		q.changed.Wait()
	}
	if len(q.items) == 0 {
		return nil, nil, false
	}
	items, q.items = q.items, items[:0]
	arena, q.arena = q.arena, arena[:0]
	q.due = false
	q.changed.Broadcast()
	return items, arena, true
}

// close makes take return false after the last item. Later items are dropped.
func (q *queue) close() {
	q.timer.Stop()
	q.set(&q.closed)
}
