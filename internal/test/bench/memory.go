package bench

import (
	"context"
	"time"
)

// afterBig measures the memory after one event of 63 MiB.
func (h *harness) afterBig(ctx context.Context) error {
	size := 63 << 20
	if h.short {
		size = 1 << 20
	}
	s := newScript("1.0", [][]byte{artifactV1(0, text(0, size, false))}, 1, 1)
	p, err := h.prompted(ctx, s)
	if err != nil {
		return err
	}
	defer p.cancel()
	h.printf("after-big: memory after one event of %d MiB\n", size>>20)
	began := time.Now()
	for _, at := range []time.Duration{0, time.Second, 5 * time.Second} {
		if at > 0 && h.short {
			break
		}
		rest(at - time.Since(began))
		now, peak := memory(p.cmd.Process.Pid)
		h.printf("  after %-4v %6.1f MiB (%.1f at most)\n", at, float64(now)/(1<<20), float64(peak)/(1<<20))
	}
	h.printf("\n")
	return p.stop()
}
