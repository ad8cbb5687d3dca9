package trace

import (
	"sync"
	"time"
)

// maxQueue is how many bytes may wait to be looked at. Beyond it the wires wait:
// losing records would be worse, and so would filling the memory; what is larger
// leaves the processor's caches before anybody comes to it.
const maxQueue = 1 << 20

// gather is how long what has come waits for more, unless the queue is half full: a
// goroutine that is woken for each event costs more than the event. It is also how
// much of a conversation is lost if the process is killed.
const gather = 5 * time.Millisecond

type itemKind uint8

const (
	itemLine     itemKind = iota
	itemLinePart          // the beginning of a long line
	itemStderr
	itemRequest     // more is a *requestHead
	itemRequestBody // a piece
	itemSent        // the request is as complete as it gets
	itemResponse    // more is a *responseHead
	itemBody        // a piece
	itemEnd         // more is an ending
	itemDecision    // more is a *Decision
	itemTaken       // x is the bridge's number of an event, the bytes its hash
	itemBecame      // hash of a line, numbers of the events that it is made of
)

// An item is what the wires hand over. Its bytes are arena[from:to].
type item struct {
	kind     itemKind
	toEditor bool
	at       time.Time
	x        int64
	from, to int
	more     any
}

// A queue is between the wires and the goroutine that writes: what happens on a
// wire is one copy and one list element, and whoever looks at the bytes does so
// elsewhere. It is emptied at once, all that is there with one write.
type queue struct {
	mu     sync.Mutex
	items  []item
	arena  []byte
	closed bool
	room   *sync.Cond    // the queue was emptied
	wake   chan struct{} // there is something, or it was closed; holds one
	much   chan struct{} // it is half full, or was closed; holds one
	timer  *time.Timer   // of take
	last   time.Time     // of an item
}

func newQueue() *queue {
	q := &queue{wake: make(chan struct{}, 1), much: make(chan struct{}, 1), timer: time.NewTimer(gather)}
	q.room = sync.NewCond(&q.mu)
	return q
}

// maxPiece is how much is handed over at once: what is longer comes in pieces, and
// the one is being looked at while the next is copied.
const maxPiece = maxQueue / 4

// addLong hands over what may be long: its beginning, in pieces, as items of
// another kind.
func (q *queue) addLong(now func() time.Time, it item, part itemKind, b []byte) {
	for len(b) > maxPiece {
		first := it
		first.kind = part
		q.add(now, first, b[:maxPiece])
		b = b[maxPiece:]
	}
	q.add(now, it, b)
}

// add hands an item over, with the bytes of b.
func (q *queue) add(now func() time.Time, it item, b []byte) {
	q.mu.Lock()
	for len(q.arena)+len(b) > maxQueue && len(q.items) > 0 && !q.closed {
		q.room.Wait()
	}
	if q.closed {
		q.mu.Unlock()
		return
	}
	// Under the lock, so that times only grow. What is about bytes that have passed, or
	// are about to, makes no record.
	if it.kind < itemTaken {
		q.last = now()
	}
	it.at = q.last
	it.from = len(q.arena)
	q.arena = append(q.arena, b...)
	it.to = len(q.arena)
	q.items = append(q.items, it)
	first, much := len(q.items) == 1, it.to > maxQueue/2 && it.from <= maxQueue/2
	q.mu.Unlock()
	if first {
		signal(q.wake)
	}
	if much {
		signal(q.much)
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// take waits for items and returns all that are there. The slices that it was
// given are used again. It returns false when the queue is closed and empty.
func (q *queue) take(items []item, arena []byte) ([]item, []byte, bool) {
	for waited := false; ; {
		q.mu.Lock()
		if len(q.items) > 0 && (waited || q.closed || len(q.arena) > maxQueue/2) {
			items, q.items = q.items, items[:0]
			arena, q.arena = q.arena, arena[:0]
			q.mu.Unlock()
			q.room.Broadcast()
			return items, arena, true
		}
		empty, closed := len(q.items) == 0, q.closed
		q.mu.Unlock()
		switch {
		case empty && closed:
			return nil, nil, false
		case empty:
			<-q.wake
		default:
			q.timer.Reset(gather)
			select {
			case <-q.timer.C:
			case <-q.much:
			}
			waited = true
		}
	}
}

// close makes take return false after what is there. Nothing more is accepted.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.room.Broadcast()
	signal(q.wake)
	signal(q.much)
}
