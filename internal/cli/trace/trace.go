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
			frame.Option{Name: "session", Takes: "ID", Help: "only this session of the editor's, or those that begin so"},
			frame.Option{Name: "failed", Kind: frame.Switch, Help: "only what went wrong, or is not as the protocols say"},
			frame.Option{Name: "method", Takes: "NAME", Help: "only this method, update or event; * is anything: 'session/*', tool_call"},
			frame.Option{Name: "follow", Kind: frame.Switch, Aliases: []string{"f"}, Help: "go on as the trace is written, until interrupted"},
			frame.Option{Name: "record", Kind: frame.Number, Shown: "all", Takes: "N", Help: "show one record, in full"},
			frame.Output("the records as they are in the file, one a line")),
		p.NewCommand("trace serve FILE", traceServe, listenFlag()),
		p.NewCommand("trace check FILE...", traceCheck,
			frame.Option{Name: "of", Takes: "editor|bridge|agent", Help: "only what this one does wrong; bridge is also what tap listens to"},
			frame.Option{Name: "skip", Kind: frame.List, Takes: "RULE", Help: "not this rule. Repeatable"},
			frame.Output(`{"file","record","who","rule","weight","source","what","text"}, one a line`)),
		p.NewCommand("trace replay FILE", traceReplay,
			listenFlag(),
			frame.Option{Name: "speed", Value: "1", Takes: "N|max", Help: "how many times faster than it was; max is without pauses"}),
		p.NewCommand("trace export FILE", traceExport,
			frame.Option{Name: "html", Kind: frame.Switch, Help: "the page that trace serve shows, with the trace in it"},
			frame.Option{Name: "har", Kind: frame.Switch, Help: "HAR 1.2: the agent's wire"},
			frame.Option{Name: "redact", Kind: frame.Switch, Help: "the trace itself, without texts, as --trace-redact would have written it"},
			frame.Option{Name: "out", Takes: "FILE", Help: "where to write; without it, to stdout"}))
}

// openTraceFile opens the trace that the command's argument names.
func openTraceFile(p *frame.Program, c *cli.Context) (*trace.Reader, string, error) {
	args := c.Args().Slice()
	r, err := trace.Open(args[0], p.Input(c.Context))
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
func listenFlag() frame.Option {
	return frame.Option{Name: "listen", Value: "127.0.0.1:0", Shown: "a free port of this machine", Takes: "ADDR", Help: "where to listen, HOST:PORT; without HOST on this machine only"}
}
