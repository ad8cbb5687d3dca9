package bench

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Main is the harness: it returns the exit status.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("a2abench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	h := harness{out: stdout}
	only := flags.String("run", "", "only these scenarios, `NAME,…` (see -list)")
	list := flags.Bool("list", false, "list the scenarios")
	flags.BoolVar(&h.short, "short", false, "a few events, two rounds: everything runs, and no time counts")
	flags.IntVar(&h.rounds, "rounds", 7, "how often each process runs, in turns")
	flags.StringVar(&h.bridge, "bridge", "", "an a2astdio `executable` to measure, instead of bridge.Serve in this one")
	flags.BoolVar(&h.trace, "trace", false, "the bridge with a trace, too")
	flags.StringVar(&h.picture, "picture", "", "draw what growth measures into a `FILE`, as SVG")
	flags.StringVar(&h.profile, "profile", "", "write the CPU profile of the newest bridge into a `FILE`; not with -bridge")
	if flags.Parse(args) != nil {
		return 2
	}
	if *list {
		for _, sc := range Scenarios() {
			fmt.Fprintf(stdout, "%-15s %s\n", sc.Name, sc.About)
		}
		for _, l := range h.looks() {
			fmt.Fprintf(stdout, "%-15s %s\n", l.name, l.about)
		}
		return 0
	}
	if h.short {
		h.rounds = 2
	}
	if *only != "" {
		h.only = strings.Split(*only, ",")
	}
	if err := h.run(ctx); err != nil {
		fmt.Fprintln(stderr, "bench:", err)
		return 1
	}
	return 0
}

type harness struct {
	out    io.Writer
	short  bool
	rounds int
	only   []string
	bridge string
	trace  bool
	// picture and profile are files to write.
	picture, profile string
	runner           runner
}

func (h *harness) wants(name string) bool { return len(h.only) == 0 || slices.Contains(h.only, name) }

func (h *harness) run(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "a2abench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	a, err := newAgent()
	if err != nil {
		return err
	}
	defer a.close()
	h.runner = runner{self: self, bridge: h.bridge, profile: h.profile, agent: a, dir: dir, state: filepath.Join(dir, "state")}
	h.printf("%s %s/%s, %d cores, %d rounds in turns, medians; CPU of the process with its start, without ours\n\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), h.rounds)
	for _, sc := range Scenarios() {
		if !h.wants(sc.Name) {
			continue
		}
		if err := h.compare(ctx, &sc); err != nil {
			return err
		}
	}
	for _, l := range h.looks() {
		if !h.wants(l.name) {
			continue
		}
		if err := l.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
	}
	return nil
}

// A look is a measurement without a comparison.
type look struct {
	name, about string
	run         func(context.Context) error
}

func (h *harness) looks() []look {
	return []look{
		{"turns", "from the editor's prompt to the request, and from the agent's first words to the editor's line", h.turns},
		{"load", "session/load of a conversation of 100,000 events", h.load},
		{"idle-sessions", "descriptors and memory after a prompt in each of 1,000 sessions", h.idleSessions},
		{"after-big", "memory after one event of 63 MiB", h.afterBig},
		{"growth", "turns of 1,000 to 1,000,000 events", h.growth},
		{"cold", "from the start of a process to the answer to initialize", h.cold},
		{"idle", "after a turn", h.idle},
	}
}

func (h *harness) printf(format string, args ...any) { fmt.Fprintf(h.out, format, args...) }

// compare runs a scenario: each mode in turns, for all rounds.
func (h *harness) compare(ctx context.Context, sc *Scenario) error {
	s, err := sc.script(h.short)
	if err != nil {
		return fmt.Errorf("%s: %w", sc.Name, err)
	}
	modes := []string{modeRaw, modeFrames, modeBridge}
	if h.trace {
		modes = append(modes, modeTraced)
	}
	for _, mode := range modes {
		if err := h.runner.verify(ctx, mode, sc, s); err != nil {
			return err
		}
	}
	all := map[string][]*measurement{}
	for round := range h.rounds {
		for i := range modes {
			// Each round begins with another one.
			mode := modes[(round+i)%len(modes)]
			m, _, err := h.runner.run(ctx, mode, sc, s, false)
			if err != nil {
				return err
			}
			all[mode] = append(all[mode], m)
		}
	}
	h.report(sc, s, modes, all)
	return nil
}

func (h *harness) report(sc *Scenario, s *script, modes []string, all map[string][]*measurement) {
	events := s.events * s.rounds * sc.sessions
	h.printf("%s: %s (%d events of %d bytes)\n", sc.Name, sc.About, events, s.size/s.events)
	// of is the median of f over the rounds; with a base, of the ratio to the base within
	// each round.
	of := func(mode, base string, f func(*measurement) float64) float64 {
		var values []float64
		for i, m := range all[mode] {
			v := f(m)
			if base != "" {
				v /= f(all[base][i])
			}
			values = append(values, v)
		}
		return median(values)
	}
	rate := func(m *measurement) float64 { return float64(events) / m.took.Seconds() }
	if sc.Big {
		rate = func(m *measurement) float64 { return float64(s.size*s.rounds) / 1e6 / m.took.Seconds() }
	}
	cpu := func(m *measurement) float64 { return float64(m.cpu.Nanoseconds()) / 1e3 / float64(events) }
	unit := "events/s"
	if sc.Big {
		unit = "MB/s"
	}
	h.printf("  %-8s %10s %7s %9s %12s %8s %10s %9s %10s\n", "", unit, "of raw", "of frames", "µs CPU/event", "of raw", "of frames", "peak MiB", "bytes out")
	for _, mode := range modes {
		h.printf("  %-8s %10.0f %7.2f %9.2f %12.3f %8.2f %10.2f %9.1f %10.0f\n", mode,
			of(mode, "", rate), of(mode, modeRaw, rate), of(mode, modeFrames, rate),
			of(mode, "", cpu), of(mode, modeRaw, cpu), of(mode, modeFrames, cpu),
			of(mode, "", func(m *measurement) float64 { return float64(m.peak) / (1 << 20) }),
			of(mode, "", func(m *measurement) float64 { return float64(m.bytes) / float64(events) }))
	}
	if s.pace > 0 {
		h.delays(modes, all, of)
	}
	if h.trace {
		h.printf("  traced, of the bridge without: %.2f of the rate, %.2f x the CPU\n", of(modeTraced, modeBridge, rate), of(modeTraced, modeBridge, cpu))
	}
	h.printf("  nothing lost: %d marks in each row, and the text compared\n\n", s.marks*s.rounds*sc.sessions)
}

// delays prints the delays of events.
func (h *harness) delays(modes []string, all map[string][]*measurement, of func(mode, base string, f func(*measurement) float64) float64) {
	for _, list := range all {
		for _, m := range list {
			slices.Sort(m.delays)
		}
	}
	at := func(q float64) func(*measurement) float64 {
		return func(m *measurement) float64 { return float64(quantile(m.delays, q).Nanoseconds()) / 1e3 }
	}
	h.printf("  %-8s %10s %10s %10s   %s\n", "", "p50 µs", "p99 µs", "max µs", "over raw: p50 µs, p99 ratio")
	for _, mode := range modes {
		var over []float64
		for i, m := range all[mode] {
			over = append(over, at(0.5)(m)-at(0.5)(all[modeRaw][i]))
		}
		h.printf("  %-8s %10.1f %10.1f %10.1f   %+.1f, %.2f\n", mode, of(mode, "", at(0.5)), of(mode, "", at(0.99)), of(mode, "", at(1)),
			median(over), of(mode, modeRaw, at(0.99)))
	}
}
