package cli

import (
	"io"
	"os"
	"runtime"
	"sync"
)

// tune sets the runtime for serving an editor: bytes go from one pipe into another,
// from goroutine to goroutine. On one processor a hand-over is a function call; on
// several it wakes another thread. One processor raised the rate from 0.77 to 0.87, and
// from 0.46 to 0.60, of a frame scan's (internal/test/bench). It costs rate where
// twenty sessions stream at once, which no editor shows anyway. GOMAXPROCS and
// GOMEMLIMIT of the user win. A trace has a goroutine of its own, which uses the second
// processor, and so slows less what it records.
func tune(traced bool) {
	if os.Getenv("GOMAXPROCS") == "" {
		procs := 1
		if traced {
			procs = min(2, runtime.NumCPU())
		}
		runtime.GOMAXPROCS(procs)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		keepMemory()
	}
}

// A tuner is stdout, and tunes after the first answer. Taking a processor away costs
// half a megabyte and half a millisecond, a tenth of a start.
type tuner struct {
	w      io.Writer
	traced bool
	once   sync.Once
}

func (t *tuner) Write(b []byte) (int, error) {
	n, err := t.w.Write(b)
	t.once.Do(func() { tune(t.traced) })
	return n, err
}
