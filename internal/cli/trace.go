package cli

import (
	"os"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/internal/trace/fault"
)

func (p *program) traceCommand() *cli.Command {
	return group("trace",
		newCommand("trace show", p.traceShow,
			append(filterFlags(),
				&cli.StringFlag{Name: "method", Usage: "`NAME`: only this method, update or event; * is anything: 'session/*', tool_call"},
				&cli.StringFlag{Name: "task-id", Usage: "`ID`: only this task of the agent's, or those that begin so"},
				&cli.StringFlag{Name: "direction", Usage: "`from-editor|to-editor|from-agent|to-agent`: only what goes that way"},
				&cli.StringFlag{Name: "text", Usage: "`TEXT`: only what contains this"},
				&cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "go on as the trace is written, until interrupted"},
				&cli.BoolFlag{Name: "stats", Usage: "figures instead of lines: how much passed, how long replies took, first events, silences, turns, tool calls"},
				&cli.IntFlag{Name: "record", DefaultText: "all", Usage: "`N`: show one record, in full"},
				outputFlag("the records as they are in the file, one a line"))...),
		newCommand("trace serve", p.traceServe,
			append([]cli.Flag{
				listenFlag(),
			}, filterFlags()...)...),
		newCommand("trace check", p.traceCheck,
			&cli.StringFlag{Name: "of", Usage: "`editor|bridge|agent`: only what this one does wrong; bridge is also what tap listens to"},
			&cli.StringSliceFlag{Name: "skip", Usage: "`RULE`: not this rule. Repeatable"},
			outputFlag(`{"file","record","who","rule","weight","source","what","text"}, one a line`)),
		agentCommand("trace replay", p.traceReplay,
			listenFlag(),
			&cli.StringFlag{Name: "speed", Value: "1", Usage: "`N|max`: how many times faster than it was; max is without pauses"},
			faultFlag(),
			&cli.BoolFlag{Name: "editor", Usage: "play the editor's side"}),
		newCommand("trace export", p.traceExport,
			&cli.BoolFlag{Name: "html", Usage: "the page that trace serve shows, with the trace in it"},
			&cli.BoolFlag{Name: "har", Usage: "HAR 1.2: the agent's wire"},
			&cli.BoolFlag{Name: "redact", Usage: "the trace itself, without texts, as --trace-redact would have written it"},
			&cli.StringFlag{Name: "out", Usage: "`FILE`: where to write; without it, to stdout"}))
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
// wanted there.
func (p *program) terminalOf() (width int, color bool) {
	width, _ = strconv.Atoi(os.Getenv("COLUMNS")) // 0 for what is no number
	if width = max(width, 0); width == 0 && isTerminal(p.stdout) {
		width = widthOf(p.stdout)
	}
	return width, bool(styleOf(p.stdout))
}

// listenFlag and faultFlag are options of what serves a trace, or another agent.
func listenFlag() cli.Flag {
	return &cli.StringFlag{Name: "listen", Value: "127.0.0.1:0", DefaultText: "a free port of this machine", Usage: "`ADDR`: where to listen, HOST:PORT; without HOST on this machine only"}
}

func faultFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "fault", Usage: "`FAULT`: what is to go wrong: " + fault.Help + ". Repeatable"}
}
