package cli

import (
	"cmp"
	"io"
	"os"
	"strconv"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/a2astdio/a2astdio/internal/trace"
)

func (p *program) traceCommand() *cli.Command {
	return group("trace", "show, check, replay and export traces", help{
		intro: `A trace is what --trace FILE has recorded of any command: both wires of a
conversation, byte for byte, without credentials. docs/trace-format.md says what
is in the file. A file of which - is the name is stdin.`,
		usage: []string{"a2astdio trace COMMAND [options] FILE"},
		examples: []example{
			{"a2astdio --agent demo --trace t.jsonl send shell", "record"},
			{"a2astdio trace show t.jsonl", "and look"},
		},
	}, p.traceShowCommand(), p.traceServeCommand(), p.traceCheckCommand(), p.traceReplayCommand(), p.traceExportCommand())
}

const traceAfter = `
Exit status:
  0    done
  1    failed: the file is no trace, for one
  2    a2astdio was called wrongly
  130  interrupted
`

func traceCommandOf(name, usage string, action cli.ActionFunc, h help, flags ...cli.Flag) *cli.Command {
	h.after = cmp.Or(h.after, traceAfter)
	return documented(&cli.Command{Name: name, HelpName: "a2astdio trace " + name, Usage: usage, Action: action, Flags: flags}, h)
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
