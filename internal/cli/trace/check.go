package trace

import (
	"bufio"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/internal/trace/check"
)

func traceCheck(p *frame.Program, c *cli.Context) error {
	args := c.Args().Slice()
	for _, rule := range frame.StringsOf(c, "skip") {
		if !slices.Contains(check.Rules[:], rule) {
			return frame.Usagef("--skip: there is no rule %q, but %s", rule, strings.Join(check.Rules[:], ", "))
		}
	}
	found := false
	for _, file := range args {
		one := &checking{p: p, file: file, of: c.String("of"), skip: frame.StringsOf(c, "skip"), json: c.String("output") == frame.JSON, out: bufio.NewWriter(p.Stdout)}
		err := one.run()
		if flushErr := one.out.Flush(); err == nil {
			err = flushErr
		}
		if err != nil {
			return err
		}
		found = found || one.errors > 0
	}
	if found {
		return frame.ErrFailed
	}
	return nil
}

type checking struct {
	p        *frame.Program
	file, of string
	skip     []string
	json     bool
	out      *bufio.Writer
	errors   int
	records  int
}

func (g *checking) run() error {
	r, err := trace.Open(g.file, g.p.Stdin)
	if err != nil {
		return err
	}
	defer r.Close()
	c := check.New(&check.Options{Report: g.report, Picks: func(f *check.Finding) bool {
		return (g.of == "" || f.Who == g.of) && !slices.Contains(g.skip, f.Rule)
	}})
	for rec, err := range r.All() {
		if err != nil {
			return err
		}
		g.records++
		c.Add(rec)
	}
	c.End()
	noteTrace(g.p, r)
	for _, n := range c.Notes() {
		g.p.Say("%s: %s", g.file, n)
	}
	if g.errors = c.Errors(); !g.json {
		warnings := ""
		if n := c.Count() - g.errors; n > 0 {
			warnings = ", of which " + frame.Count(n, "warning")
		}
		fmt.Fprintf(g.out, "%s: %s in %s%s\n", g.file, frame.Count(c.Count(), "finding"), frame.Count(g.records, "record"), warnings)
	}
	return nil
}

func (g *checking) report(f *check.Finding) {
	if !g.json {
		fmt.Fprintf(g.out, "%s: %s\n", g.file, safe.Plain(f.String()))
		return
	}
	line, err := json.Marshal(struct {
		File string `json:"file"`
		*check.Finding
	}{g.file, f})
	if err == nil {
		g.out.Write(append(line, '\n'))
	}
}
