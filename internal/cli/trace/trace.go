// Package trace has the commands about traces, and proxy and tap, which make some.
package trace

import (
	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/trace"
)

func Command(p *frame.Program) *cli.Command {
	return p.Group("trace",
		p.NewCommand("trace show FILE", traceShow,
			&cli.StringFlag{Name: "session", Usage: "`ID`: only this session of the editor's, or those that begin so"},
			&cli.BoolFlag{Name: "failed", Usage: "only what went wrong, or is not as the protocols say"},
			&cli.StringFlag{Name: "method", Usage: "`NAME`: only this method, update or event; * is anything: 'session/*', tool_call"},
			&cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "go on as the trace is written, until interrupted"},
			&cli.IntFlag{Name: "record", DefaultText: "all", Usage: "`N`: show one record, in full"},
			frame.OutputFlag("the records as they are in the file, one a line")),
		p.NewCommand("trace serve FILE", traceServe, listenFlag()),
		p.NewCommand("trace check FILE...", traceCheck,
			&cli.StringFlag{Name: "of", Usage: "`editor|bridge|agent`: only what this one does wrong; bridge is also what tap listens to"},
			&cli.StringSliceFlag{Name: "skip", Usage: "`RULE`: not this rule. Repeatable"},
			frame.OutputFlag(`{"file","record","who","rule","weight","source","what","text"}, one a line`)),
		p.NewCommand("trace replay FILE", traceReplay,
			listenFlag(),
			&cli.StringFlag{Name: "speed", Value: "1", Usage: "`N|max`: how many times faster than it was; max is without pauses"}),
		p.NewCommand("trace export FILE", traceExport,
			&cli.BoolFlag{Name: "html", Usage: "the page that trace serve shows, with the trace in it"},
			&cli.BoolFlag{Name: "har", Usage: "HAR 1.2: the agent's wire"},
			&cli.BoolFlag{Name: "redact", Usage: "the trace itself, without texts, as --trace-redact would have written it"},
			&cli.StringFlag{Name: "out", Usage: "`FILE`: where to write; without it, to stdout"}))
}

// openTraceFile opens the trace that the command's argument names.
func openTraceFile(p *frame.Program, c *cli.Context) (*trace.Reader, string, error) {
	args := c.Args().Slice()
	r, err := trace.Open(args[0], p.Stdin)
	return r, args[0], err
}

// noteTrace reports what is wrong with a trace that was read. That is no error: its
// readable part was shown.
func noteTrace(p *frame.Program, r *trace.Reader) {
	for _, n := range r.Notes() {
		p.Say("%s", n)
	}
}

// listenFlag is of what serves a trace, or another agent.
func listenFlag() cli.Flag {
	return &cli.StringFlag{Name: "listen", Value: "127.0.0.1:0", DefaultText: "a free port of this machine", Usage: "`ADDR`: where to listen, HOST:PORT; without HOST on this machine only"}
}
