// Package trace has the commands about traces, and proxy and tap, which make some.
//
// tap has two goroutines: one copies stdin, and ends with it or with the program's input; one passes signals
// on, and ends with the program.
package trace

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/internal/trace/check"
	"github.com/a2astdio/a2astdio/internal/trace/local"
	"github.com/a2astdio/a2astdio/internal/trace/replay"
	"github.com/a2astdio/a2astdio/internal/trace/web"
)

func Command(p *frame.Program) *cli.Command {
	return p.Group("trace",
		p.NewCommand("trace show FILE", traceShow,
			frame.Option{Flag: "failed", Kind: frame.Switch, Help: "only what went wrong, or is not as the protocols say"},
			frame.Option{Flag: "follow", Kind: frame.Switch, Aliases: []string{"f"}, Help: "go on as the trace is written, until interrupted"},
			frame.Option{Flag: "record", Kind: frame.Number, Shown: "all", Takes: "N", Help: "show one record, in full"},
			frame.Output("the records as they are in the file, one a line")),
		p.NewCommand("trace serve FILE", traceServe, listenFlag()),
		p.NewCommand("trace check FILE...", traceCheck,
			frame.Option{Flag: "of", Takes: "editor|bridge|agent", Help: "only what this one does wrong; bridge is also what tap listens to"},
			frame.Option{Flag: "skip", Kind: frame.List, Takes: "RULE", Help: "not this rule. Repeatable"},
			frame.Output(`{"file","record","who","rule","weight","source","what","text"}, one a line`)),
		p.NewCommand("trace replay FILE", traceReplay,
			listenFlag(),
			frame.Option{Flag: "speed", Default: "1", Takes: "N|max", Help: "how many times faster than it was; max is without pauses"}),
		p.NewCommand("trace export FILE", traceExport,
			frame.Option{Flag: "html", Kind: frame.Switch, Help: "the page that trace serve shows, with the trace in it"},
			frame.Option{Flag: "har", Kind: frame.Switch, Help: "HAR 1.2: the agent's wire"},
			frame.Option{Flag: "redact", Kind: frame.Switch, Help: "the trace itself, without texts, as --trace-redact would have written it"},
			frame.Option{Flag: "out", Takes: "FILE", Help: "where to write; without it, to stdout"}))
}

// openTraceFile opens the trace that the command's argument names, and returns that, too.
func openTraceFile(p *frame.Program, c *cli.Context) (r *trace.Reader, file string, err error) {
	file = c.Args().First()
	r, err = trace.Open(file, p.Input(c.Context))
	return r, file, err
}

// noteTrace reports what is wrong with a trace that was read. That is no error: its
// readable part was shown.
func noteTrace(p *frame.Program, r *trace.Reader) {
	for _, n := range r.Notes() {
		p.Say("%s", n)
	}
}

// listenFlag makes --listen of what serves a trace, or another agent.
func listenFlag() frame.Option {
	return frame.Option{Flag: "listen", Default: "127.0.0.1:0", Shown: "a free port of this machine", Takes: "ADDR", Help: "where to listen, HOST:PORT; without HOST on this machine only"}
}

func traceCheck(p *frame.Program, c *cli.Context) error {
	of, skip := c.String("of"), frame.StringsOf(c, "skip")
	for _, rule := range skip {
		if !slices.Contains(check.Rules[:], rule) {
			return frame.Usagef("--skip: there is no rule %q, but %s", rule, strings.Join(check.Rules[:], ", "))
		}
	}
	picks := func(f *check.Finding) bool { return (of == "" || f.Who == of) && !slices.Contains(skip, f.Rule) }
	found := false
	for _, file := range c.Args().Slice() {
		n, err := checkFile(p, c, file, picks)
		if err != nil {
			return err
		}
		found = found || n > 0
	}
	if found {
		return frame.ErrFailed
	}
	return nil
}

// checkFile writes what is wrong in a trace, and returns the number of errors.
func checkFile(p *frame.Program, c *cli.Context, file string, picks func(*check.Finding) bool) (n int, err error) {
	r, err := trace.Open(file, p.Input(c.Context))
	if err != nil {
		return 0, err
	}
	defer r.Close()
	asJSON, out := frame.AsJSON(c), bufio.NewWriter(p.Stdout)
	defer func() { err = errors.Join(err, out.Flush()) }()
	report := func(f *check.Finding) {
		if !asJSON {
			fmt.Fprintf(out, "%s: %s\n", file, safe.Plain(f.String()))
			return
		}
		_ = frame.WriteJSON(out, struct { // whose error its Flush returns
			File string `json:"file"`
			*check.Finding
		}{file, f})
	}
	checker := check.New(&check.Options{Report: report, Picks: picks})
	records := 0
	for rec, err := range r.All() {
		if err != nil {
			return 0, err
		}
		records++
		checker.Add(rec)
	}
	noteTrace(p, r)
	for _, n := range checker.Notes() {
		p.Say("%s: %s", file, n)
	}
	if !asJSON {
		warnings := ""
		if n := checker.Count() - checker.Errors(); n > 0 {
			warnings = ", of which " + frame.Count(n, "warning")
		}
		fmt.Fprintf(out, "%s: %s in %s%s\n", file, frame.Count(checker.Count(), "finding"), frame.Count(records, "record"), warnings)
	}
	return checker.Errors(), nil
}

func traceExport(p *frame.Program, c *cli.Context) error {
	r, file, err := openTraceFile(p, c) // reads the options behind FILE
	if err != nil {
		return err
	}
	defer r.Close()
	formats := map[string]func(*trace.Reader, io.Writer) error{
		"har": web.HAR, "redact": trace.WriteRedacted,
		"html": func(r *trace.Reader, w io.Writer) error { return web.Export(r, w, filepath.Base(file)) },
	}
	var write func(*trace.Reader, io.Writer) error
	for name, f := range formats {
		if !c.Bool(name) {
			continue
		}
		if write != nil {
			return frame.Usagef("one format at a time: --html, --har or --redact")
		}
		write = f
	}
	if write == nil {
		return frame.Usagef("in which format? --html, --har or --redact")
	}
	if err := exportTo(p, c.String("out"), func(w io.Writer) error { return write(r, w) }); err != nil {
		return err
	}
	noteTrace(p, r)
	return nil
}

// exportTo writes to a file or to stdout. It removes an incomplete file, which would
// pass for a complete one.
func exportTo(p *frame.Program, path string, write func(io.Writer) error) error {
	if path == "" {
		return write(p.Stdout)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return frame.Usagef("--out: %v", err)
	}
	err = errors.Join(write(f), f.Close())
	if info, statErr := os.Lstat(path); err != nil && statErr == nil && info.Mode().IsRegular() { // no pipe, device or link
		_ = os.Remove(path) // the error that is returned says more
	}
	return err
}

func traceReplay(p *frame.Program, c *cli.Context) error {
	opts := &replay.Options{Note: func(text string) { p.Say("%s", text) }}
	if speed := c.String("speed"); speed != "max" {
		var err error
		if opts.Speed, err = strconv.ParseFloat(speed, 64); err != nil || opts.Speed <= 0 {
			return frame.Usagef("--speed does not take %q: it takes a number like 2 or 0.5, or max", speed)
		}
	}
	agent, err := replay.NewAgent(c.Args().First(), opts)
	if err != nil {
		return err
	}
	defer agent.Close()
	return Serve(p, c, "replay", func(url string) http.Handler {
		agent.At(url)
		return agent
	})
}

// Serve serves at the address of --listen until an interrupt, which is its regular end, and
// prints the URL. who begins an error.
func Serve(p *frame.Program, c *cli.Context, who string, handler func(url string) http.Handler) error {
	err := local.Serve(c.Context, c.String("listen"), func(url string) http.Handler {
		h := handler(url)
		fmt.Fprintln(p.Stdout, url)
		return h
	})
	if err != nil {
		return fmt.Errorf("%s: %w", who, err)
	}
	return nil
}

func traceServe(p *frame.Program, c *cli.Context) error {
	file := c.Args().First()
	if file == "-" {
		return frame.Usagef("trace serve needs a file: it goes back and forth in it")
	}
	err := web.Serve(c.Context, c.String("listen"), file, func(url string) { fmt.Fprintln(p.Stdout, url) })
	if err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	return nil
}
