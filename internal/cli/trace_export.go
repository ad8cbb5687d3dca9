package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/internal/trace/web"
)

func (p *program) traceExport(c *cli.Context) error {
	r, file, err := p.openTraceFile(c) // reads the options behind FILE
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
			return usagef("one format at a time: --html, --har or --redact")
		}
		write = f
	}
	if write == nil {
		return usagef("in which format? --html, --har or --redact")
	}
	if err := p.exportTo(c.String("out"), func(w io.Writer) error { return write(r, w) }); err != nil {
		return err
	}
	p.noteTrace(r)
	return nil
}

// exportTo writes to a file or to stdout. It removes an incomplete file, which would
// pass for a complete one.
func (p *program) exportTo(path string, write func(io.Writer) error) error {
	if path == "" {
		return write(p.stdout)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return usagef("--out: %v", err)
	}
	if err = errors.Join(write(f), f.Close()); err != nil {
		_ = os.Remove(path) // the error that is returned says more
	}
	return err
}
