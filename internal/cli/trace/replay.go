package trace

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/trace/local"
	"github.com/a2astdio/a2astdio/internal/trace/replay"
)

func traceReplay(p *frame.Program, c *cli.Context) (err error) {
	opts := &replay.Options{}
	if opts.Speed, err = speedOf(c.String("speed")); err != nil {
		return err
	}
	opts.Note = func(text string) { p.Say("%s", text) }
	agent, err := replay.NewAgent(c.Args().First(), opts)
	if err != nil {
		return err
	}
	defer agent.Close()
	err = local.Serve(c.Context, c.String("listen"), func(url string) http.Handler {
		agent.At(url)
		return agent
	}, func(url string) { fmt.Fprintln(p.Stdout, url) })
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	return nil
}

func speedOf(s string) (float64, error) {
	if s == "max" {
		return 0, nil
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || n <= 0 {
		return 0, frame.Usagef("--speed does not take %q: it takes a number like 2 or 0.5, or max", s)
	}
	return n, nil
}
