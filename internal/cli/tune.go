package cli

import (
	"io"
	"os"
	"runtime"
	"sync"
)

// tune sets the runtime for what serving an editor is: bytes that go from one
// pipe into another, handed on from goroutine to goroutine. On one processor a
// hand-over is a function call, and on several a wake-up of another thread: that
// made 0.87 of 0.77 and 0.60 of 0.46 of a frame scan's rate (internal/test/bench). It
// costs rate where twenty sessions stream at once, which no editor shows anyway.
// Who sets GOMAXPROCS or GOMEMLIMIT knows better. A trace is written by a
// goroutine of its own, which is for the second processor: so it takes less from
// what it records.
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

// A tuner is stdout, and tunes after the first answer: taking a processor away
// costs half a megabyte and half a millisecond, which are a tenth of a start.
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
