package bench

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// A look is a measurement that is not one of the baselines' table.
type look struct {
	name, about string
	run         func(*harness, context.Context) error
}

func looks() []look {
	return []look{
		{"turns", "from the editor's prompt to the request, and from the agent's first words to the editor's line", (*harness).turns},
		{"load", "session/load of a conversation of 100,000 events", (*harness).load},
		{"idle-sessions", "descriptors and memory after a prompt in each of 1,000 sessions", (*harness).idleSessions},
		{"after-big", "memory after one event of 63 MiB", (*harness).afterBig},
		{"kinds", "events of other kinds than a text that grows, 64 a write", (*harness).kinds},
		{"growth", "turns of 1,000 to 1,000,000 events, and 1 to 256 sessions at once", (*harness).growth},
		{"cut", "a look at tasks of up to 10,000 messages, or of an answer of 50 MB, behind a stream that ended in the middle", (*harness).cut},
		{"cold", "from the start of a process to the answer to initialize", (*harness).cold},
		{"idle", "after a turn", (*harness).idle},
	}
}

// A turnTime has both delays of a turn, in microseconds: from the editor's line to the request
// at the agent, and from the agent's first words to the line at the editor.
type turnTime struct{ request, shown float64 }

// turns measures the two delays of a turn that a user may feel: until the agent gets
// the request, and until its first words appear.
func (h *harness) turns(ctx context.Context) error {
	const n = 300
	modes := []string{modeRaw, modeBridge}
	all, err := inTurns(h.rounds, modes, func(mode string) (turnTime, error) { return h.someTurns(ctx, mode, n) })
	if err != nil {
		return err
	}
	request, shown := func(t turnTime) float64 { return t.request }, func(t turnTime) float64 { return t.shown }
	h.printf("turns: microseconds of %d turns, medians\n  %-8s %20s %28s\n", n, "", "prompt to request", "first words to the line")
	for _, mode := range modes {
		h.printf("  %-8s %20.0f %28.0f\n", mode, of(all, mode, "", request), of(all, mode, "", shown))
	}
	more := func(f func(turnTime) float64) float64 {
		return over(all, modeBridge, modeRaw, func(m, base turnTime) float64 { return f(m) - f(base) })
	}
	h.printf("  %-8s %+20.0f %+28.0f\n", "over", more(request), more(shown))
	return nil
}

// someTurns runs turns with one process, and returns the medians.
func (h *harness) someTurns(ctx context.Context, mode string, n int) (t turnTime, err error) {
	s := newScript("1.0", small(artifactV1, 1, false), 1, 1)
	h.agent.play(s, 1)
	p, err := h.start(ctx, mode)
	if err != nil {
		return t, err
	}
	defer p.cancel()
	line, ended := "go", string(s.end)
	if mode == modeBridge {
		ids, err := p.open(1, h.dir)
		if err != nil {
			return t, err
		}
		line, ended = promptLine(3, ids[0]), replied
	}
	var requests, shown []float64
	for range n {
		h.agent.play(s, 1)
		began, first := time.Now(), time.Time{}
		if err := p.say(line); err != nil {
			return t, err
		}
		for {
			b, err := p.lines.ReadBytes('\n')
			if err != nil {
				return t, fmt.Errorf("%s: %w: %s", mode, err, p.errors)
			}
			if first.IsZero() && bytes.IndexByte(b, mark) >= 0 {
				first = time.Now()
			}
			if bytes.Contains(b, []byte(ended)) {
				break
			}
		}
		asked, said := time.Unix(0, h.agent.asked.Load()), time.Unix(0, h.agent.start.Load())
		requests, shown = append(requests, us(asked.Sub(began))), append(shown, us(first.Sub(said)))
	}
	const skip = 20 // the first ones open connections
	return turnTime{median(requests[skip:]), median(shown[skip:])}, p.stop()
}

// prompted starts a bridge, and runs a turn of a script with it.
func (h *harness) prompted(ctx context.Context, s *script) (p *process, session string, err error) {
	h.agent.play(s, 1)
	if p, err = h.start(ctx, modeBridge); err != nil {
		return nil, "", err
	}
	ids, err := p.open(1, h.dir)
	if err == nil {
		_, err = p.ask(3, promptLine(3, ids[0]))
	}
	if err != nil {
		p.cancel()
		return nil, "", err
	}
	return p, ids[0], nil
}

// load measures session/load of a conversation of 100,000 events.
func (h *harness) load(ctx context.Context) error {
	s := newScript("1.0", small(artifactV1, ringSize, false), 64, 98)
	p, session, err := h.prompted(ctx, s)
	if err != nil {
		return err
	}
	defer p.cancel()
	var took, cpu []float64
	size := 0
	for i := range h.rounds {
		before, _ := activity(p.cmd.Process.Pid)
		began := time.Now()
		if err := p.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/load","params":{"sessionId":%q,"cwd":%q,"mcpServers":[]}}`, 4+i, session, h.dir)); err != nil {
			return err
		}
		for size = 0; ; {
			b, err := p.lines.ReadBytes('\n')
			if err != nil {
				return fmt.Errorf("%w: %s", err, p.errors)
			}
			if size += len(b); gjson.GetBytes(b, "id").Int() == int64(4+i) {
				break
			}
		}
		after, _ := activity(p.cmd.Process.Pid)
		took, cpu = append(took, us(time.Since(began))/1e3), append(cpu, us(after-before)/1e3)
	}
	h.printf("load: session/load of a conversation of %d events: %.1f ms, %.1f ms of CPU, %.1f MB to the editor; %.1f ms at least\n",
		s.events*s.rounds, median(took), median(cpu), float64(size)/1e6, slices.Min(took))
	return p.stop()
}

// cut measures turns whose stream ends in the middle: the other half is in the task, which has all. What
// a message of its history costs, and a chunk of its one artifact, should stay as it is, and memory.
func (h *harness) cut(ctx context.Context) error {
	h.printf("cut: µs of CPU each, and MiB at most, of a task that is looked at when half was heard\n")
	start, err := h.cutAt(ctx, 2, artifactTask)
	if err != nil {
		return err
	}
	for _, c := range []struct {
		what  string
		task  func(n int) (version string, events [][]byte, holds string)
		sizes []int
	}{{"messages", historyTask, []int{100, 1000, 10000}}, {"chunks", artifactTask, []int{1000, 10000, 250000}}} {
		for _, n := range c.sizes {
			m, err := h.cutAt(ctx, n, c.task)
			if err != nil {
				return fmt.Errorf("%d %s: %w", n, c.what, err)
			}
			h.printf("  %6d %-8s %8.1f %6.1f MiB\n", n, c.what, max(0, us(m.cpu-start.cpu)/float64(n)), mib(m.peak))
		}
	}
	return nil
}

// cutAt runs a turn whose stream brings half of the events; a look brings what the task holds. SENT in that
// stands for the message that was sent.
func (h *harness) cutAt(ctx context.Context, n int, task func(int) (string, [][]byte, string)) (*measurement, error) {
	version, events, holds := task(n)
	s := newScript(version, events[:n/2], 1, 1)
	s.marks = n * strings.Count(text(0, textSize, false), string(mark))
	s.task = func(sent string) string { return strings.Replace(holds, "SENT", sent, 1) }
	return h.play(ctx, modeBridge, &Scenario{Name: "cut", sessions: 1}, s)
}

// historyTask is a task of n messages.
func historyTask(n int) (version string, events [][]byte, holds string) {
	var history strings.Builder
	for i := range n {
		events = append(events, bytes.Replace(statusV03(i, text(i, textSize, false)), []byte(messageID), fmt.Appendf(nil, "m%d", i), 1))
		history.WriteString("," + gjson.GetBytes(events[i], "result.status.message").Raw)
	}
	return "0.3", events, `{"kind":"task","id":"` + taskID + `","contextId":"` + contextID + `","status":{"state":"completed"},"history":[SENT` + history.String() + "]}"
}

// artifactTask is a task of one artifact, which comes in n chunks.
func artifactTask(n int) (version string, events [][]byte, holds string) {
	var all strings.Builder
	for i := range n {
		said := text(i, textSize, false)
		events = append(events, artifactV1(i, said))
		all.WriteString(said)
	}
	return "1.0", events, `{"id":"` + taskID + `","contextId":"` + contextID + `","status":{"state":"TASK_STATE_COMPLETED"},"history":[SENT],` +
		`"artifacts":[{"artifactId":"` + artifactID + `","parts":[{"text":` + quoted(all.String()) + "}]}]}"
}

// after measures a bridge that has had a prompt in each of some sessions, one after another, at
// these times behind the last one. What it runs is counted from the time before.
func (h *harness) after(ctx context.Context, s *script, sessions int, times ...time.Duration) error {
	p, _, err := h.prompted(ctx, s)
	if err != nil {
		return err
	}
	defer p.cancel()
	for i := 1; i < sessions; i++ {
		h.agent.play(s, 1)
		session, err := p.session(2+2*i, h.dir)
		if err == nil {
			_, err = p.ask(3+2*i, promptLine(3+2*i, session))
		}
		if err != nil {
			return err
		}
	}
	began := time.Now()
	ran, waits := activity(p.cmd.Process.Pid)
	for _, at := range times {
		rest(at - time.Since(began))
		ranBefore, waitsBefore := ran, waits
		ran, waits = activity(p.cmd.Process.Pid)
		now, peak := memory(p.cmd.Process.Pid)
		files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", p.cmd.Process.Pid)) // the pattern is good
		h.printf("  after %-4v %6.1f MiB (%.1f at most), %d descriptors; %v of CPU and %d wake-ups since\n", at, mib(now), mib(peak), len(files), ran-ranBefore, waits-waitsBefore)
	}
	return p.stop()
}

// afterBig measures the memory after one event of 63 MiB.
func (h *harness) afterBig(ctx context.Context) error {
	h.printf("after-big: one event of 63 MiB\n")
	return h.after(ctx, newScript("1.0", [][]byte{artifactV1(0, text(0, 63<<20, false))}, 1, 1), 1, 0, time.Second, 5*time.Second)
}

// idle measures a bridge that has had a turn and has nothing to do, but for the first
// second: the runtime's own last work.
func (h *harness) idle(ctx context.Context) error {
	h.printf("idle: a turn\n")
	return h.after(ctx, newScript("1.0", small(artifactV1, ringSize, false), 1, 2), 1, time.Second, 11*time.Second)
}

// idleSessions measures a bridge that has had a prompt in each of many sessions.
func (h *harness) idleSessions(ctx context.Context) error {
	h.printf("idle-sessions: a prompt in each of 1,000 sessions\n")
	return h.after(ctx, newScript("1.0", small(artifactV1, 4, false), 4, 1), 1000, 0)
}

// A start is the cost of a process until its first answer.
type start struct {
	took, cpu time.Duration
	memory    int64
}

// cold measures from the start of a process to its first answer, with a cached card, as from
// the second start on.
func (h *harness) cold(ctx context.Context) error {
	h.agent.play(newScript("1.0", small(artifactV1, ringSize, false), 1, 2), 1)
	if _, err := h.answered(ctx, modeBridge); err != nil { // stores the card
		return err
	}
	modes := []string{modeEmpty, modeBridge}
	all, err := inTurns(30, modes, func(mode string) (start, error) { return h.answered(ctx, mode) })
	if err != nil {
		return err
	}
	took, cpu := func(s start) float64 { return us(s.took) / 1e3 }, func(s start) float64 { return us(s.cpu) / 1e3 }
	h.printf("cold: from the start of a process to the answer to initialize, median of 30\n")
	h.printf("  %-8s %8s %9s %8s %9s %8s\n", "", "ms", "of empty", "ms CPU", "of empty", "MiB")
	for _, mode := range modes {
		h.printf("  %-8s %8.2f %9.2f %8.2f %9.2f %8.1f\n", mode, of(all, mode, "", took), of(all, mode, modeEmpty, took), of(all, mode, "", cpu), of(all, mode, modeEmpty, cpu),
			of(all, mode, "", func(s start) float64 { return mib(s.memory) }))
	}
	return nil
}

// answered starts a process, measures it after its answer, and ends it.
func (h *harness) answered(ctx context.Context, mode string) (st start, err error) {
	began := time.Now()
	p, err := h.start(ctx, mode)
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
