package serve

import (
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
)

const (
	// memoryLimit is where the collector begins to work harder. An event of 12 MiB needs
	// about this much for its frame, its lines and the beginning of the next. Without the
	// limit the collector would let twice that pile up. Many streams need more: see
	// limitMemory.
	memoryLimit = 56 << 20
	// largeOutput is how much output may leave garbage that is worth giving back,
	// memoryRest later: the runtime collects at 4 MiB, and an idle process only every two
	// minutes. A collection takes 0.7 ms of CPU, and a stream causes two a second at most.
	largeOutput = 256 << 10
	memoryRest  = time.Second / 2
)

// tune sets the runtime for serving an editor: bytes go from one pipe into another,
// from goroutine to goroutine. On one processor a hand-over is a function call; on
// several it wakes another thread. One processor raised the rate from 0.77 to 0.87, and
// from 0.46 to 0.60, of a frame scan's (internal/test/bench). It costs rate where
// twenty sessions stream at once, which no editor shows anyway. GOMAXPROCS and
// GOMEMLIMIT of the user win. A trace has a goroutine of its own, which uses the second
// processor, and so slows less what it records. The program has begun on one: see package oneproc.
func tune(traced bool) {
	switch {
	case os.Getenv("GOMAXPROCS") != "":
		frame.UseProcessors()
	case traced:
		runtime.GOMAXPROCS(min(2, runtime.NumCPU()))
	default:
		runtime.GOMAXPROCS(1)
	}
	limitMemory(0)
}

// limitMemory sets the limit by how many connections to the agent are open: a stream keeps about as much
// as perConnection, and where that is more than the limit, the collector would do nothing but collect.
// (What is alive would be a better measure. To ask for it takes a tenth of a start, by package
// runtime/metrics, and events of 12 MiB look alike.)
func limitMemory(connections int) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit + int64(connections)*perConnection)
	}
}

const perConnection = 1 << 20

// A tuner is stdout. Before the first answer it waits until the program listens to signals,
// which is long over then; after it, it tunes.
type tuner struct {
	w      io.Writer
	await  func()
	traced bool
	tuned  bool // one goroutine writes
	// connections says how many to the agent are open.
	connections func() int

	written atomic.Int64 // since memory was last given back, or would have been
	gives   atomic.Bool  // memory will be given back
}

func (t *tuner) Write(b []byte) (int, error) {
	if !t.tuned {
		t.await()
	}
	n, err := t.w.Write(b)
	if !t.tuned {
		t.tuned = true
		tune(t.traced)
		widen(t.w)
	}
	t.wrote(n)
	return n, err
}

func (t *tuner) wrote(n int) {
	if t.written.Add(int64(n)) > largeOutput && t.gives.CompareAndSwap(false, true) {
		t.giveLater()
	}
}

// giveLater gives memory back once the output has slowed down: a stream at full speed takes each page again,
// and each time has it cleared.
func (t *tuner) giveLater() {
	t.written.Store(0)
	time.AfterFunc(memoryRest, func() {
		if t.written.Load() > largeOutput {
			limitMemory(t.connections())
			t.giveLater()
			return
		}
		debug.FreeOSMemory()
		limitMemory(t.connections())
		t.gave()
	})
}

// gave ends a giving back. That takes a while where much is alive: what was written meanwhile may be a
// burst's last, and the limit is that burst's.
func (t *tuner) gave() {
	t.gives.Store(false)
	t.wrote(0)
}
