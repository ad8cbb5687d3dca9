package cli

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

const (
	// memoryLimit is where the collector begins to work harder. An event of 12 MiB needs
	// about this much for its frame, its lines and the beginning of the next. Without the
	// limit the collector would let twice that pile up.
	memoryLimit = 56 << 20
	// memoryRoom, with half of the live memory, is what the limit leaves for garbage. With
	// less the collector would run without end.
	memoryRoom = 16 << 20
	// memoryWaste bounds the unused memory that the process may hold; memoryRest is how
	// long after the last collection it gives the rest back. The runtime collects an idle
	// process only every two minutes.
	memoryWaste = 12 << 20
	memoryRest  = 2 * time.Second
)

// wastes reports whether the process may hold more than it needs: unused memory, or a
// large event that no collection has freed yet. known is what was alive for certain.
func wastes(held, live, known int64) bool { return held > live+memoryWaste || live > known+memoryWaste }

// A memoryKeeper sets the memory limit after each collection, by the live memory, and
// gives back what a large event has left. An idle process has no collections, so it
// costs nothing there.
//
// Its fields belong to the goroutine that runs finalizers, except the last two.
type memoryKeeper struct {
	limit   int64
	samples []metrics.Sample
	known   int64       // the least live memory, or that at the last giveBack
	rest    *time.Timer // runs giveBack, once
	given   atomic.Bool // giveBack has collected
}

// keepMemory starts a memoryKeeper, which runs until the process ends.
func keepMemory() { newMemoryKeeper().after() }

func newMemoryKeeper() *memoryKeeper {
	k := &memoryKeeper{limit: memoryLimit, samples: []metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}}
	k.rest = time.AfterFunc(memoryRest, k.giveBack)
	k.rest.Stop()
	debug.SetMemoryLimit(k.limit)
	return k
}

// giveBack collects garbage, and returns unused memory to the system.
func (k *memoryKeeper) giveBack() {
	k.given.Store(true)
	debug.FreeOSMemory()
}

// collected is garbage at each collection: its finalizer runs after it.
type collected struct{ k *memoryKeeper }

// after sets the finalizer for the next collection.
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

// limitFor is the memory limit for this much live memory.
func limitFor(live int64) int64 { return max(memoryLimit, live+live/2+memoryRoom) }
