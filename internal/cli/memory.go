package cli

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

const (
	// memoryLimit is where the collector begins to work harder. An event of 12 MiB
	// needs about this much for its frame, its lines and what was read of the next;
	// below it the collector would let twice that pile up.
	memoryLimit = 56 << 20
	// memoryRoom is what the limit leaves above what is alive, beside half of that:
	// with less the collector would not come to an end.
	memoryRoom = 16 << 20
	// memoryWaste is how much the process may hold that it does not use, and
	// memoryRest for how long after the last collection: then it gives that back.
	// The runtime collects an idle process each two minutes only.
	memoryWaste = 12 << 20
	memoryRest  = 2 * time.Second
)

// wastes reports whether the process may hold more than it needs: memory that nothing
// uses, or, if nothing was collected after a large event, that event. known is what was
// alive for certain.
func wastes(held, live, known int64) bool { return held > live+memoryWaste || live > known+memoryWaste }

// A memoryKeeper sets the memory limit by what is alive, after each collection, and
// gives back what a large event has left. An idle process has no collections, so
// that it costs nothing there.
//
// Its fields belong to the goroutine that runs finalizers, but for the last two.
type memoryKeeper struct {
	limit   int64
	samples []metrics.Sample
	known   int64       // what the least, or the last giveBack, has found alive
	rest    *time.Timer // runs giveBack, once
	given   atomic.Bool // giveBack has collected
}

// keepMemory begins that, for as long as the process lives.
func keepMemory() { newMemoryKeeper().after() }

func newMemoryKeeper() *memoryKeeper {
	k := &memoryKeeper{limit: memoryLimit, samples: []metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}}
	k.rest = time.AfterFunc(memoryRest, k.giveBack)
	k.rest.Stop()
	debug.SetMemoryLimit(k.limit)
	return k
}

// giveBack collects, and gives back to the system what is not used.
func (k *memoryKeeper) giveBack() {
	k.given.Store(true)
	debug.FreeOSMemory()
}

// collected is garbage at each collection: its finalizer is called after it.
type collected struct{ k *memoryKeeper }

// after asks to be told of the next collection.
func (k *memoryKeeper) after() {
	runtime.SetFinalizer(&collected{k}, func(c *collected) {
		c.k.adjust()
		c.k.after()
	})
}

func (k *memoryKeeper) adjust() {
	metrics.Read(k.samples)
	live, held := int64(k.samples[0].Value.Uint64()), int64(k.samples[1].Value.Uint64()-k.samples[2].Value.Uint64())
	if limit := limitFor(live); limit > k.limit || limit < k.limit*7/8 { // setting it stops the world
		k.limit = limit
		debug.SetMemoryLimit(limit)
	}
	if k.given.Swap(false) || live < k.known {
		k.known = live
	}
	if wastes(held, live, k.known) {
		k.rest.Reset(memoryRest)
	} else {
		k.rest.Stop()
	}
}

// limitFor is the memory limit while so much is alive.
func limitFor(live int64) int64 { return max(memoryLimit, live+live/2+memoryRoom) }
