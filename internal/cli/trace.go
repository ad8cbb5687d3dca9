package cli

import (
	"io"
	"os"
	"strconv"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/internal/trace/fault"
)

func (p *program) traceCommand() *cli.Command {
	return group("trace", p.traceShowCommand(), p.traceServeCommand(), p.traceCheckCommand(), p.traceReplayCommand(), p.traceExportCommand())
}

// openTraceFile opens the trace that the command's argument names.
func (p *program) openTraceFile(c *cli.Context) (*trace.Reader, string, error) {
	args, err := p.arguments(c, "FILE")
	if err != nil {
		return nil, "", err
	}
	r, err := trace.Open(args[0], p.stdin)
	return r, args[0], err
}

// noteTrace reports what is wrong with a trace that was read. That is no error: its
// readable part was shown.
func (p *program) noteTrace(r *trace.Reader) {
	for _, n := range r.Notes() {
		p.say("%s", n)
	}
}

// terminalOf returns stdout's width, 0 if it is no terminal, and whether colours are
// wanted there (https://no-color.org).
func (p *program) terminalOf() (width int, color bool) {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		width = n
	}
	f, ok := p.stdout.(interface {
		io.Writer
		Fd() uintptr
	})
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return width, false
	}
	if w, _, err := term.GetSize(int(f.Fd())); err == nil && width == 0 {
		width = w
	}
	return width, os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// listenFlag and faultFlag are options of what serves a trace, or another agent.
func listenFlag() cli.Flag {
	return &cli.StringFlag{Name: "listen", Value: "127.0.0.1:0", DefaultText: "a free port of this machine", Usage: "`ADDR`: where to listen, HOST:PORT; without HOST on this machine only"}
}

func faultFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "fault", Usage: "`FAULT`: what is to go wrong: " + fault.Help + ". Repeatable"}
}
