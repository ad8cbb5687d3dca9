package trace

import (
	"bufio"
	"errors"
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
	of, skip := c.String("of"), frame.StringsOf(c, "skip")
	for _, rule := range skip {
		if !slices.Contains(check.Rules[:], rule) {
			return frame.Usagef("--skip: there is no rule %q, but %s", rule, strings.Join(check.Rules[:], ", "))
		}
	}
	picks := func(f *check.Finding) bool { return (of == "" || f.Who == of) && !slices.Contains(skip, f.Rule) }
	found := false
	for _, file := range c.Args().Slice() {
		n, err := checkFile(p, c, file, picks)
		if err != nil {
			return err
		}
		found = found || n > 0
	}
	if found {
		return frame.ErrFailed
	}
	return nil
}

// checkFile writes what is wrong in a trace, and returns the number of errors.
func checkFile(p *frame.Program, c *cli.Context, file string, picks func(*check.Finding) bool) (n int, err error) {
	r, err := trace.Open(file, p.Input(c.Context))
	if err != nil {
		return 0, err
	}
	defer r.Close()
	asJSON, out := frame.AsJSON(c), bufio.NewWriter(p.Stdout)
	defer func() { err = errors.Join(err, out.Flush()) }()
	report := func(f *check.Finding) {
		if !asJSON {
			fmt.Fprintf(out, "%s: %s\n", file, safe.Plain(f.String()))
			return
		}
		line, err := frame.Encode(struct {
			File string `json:"file"`
			*check.Finding
		}{file, f})
		if err == nil {
			out.Write(line)
		}
	}
	checker := check.New(&check.Options{Report: report, Picks: picks})
	records := 0
	for rec, err := range r.All() {
		if err != nil {
			return 0, err
		}
		records++
		checker.Add(rec)
	}
	checker.End()
	noteTrace(p, r)
	for _, n := range checker.Notes() {
		p.Say("%s: %s", file, n)
	}
	if !asJSON {
		warnings := ""
		if n := checker.Count() - checker.Errors(); n > 0 {
			warnings = ", of which " + frame.Count(n, "warning")
		}
		fmt.Fprintf(out, "%s: %s in %s%s\n", file, frame.Count(checker.Count(), "finding"), frame.Count(records, "record"), warnings)
	}
	return checker.Errors(), nil
}
