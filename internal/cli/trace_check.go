package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/internal/trace/check"
)

func (p *program) traceCheckCommand() *cli.Command {
	return traceCommandOf("check", "check a trace against the protocols", p.traceCheck, help{
		intro: `Says where somebody has not kept to the protocols: a line for each place, with
the record's number, who has said it, which rule it breaks, and how. The rules:

  json-rpc  JSON-RPC 2.0
  schema    the schema of what is spoken: ACP 1, A2A 0.3, A2A 1.0, A2A lines
  version   one version is announced, and another one spoken
  answered  every request is answered, and once
  order     updates before their reply, calls before news of them, and the like
  seq       the numbers of A2A lines have no gap
  state     a task that is over stays so, and a stream ends when it is
  http      Content-Types, and the form of streams
  words     what the agent says reaches the editor, all of it, and once

A warning is what clients get along with. What could not be checked is said on
stderr. trace show --record N shows more of
a record.`,
		usage: []string{"a2astdio trace check [options] FILE..."},
		examples: []example{
			{"a2astdio trace check t.jsonl", "all of it"},
			{"a2astdio trace check --of agent --skip schema t.jsonl", "what the agent does wrong, beyond what is missing in its JSON"},
		},
		after: strings.Replace(traceAfter, "  0    done\n  1    failed: the file is no trace, for one\n", "  0    nothing was found but warnings\n  1    something was; or failed: a file is no trace, for one\n", 1),
	},
		&cli.StringFlag{Name: "of", Usage: "`editor|bridge|agent`: only what this one does wrong; bridge is also what tap listens to"},
		&cli.StringSliceFlag{Name: "skip", Usage: "`RULE`: not this rule. Repeatable"},
		outputFlag(`{"file","record","who","rule","weight","source","what","text"}, one a line`))
}

func (p *program) traceCheck(c *cli.Context) error {
	args := c.Args().Slice()
	format, err := oneOf(c, "output", formatText, formatJSON)
	if err != nil {
		return err
	}
	if c.String("of") != "" {
		if _, err = oneOf(c, "of", check.Editor, check.Bridge, check.Agent); err != nil {
			return err
		}
	}
	for _, rule := range stringsOf(c, "skip") {
		if !slices.Contains(check.Rules[:], rule) {
			return usagef("--skip: there is no rule %q, but %s", rule, strings.Join(check.Rules[:], ", "))
		}
	}
	if len(args) == 0 {
		return usagef("trace check needs FILE")
	}
	found := false
	for _, file := range args {
		one := &checking{p: p, file: file, of: c.String("of"), skip: stringsOf(c, "skip"), json: format == formatJSON, out: bufio.NewWriter(p.stdout)}
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
		return errFailed
	}
	return nil
}

type checking struct {
	p        *program
	file, of string
	skip     []string
	json     bool
	out      *bufio.Writer
	errors   int
	records  int
}

func (g *checking) run() error {
	r, err := trace.Open(g.file, g.p.stdin)
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
	g.p.noteTrace(r)
	for _, n := range c.Notes() {
		g.p.say("%s: %s", g.file, n)
	}
	if g.errors = c.Errors(); !g.json {
		warnings := ""
		if n := c.Count() - g.errors; n > 0 {
			warnings = ", of which " + count(n, "warning")
		}
		fmt.Fprintf(g.out, "%s: %s in %s%s\n", g.file, count(c.Count(), "finding"), count(g.records, "record"), warnings)
	}
	return nil
}

func (g *checking) report(f *check.Finding) {
	if !g.json {
		fmt.Fprintf(g.out, "%s: %s\n", g.file, plainText(f.String()))
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

func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
