package bench

import (
	"context"
	"fmt"
	"path/filepath"
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

// prompted starts a bridge, and runs a turn of a script with it.
func (h *harness) prompted(ctx context.Context, s *script) (*process, error) {
	h.runner.agent.play(s, 1)
	p, err := h.runner.start(ctx, modeBridge, 1)
	if err != nil {
		return nil, err
	}
	if err = p.prompt(1, h.runner.dir); err == nil {
		end := &sink{r: p.lines, wantMarks: s.marks * s.rounds, wantReplies: 1}
		err = end.run()
	}
	if err != nil {
		p.cancel()
		return nil, err
	}
	return p, nil
}

// idle measures a bridge that has had a turn and has nothing to do.
func (h *harness) idle(ctx context.Context) error {
	sc := Scenarios()[0]
	s, err := sc.script(true)
	if err != nil {
		return err
	}
	wait := 10 * time.Second
	if h.short {
		wait = time.Second
	}
	p, err := h.prompted(ctx, s)
	if err != nil {
		return err
	}
	defer p.cancel()
	rest(time.Second) // the runtime's own last work
	ran, waits := activity(p.cmd.Process.Pid)
	rest(wait)
	ranThen, waitsThen := activity(p.cmd.Process.Pid)
	now, peak := memory(p.cmd.Process.Pid)
	h.printf("idle: for %v after a turn: %v of CPU, %d wake-ups, %.1f MiB (%.1f at most)\n\n",
		wait, ranThen-ran, waitsThen-waits, float64(now)/(1<<20), float64(peak)/(1<<20))
	return p.stop()
}

// idleSessions measures a bridge that has had a prompt in each of many sessions.
func (h *harness) idleSessions(ctx context.Context) error {
	n := 1000
	if h.short {
		n = 30
	}
	s := newScript("1.0", small(artifactV1, 4, false), 4, 1)
	h.runner.agent.play(s, 1)
	p, err := h.runner.start(ctx, modeBridge, 1)
	if err != nil {
		return err
	}
	defer p.cancel()
	if err := p.initialize(); err != nil {
		return err
	}
	var began int64
	for i := range n {
		h.runner.agent.play(s, 1)
		id := 2 + 2*i
		session, err := p.session(id, h.runner.dir)
		if err != nil {
			return err
		}
		if _, err := p.ask(id+1, promptLine(id+1, session)); err != nil {
			return err
		}
		if i == 0 {
			began, _ = memory(p.cmd.Process.Pid)
		}
	}
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", p.cmd.Process.Pid)) // the pattern is good
	now, _ := memory(p.cmd.Process.Pid)
	h.printf("idle-sessions: after a prompt in each of %d sessions: %d descriptors, %.1f MiB, %.1f KiB a session\n\n",
		n, len(files), float64(now)/(1<<20), float64(now-began)/1024/float64(n))
	return p.stop()
}
