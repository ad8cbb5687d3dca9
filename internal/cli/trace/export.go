package trace

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/internal/trace/local"
	"github.com/a2astdio/a2astdio/internal/trace/replay"
	"github.com/a2astdio/a2astdio/internal/trace/web"
)

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

func traceReplay(p *frame.Program, c *cli.Context) (err error) {
	opts := &replay.Options{}
	if opts.Speed, err = speedOf(c.String("speed")); err != nil {
		return err
	}
	opts.Note = func(text string) { p.Say("%s", text) }
	agent, err := replay.NewAgent(c.Args().First(), opts)
	if err != nil {
		return err
	}
	defer agent.Close()
	err = local.Serve(c.Context, c.String("listen"), func(url string) http.Handler {
		agent.At(url)
		fmt.Fprintln(p.Stdout, url)
		return agent
	})
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	return nil
}

func speedOf(s string) (float64, error) {
	if s == "max" {
		return 0, nil
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || n <= 0 {
		return 0, frame.Usagef("--speed does not take %q: it takes a number like 2 or 0.5, or max", s)
	}
	return n, nil
}

func traceServe(p *frame.Program, c *cli.Context) error {
	args := c.Args().Slice()
	if args[0] == "-" {
		return frame.Usagef("trace serve needs a file: it goes back and forth in it")
	}
	err := web.Serve(c.Context, c.String("listen"), args[0], func(url string) { fmt.Fprintln(p.Stdout, url) })
	if err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	return nil
}
