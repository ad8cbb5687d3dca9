package serve

import (
	"io"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// TestTuner shows that memory is given back once, behind the output, and not while it runs at full speed.
func TestTuner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out, stats := &tuner{w: io.Discard, tuned: true}, new(runtime.MemStats)
		collected := func() uint32 {
			runtime.ReadMemStats(stats)
			return stats.NumForcedGC
		}
		before := collected()
		for range 10 {
			_, _ = out.Write(make([]byte, largeOutput+1)) // io.Discard takes it
			time.Sleep(memoryRest / 2)
		}
		if n := collected() - before; n > 0 {
			t.Errorf("while it runs memory was given back %d times", n)
		}
		time.Sleep(2 * memoryRest)
		synctest.Wait()
		if n := collected() - before; n != 1 {
			t.Errorf("behind it memory was given back %d times", n)
		}
	})
}
