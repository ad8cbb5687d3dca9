package cli

import (
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
)

// memoryLimit is where the collector begins to work harder. An event of 12 MiB
// needs about this much for its frame, its lines and what was read of the next;
// below it the collector would let twice that pile up.
const memoryLimit = 56 << 20

// tune sets the runtime for what serving an editor is: bytes that go from one
// pipe into another, handed on from goroutine to goroutine. On one processor a
// hand-over is a function call, and on several a wake-up of another thread: that
// made 0.87 of 0.77 and 0.60 of 0.46 of a frame scan's rate (internal/bench). It
// costs rate where twenty sessions stream at once, which no editor shows anyway.
// Who sets GOMAXPROCS or GOMEMLIMIT knows better.
func tune() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(1)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
}

// A tuner is stdout, and tunes after the first answer: taking a processor away
// costs half a megabyte and half a millisecond, which are a tenth of a start.
type tuner struct {
	w    io.Writer
	once sync.Once
}

func (t *tuner) Write(b []byte) (int, error) {
	n, err := t.w.Write(b)
	t.once.Do(tune)
	return n, err
}
