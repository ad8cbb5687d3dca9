package bench

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/a2astdio/a2astdio/bridge/store"
)

// storedCounts are how many sessions are stored in turn.
var storedCounts = []int{1000, 10_000}

// A storedRun is what a bridge has taken with so many sessions stored.
type storedRun struct{ first, page, fresh, pageCPU float64 }

// stored measures session/list and the first session/new with many stored sessions: the
// first page, which makes the index, a later page, and the answer to session/new, which
// must not wait for pruning.
func (h *harness) stored(ctx context.Context) error {
	defer func(state string) { h.runner.state = state }(h.runner.state)
	h.printf("stored: milliseconds to the answer\n  %8s %12s %12s %12s %12s\n", "sessions", "first page", "page", "page, CPU", "session/new")
	for _, n := range storedCounts {
		if h.short {
			n /= 10
		}
		var runs []storedRun
		for range min(h.rounds, 3) { // making ten thousand takes long
			run, err := h.runner.stored(ctx, n)
			if err != nil {
				return err
			}
			runs = append(runs, run)
		}
		of := func(f func(storedRun) float64) float64 {
			var values []float64
			for _, r := range runs {
				values = append(values, f(r))
			}
			return median(values)
		}
		h.printf("  %8d %12.1f %12.1f %12.1f %12.1f\n", n, of(func(r storedRun) float64 { return r.first }), of(func(r storedRun) float64 { return r.page }),
			of(func(r storedRun) float64 { return r.pageCPU }), of(func(r storedRun) float64 { return r.fresh }))
	}
	h.printf("\n")
	return nil
}

func (r *runner) stored(ctx context.Context, n int) (run storedRun, err error) {
	r.agent.play(newScript("1.0", small(artifactV1, 1, false), 1, 1), 1)
	r.state = filepath.Join(r.dir, "stored")
	if err := os.RemoveAll(r.state); err != nil {
		return run, err
	}
	if err := fill(filepath.Join(r.state, "a2astdio", "sessions"), r.agent.URL, n); err != nil {
		return run, err
	}
	p, err := r.start(ctx, modeBridge, 1)
	if err != nil {
		return run, err
	}
	defer p.cancel()
	id := 0
	ask := func(line string) (ms float64) {
		if err != nil {
			return 0
		}
		began := time.Now()
		id++
		_, err = p.ask(id, fmt.Sprintf(line, id))
		return float64(time.Since(began).Nanoseconds()) / 1e6
	}
	const list = `{"jsonrpc":"2.0","id":%d,"method":"session/list","params":{}}`
	ask(initialize[:len(`{"jsonrpc":"2.0","id":`)] + "%d" + initialize[len(`{"jsonrpc":"2.0","id":1`):])
	run.first = ask(list)
	const pages = 5
	before, _ := activity(p.cmd.Process.Pid)
	for range pages {
		run.page += ask(list) / pages
	}
	after, _ := activity(p.cmd.Process.Pid)
	run.pageCPU = float64((after - before).Nanoseconds()) / 1e6 / pages
	run.fresh = ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":%%d,"method":"session/new","params":{"cwd":%q,"mcpServers":[]}}`, r.dir))
	if err != nil {
		return run, err
	}
	return run, p.stop()
}

// fill stores sessions like bridges, but without pruning.
func fill(dir, agent string, n int) error {
	began := time.Now().Add(-time.Hour)
	for i := range n {
		at := began.Add(time.Duration(i) * time.Millisecond).UTC()
		record := store.Record{ID: fmt.Sprintf("6ba7b810-9dad-11d1-80b4-%012d", i), Agent: agent, ContextID: contextID, TaskID: taskID,
			Cwd: "/home/dev/project", Mode: "default", Title: "Fix the failing tests of the parser", CreatedAt: at, UpdatedAt: at}
		b, err := json.Marshal(&record)
		if err != nil {
			return err
		}
		sum := sha256.Sum256([]byte(record.ID))
		name := base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding).EncodeToString(sum[:])
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name, "record.json"), b, 0o600); err != nil {
			return err
		}
	}
	return nil
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
