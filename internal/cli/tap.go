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

func (p *program) tapCommand() *cli.Command {
	return documented(&cli.Command{Name: "tap", Usage: "record what an editor and an agent on stdio exchange", Action: p.tap, Flags: behindCommand()}, help{
		intro: `Runs a command that speaks on stdin and stdout, an ACP agent or an MCP server,
and records both directions in the trace that --trace names, and what it writes
to stderr. Every byte passes as it is, at once; signals are passed on, and the
exit status is the command's (128 and the number, if a signal ended it).

Put it into an editor's settings in front of the command that is there.`,
		usage: []string{"a2astdio tap --trace FILE -- COMMAND [ARGS...]"},
		examples: []example{
			{"a2astdio tap --trace /tmp/acp-{pid}.jsonl -- gemini --experimental-acp", "an ACP agent; a file for each process"},
			{"a2astdio trace show --follow /tmp/acp-4711.jsonl", "what they say, as they say it"},
		},
		after: `
Exit status: the command's; 127 if it could not be run, 2 if a2astdio was called
wrongly.
`,
	})
}

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
