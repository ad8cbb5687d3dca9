package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/internal/trace/export"
	"github.com/a2astdio/a2astdio/internal/trace/web"
)

func (p *program) traceExportCommand() *cli.Command {
	return traceCommandOf("export", "write a trace for other programs", p.traceExport, help{
		intro: `Writes a trace in the format of another program, to stdout or to a file. None
has more than the trace: credentials are masked already. The bundle, and it
alone, leaves out what was said as well, unless --texts is given.`,
		usage: []string{"a2astdio trace export --FORMAT [--out FILE] FILE"},
		examples: []example{
			{"a2astdio trace export --html --out t.html t.jsonl", "a page to attach to a bug report, or to keep"},
			{"a2astdio trace export --har t.jsonl >t.har", "for the network panel of a browser"},
			{"a2astdio trace export --otlp t.jsonl | curl -H 'Content-Type: application/json' -d @- http://localhost:4318/v1/traces", "to a collector"},
			{"a2astdio trace export --transcript t.jsonl >testdata/transcript/mine.txt", "a test of this project's, of a conversation that went wrong"},
			{"a2astdio trace export --bundle --out report.zip t.jsonl", "for a bug report: no texts, the versions, the card"},
		},
	},
		&cli.BoolFlag{Name: "html", Usage: "the page that trace serve shows, with the trace in it"},
		&cli.BoolFlag{Name: "har", Usage: "HAR 1.2: the agent's wire"},
		&cli.BoolFlag{Name: "otlp", Usage: "OTLP/JSON: turns, requests, tool calls, approvals and reconnects as spans"},
		&cli.BoolFlag{Name: "acp", Usage: "the editor's wire, for the ACP project's agent-client-protocol-trace-viewer"},
		&cli.BoolFlag{Name: "transcript", Usage: "the format of testdata/transcript"},
		&cli.BoolFlag{Name: "bundle", Usage: "a zip file: the trace without texts, figures, versions, the agent's card"},
		&cli.BoolFlag{Name: "texts", Usage: "with --bundle: leave in what was said"},
		&cli.StringFlag{Name: "out", Usage: "`FILE`: where to write; without it, to stdout"},
	)
}

func (p *program) traceExport(c *cli.Context) error {
	formats := map[string]func(*trace.Reader, io.Writer) error{
		"har": export.HAR, "otlp": export.OTLP, "acp": export.ACP, "transcript": export.Transcript,
		"bundle": func(r *trace.Reader, w io.Writer) error {
			return export.Bundle(r, w, &export.BundleOptions{Version: p.version, Texts: c.Bool("texts")})
		},
	}
	r, file, err := p.openTraceFile(c) // reads the options behind FILE
	if err != nil {
		return err
	}
	defer r.Close()
	formats["html"] = func(r *trace.Reader, w io.Writer) error { return web.Export(r, w, filepath.Base(file)) }
	var write func(*trace.Reader, io.Writer) error
	for name, f := range formats {
		if !c.Bool(name) {
			continue
		}
		if write != nil {
			return usagef("one format at a time: --har, --otlp, --acp, --html, --transcript or --bundle")
		}
		write = f
	}
	switch {
	case write == nil:
		return usagef("in which format? --har, --otlp, --acp, --html, --transcript or --bundle")
	case c.Bool("texts") && !c.Bool("bundle"):
		return usagef("--texts is for --bundle: the other formats have them")
	case c.Bool("bundle") && c.String("out") == "" && isTerminal(p.stdout):
		return usagef("a zip file is nothing for a terminal: say --out FILE")
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
