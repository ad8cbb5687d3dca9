package trace

import (
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/cli/reach"
	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/internal/trace/tap"
)

// exitNotRun is what shells return for a command that does not exist.
const exitNotRun = 127

func TapCommand(p *frame.Program) *cli.Command { return p.AgentCommand("tap [COMMAND...]", runTap) }

func runTap(p *frame.Program, c *cli.Context) error {
	args := c.Args().Slice()
	if len(args) == 0 {
		return frame.Usagef("which command? Write it behind --: a2astdio tap --trace FILE -- COMMAND")
	}
	if c.String("trace") == "" {
		return frame.Usagef("where is what they say to be recorded? Name a file with --trace FILE")
	}
	if strings.HasPrefix(args[0], "-") {
		return frame.Usagef("options go before --: %s is taken for the command", args[0])
	}
	r, err := reach.Record(p, c, "tap", &trace.Options{Version: p.Version})
	if err != nil {
		return err
	}
	defer func() { _ = reach.CloseTrace(p, c, r) }() // it has reported its error
	// In a terminal an interrupt from the keyboard reaches the command without us: it goes
	// to the whole foreground.
	list := passedOn()
	if frame.IsTerminal(p.Stdin) {
		list = slices.DeleteFunc(list, func(s os.Signal) bool { return s == os.Interrupt })
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, list...)
	defer signal.Stop(signals)
	status, err := tap.Run(c.Context, &tap.Options{Command: args, Stdin: p.Stdin, Stdout: p.Stdout, Stderr: p.Stderr,
		Line: r.Tap, OnErr: r.Stderr, Signal: signals})
	if err != nil {
		p.Say("%v", err)
		return &frame.CommandEnded{Status: exitNotRun}
	}
	if status != 0 {
		return &frame.CommandEnded{Status: status}
	}
	return nil
}
