package serve

import (
	"io"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// TestTuner shows that memory is given back once, behind the output, and not while it runs at full speed.
func TestTuner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out, stats := &tuner{w: io.Discard, tuned: true, connections: func() int { return 0 }}, new(runtime.MemStats)
		collected := func() uint32 {
			runtime.ReadMemStats(stats)
			return stats.NumForcedGC
		}
		before := collected()
		for range 10 {
			_, _ = out.Write(make([]byte, largeOutput+1)) // io.Discard takes it
			time.Sleep(memoryRest / 2)
		}
		must.Equal(t, collected(), before, "while it runs memory was given back")
		time.Sleep(2 * memoryRest)
		synctest.Wait()
		must.Equal(t, collected(), before+1, "behind it memory is given back once")

		out.gives.Store(true) // as while it is given back
		_, _ = out.Write(make([]byte, largeOutput+1))
		out.gave()
		time.Sleep(2 * memoryRest)
		synctest.Wait()
		must.Equal(t, collected(), before+2, "what was written meanwhile is given back, too")
	})
}
