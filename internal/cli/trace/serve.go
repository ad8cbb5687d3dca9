package trace

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/trace/web"
)

func traceServe(p *frame.Program, c *cli.Context) error {
	args := c.Args().Slice()
	if args[0] == "-" {
		return frame.Usagef("trace serve needs a file: it goes back and forth in it")
	}
	err := web.Serve(c.Context, c.String("listen"), args[0], func(url string) { fmt.Fprintln(p.Stdout, url) })
	if err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	return nil
}
