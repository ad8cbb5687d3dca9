package cli

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/trace/web"
)

func (p *program) traceServeCommand() *cli.Command {
	return traceCommandOf("serve", "show a trace in a browser", p.traceServe, help{
		intro: `Serves a page that shows a trace: arrows between editor, bridge and agent, the
JSON of each message, both sides of a translation, tool calls and waits for
approval on a time axis, a search. A trace that is being written is shown as it
grows. Nothing is fetched from a network.

The page's URL is written to stdout, as one line; it holds a token, without
which nothing is answered. Ctrl-C ends it. trace export --html makes a file of
the same page.`,
		usage: []string{"a2astdio trace serve [options] FILE"},
		examples: []example{
			{"a2astdio trace serve t.jsonl", "open the URL in a browser"},
			{"a2astdio trace serve --session 4f0c t.jsonl", "one session of many"},
		},
	}, append([]cli.Flag{
		&cli.StringFlag{Name: "listen", Value: "127.0.0.1:0", DefaultText: "a free port of this machine", Usage: "`ADDR`: where to listen, HOST:PORT; without HOST on this machine only"},
	}, filterFlags()...)...)
}

func (p *program) traceServe(c *cli.Context) error {
	args, err := p.arguments(c, "FILE")
	if err != nil {
		return err
	}
	if args[0] == "-" {
		return usagef("trace serve needs a file: it goes back and forth in it")
	}
	filter, err := filterOf(c)
	if err != nil {
		return err
	}
	err = web.Serve(c.Context, c.String("listen"), args[0], &web.Options{Filter: filter}, func(url string) { fmt.Fprintln(p.stdout, url) })
	if err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	return nil
}
