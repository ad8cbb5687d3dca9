package bench

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Main is the harness: it returns the exit status.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("a2abench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	h := harness{out: stdout}
	only := flags.String("run", "", "only these scenarios, `NAME,…` (see -list)")
	list := flags.Bool("list", false, "list the scenarios")
	flags.IntVar(&h.rounds, "rounds", 7, "how often each process runs, in turns")
	flags.StringVar(&h.bridge, "bridge", "", "an a2astdio `executable` to measure, instead of the command line in this one")
	flags.BoolVar(&h.trace, "trace", false, "the bridge with a trace, too")
	flags.StringVar(&h.picture, "picture", "", "draw what growth measures into a `FILE`, as SVG")
	flags.StringVar(&h.profile, "profile", "", "write the CPU profile of the bridge's last run into a `FILE`; not with -bridge")
	if flags.Parse(args) != nil {
		return 2
	}
	if *list {
		for _, sc := range Scenarios() {
			fmt.Fprintf(stdout, "%-15s %s\n", sc.Name, sc.About)
		}
		for _, l := range looks() {
			fmt.Fprintf(stdout, "%-15s %s\n", l.name, l.about)
		}
		return 0
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

// A harness runs processes against one agent.
type harness struct {
	out    io.Writer
	rounds int
	only   []string
	trace  bool
	// picture and profile are files to write, "" for none.
	picture, profile string

	self   string // our own executable
	bridge string // a2astdio's path; "" for the command line in our own
	agent  *agent
	dir    string // the sessions' directory
}

func (h *harness) wants(name string) bool { return len(h.only) == 0 || slices.Contains(h.only, name) }

func (h *harness) run(ctx context.Context) (err error) {
	if h.self, err = os.Executable(); err != nil {
		return err
	}
	if h.dir, err = os.MkdirTemp("", "a2abench"); err != nil {
		return err
	}
	defer os.RemoveAll(h.dir)
	if h.agent, err = newAgent(); err != nil {
		return err
	}
	defer h.agent.close()
	h.printf("%s %s/%s, %d cores, %d rounds in turns, medians; CPU of the process with its start, without ours\n\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), h.rounds)
	for _, sc := range Scenarios() {
		if h.wants(sc.Name) {
			if err := h.compare(ctx, &sc); err != nil {
				return err
			}
		}
	}
	for _, l := range looks() {
		if h.wants(l.name) {
			if err := l.run(h, ctx); err != nil {
				return fmt.Errorf("%s: %w", l.name, err)
			}
			h.printf("\n")
		}
	}
	return nil
}

func (h *harness) printf(format string, args ...any) { fmt.Fprintf(h.out, format, args...) }

// inTurns runs all modes in each round. Each round begins with another one.
func inTurns[T any](rounds int, modes []string, run func(mode string) (T, error)) (map[string][]T, error) {
	all := map[string][]T{}
	for round := range rounds {
		for i := range modes {
			mode := modes[(round+i)%len(modes)]
			m, err := run(mode)
			if err != nil {
				return nil, err
			}
			all[mode] = append(all[mode], m)
		}
	}
	return all, nil
}

// over is the median over the rounds of what f makes of a mode and a base.
func over[T any](all map[string][]T, mode, base string, f func(m, base T) float64) float64 {
	var values []float64
	for i, m := range all[mode] {
		values = append(values, f(m, all[base][i]))
	}
	return median(values)
}

// of is the median of f over the rounds; with a base, of the ratio to the base within each
// round.
func of[T any](all map[string][]T, mode, base string, f func(T) float64) float64 {
	return over(all, mode, cmp.Or(base, mode), func(m, of T) float64 {
		if base == "" {
			return f(m)
		}
		return f(m) / f(of)
	})
}

// compare runs a scenario.
func (h *harness) compare(ctx context.Context, sc *Scenario) error {
	s, err := sc.script()
	if err != nil {
		return fmt.Errorf("%s: %w", sc.Name, err)
	}
	modes := []string{modeRaw, modeFrames, modeBridge}
	if h.trace {
		modes = append(modes, modeTraced)
	}
	all, err := inTurns(h.rounds, modes, func(mode string) (*measurement, error) { return h.play(ctx, mode, sc, s) })
	if err == nil {
		h.report(sc, s, modes, all)
	}
	return err
}

func (h *harness) report(sc *Scenario, s *script, modes []string, all map[string][]*measurement) {
	events := s.events * s.rounds * sc.sessions
	h.printf("%s: %s (%d events of %d bytes)\n", sc.Name, sc.About, events, s.size/s.events)
	unit, n := "events/s", float64(events)
	if sc.Big {
		unit, n = "MB/s", float64(s.size*s.rounds)/1e6
	}
	rate := func(m *measurement) float64 { return n / m.took.Seconds() }
	cpu := func(m *measurement) float64 { return float64(m.cpu.Nanoseconds()) / 1e3 / float64(events) }
	h.printf("  %-8s %10s %7s %9s %12s %8s %10s %9s %10s\n", "", unit, "of raw", "of frames", "µs CPU/event", "of raw", "of frames", "peak MiB", "bytes out")
	for _, mode := range modes {
		h.printf("  %-8s %10.0f %7.2f %9.2f %12.3f %8.2f %10.2f %9.1f %10.0f\n", mode,
			of(all, mode, "", rate), of(all, mode, modeRaw, rate), of(all, mode, modeFrames, rate),
			of(all, mode, "", cpu), of(all, mode, modeRaw, cpu), of(all, mode, modeFrames, cpu),
			of(all, mode, "", func(m *measurement) float64 { return mib(m.peak) }),
			of(all, mode, "", func(m *measurement) float64 { return float64(m.bytes) / float64(events) }))
	}
	if s.pace > 0 {
		h.delays(modes, all)
	}
	if h.trace {
		h.printf("  traced, of the bridge without: %.2f of the rate, %.2f x the CPU\n", of(all, modeTraced, modeBridge, rate), of(all, modeTraced, modeBridge, cpu))
	}
	h.printf("  nothing lost: %d marks in each row\n\n", s.marks*s.rounds*sc.sessions)
}

// delays prints the delays of events.
func (h *harness) delays(modes []string, all map[string][]*measurement) {
	at := func(q float64) func(*measurement) float64 {
		return func(m *measurement) float64 {
			return us(quantile(slices.Sorted(slices.Values(m.delays)), q))
		}
	}
	h.printf("  %-8s %10s %10s %10s   %s\n", "", "p50 µs", "p99 µs", "max µs", "over raw: p50 µs, p99 ratio")
	for _, mode := range modes {
		more := over(all, mode, modeRaw, func(m, raw *measurement) float64 { return at(0.5)(m) - at(0.5)(raw) })
		h.printf("  %-8s %10.1f %10.1f %10.1f   %+.1f, %.2f\n", mode, of(all, mode, "", at(0.5)), of(all, mode, "", at(0.99)), of(all, mode, "", at(1)),
			more, of(all, mode, modeRaw, at(0.99)))
	}
}

func us(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

func mib(bytes int64) float64 { return float64(bytes) / (1 << 20) }
