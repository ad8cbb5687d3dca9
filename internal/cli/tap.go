package cli

import (
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/internal/trace/tap"
)

// commandEnded carries the exit status of the command that tap runs.
type commandEnded struct{ status int }

func (e *commandEnded) Error() string { return fmt.Sprintf("the command has ended with %d", e.status) }

// exitNotRun is what shells return for a command that does not exist.
const exitNotRun = 127

func (p *program) tap(c *cli.Context) error {
	args := c.Args().Slice()
	if len(args) == 0 {
		return usagef("which command? Write it behind --: a2astdio tap --trace FILE -- COMMAND")
	}
	if stringOf(c, "trace") == "" {
		return usagef("where is what they say to be recorded? Name a file with --trace FILE")
	}
	if strings.HasPrefix(args[0], "-") {
		return usagef("options go before --: %s is taken for the command", args[0])
	}
	r, err := p.record(c, "tap", &trace.Options{Version: p.version})
	if err != nil {
		return err
	}
	defer func() { _ = p.closeTrace(c, r) }() // it has reported its error
	// In a terminal an interrupt from the keyboard reaches the command without us: it goes
	// to the whole foreground.
	list := passedOn()
	if isTerminal(p.stdin) {
		list = slices.DeleteFunc(list, func(s os.Signal) bool { return s == os.Interrupt })
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, list...)
	defer signal.Stop(signals)
	status, err := tap.Run(c.Context, &tap.Options{Command: args, Stdin: p.stdin, Stdout: p.stdout, Stderr: p.stderr,
		Line: r.Tap, OnErr: r.Stderr, Signal: signals})
	if err != nil {
		p.say("%v", err)
		return &commandEnded{exitNotRun}
	}
	if status != 0 {
		return &commandEnded{status}
	}
	return nil
}
