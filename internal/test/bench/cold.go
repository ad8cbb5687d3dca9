package bench

import (
	"context"
	"os"
	"path/filepath"
	"time"
)

// A start is the cost of a process until its first answer.
type start struct {
	took   time.Duration
	cpu    time.Duration
	memory int64
}

// The rows of cold.
const (
	coldEmpty   = "empty"
	coldCached  = "card cached"
	coldUnknown = "card unknown" // the answer waits for it
)

// cold measures from the start of a process to its first answer: with a cached card, as
// from the second start on, and without.
func (h *harness) cold(ctx context.Context) error {
	sc := Scenarios()[0]
	s, err := sc.script(true)
	if err != nil {
		return err
	}
	h.runner.agent.play(s, 1)
	defer func(state string) { h.runner.state = state }(h.runner.state)
	cached := filepath.Join(h.runner.dir, "cached")
	h.runner.state = cached
	if _, err := h.runner.answered(ctx, modeBridge); err != nil { // stores the card
		return err
	}
	n := 30
	if h.short {
		n = 3
	}
	all := map[string][]start{}
	for i := range n {
		rows := []string{coldEmpty, coldCached, coldUnknown}
		for j := range rows {
			// Each round begins with another one.
			row, mode := rows[(i+j)%len(rows)], modeBridge
			h.runner.state = cached
			switch row {
			case coldEmpty:
				mode = modeEmpty
			case coldUnknown:
				h.runner.state = filepath.Join(h.runner.dir, "unknown")
				if err := os.RemoveAll(h.runner.state); err != nil {
					return err
				}
			}
			st, err := h.runner.answered(ctx, mode)
			if err != nil {
				return err
			}
			all[row] = append(all[row], st)
		}
	}
	of := func(row string, f func(start) float64) (value, ofEmpty float64) {
		var values, ratios []float64
		for i, st := range all[row] {
			values, ratios = append(values, f(st)), append(ratios, f(st)/f(all[coldEmpty][i]))
		}
		return median(values), median(ratios)
	}
	h.printf("cold: from the start of a process to the answer to initialize, median of %d\n", n)
	h.printf("  %-12s %8s %9s %8s %9s %8s\n", "", "ms", "of empty", "ms CPU", "of empty", "MiB")
	for _, row := range []string{coldEmpty, coldCached, coldUnknown} {
		ms, msRatio := of(row, func(st start) float64 { return float64(st.took.Nanoseconds()) / 1e6 })
		cpu, cpuRatio := of(row, func(st start) float64 { return float64(st.cpu.Nanoseconds()) / 1e6 })
		mib, _ := of(row, func(st start) float64 { return float64(st.memory) / (1 << 20) })
		h.printf("  %-12s %8.2f %9.2f %8.2f %9.2f %8.1f\n", row, ms, msRatio, cpu, cpuRatio, mib)
	}
	h.printf("\n")
	return nil
}

// answered starts a process, measures it after its answer, and ends it.
func (r *runner) answered(ctx context.Context, mode string) (st start, err error) {
	began := time.Now()
	p, err := r.start(ctx, mode, 1)
	if err != nil {
		return st, err
	}
	if err = p.say(initialize); err == nil {
		_, err = p.lines.ReadString('\n')
	}
	st.took = time.Since(began)
	st.memory, _ = memory(p.cmd.Process.Pid)
	st.cpu, _ = activity(p.cmd.Process.Pid)
	if stopped := p.stop(); err == nil {
		err = stopped
	}
	return st, err
}
