package cli

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/config"
)

// help is a command's help beside its options.
type help struct {
	intro    string
	usage    []string
	examples []example
	commands []example // the subcommands of a group
	after    string
}

type example struct{ command, what string }

const (
	// helpWidth is where help wraps: the usual width of a terminal.
	helpWidth = 80
	// helpIndent is the indent of an option's text, which has its own line: a sentence has
	// no room beside the names.
	helpIndent = 8
)

func rootHelp(app *cli.App) string {
	var b strings.Builder
	b.WriteString(`a2astdio lets an editor, or a shell, talk to an A2A agent.

An editor that knows the Agent Client Protocol (Zed, JetBrains, Neovim, Emacs,
...) starts it and speaks to it on stdin and stdout; a2astdio speaks A2A to the
agent, over HTTP. In a shell, send takes one prompt to the agent.

Usage:
  a2astdio --agent URL [options]                       what an editor starts
  a2astdio --agent URL [options] send [PROMPT...|-]    one prompt from a shell
  a2astdio --agent URL doctor                          what is wrong, if it is
  a2astdio setup [URL]                                 name an agent, once
  a2astdio demo --listen ADDR                          an agent to try it with
  a2astdio companion                                   what terminal agents look for

Try it, with the agent that is built in:
  a2astdio --agent demo send hello
  a2astdio --agent demo send shell        it asks before it runs a command
  a2astdio --agent demo                   the command to put into your editor

Look at it:
  a2astdio --agent demo card get          who it is, and what it can do
  a2astdio --agent demo doctor            is everything in order on the way there?

With your own agent:
  a2astdio setup                              once: it asks where your agent is
  a2astdio auth login                         sign in, if it wants to know you
  a2astdio send "add a test for the parser"
  git diff | a2astdio send "review this" -
  a2astdio --trace trace.jsonl send hello     see what passed to and fro

Commands:
`)
	width := 0
	for _, c := range app.Commands {
		width = max(width, len(c.Name))
	}
	for _, c := range app.Commands {
		fmt.Fprintf(&b, "  %-*s  %s\n", width, c.Name, c.Usage)
	}
	b.WriteString("\na2astdio COMMAND --help says more about each.\n")
	writeOptions(&b, app.Flags, false)
	b.WriteString("\n  -h, --help\n        show this\n  -v, --version\n        show the version\n")
	b.WriteString(`
Each of these options has an environment variable: --log-level is
A2ASTDIO_LOG_LEVEL. An option of a command has one where its help says so. An
option wins over its variable, and that over your configuration: see a2astdio
config show, and docs/configuration.md.

Exit status:
` + exitHelp + "\n")
	return b.String()
}

func documented(c *cli.Command, h help) *cli.Command {
	var b strings.Builder
	c.HelpName = cmp.Or(c.HelpName, "a2astdio "+c.Name)
	fmt.Fprintf(&b, "%s: %s\n\n%s\n\nUsage:\n", c.HelpName, c.Usage, h.intro)
	for _, u := range h.usage {
		fmt.Fprintf(&b, "  %s\n", u)
	}
	if len(h.commands) > 0 {
		b.WriteString("\nCommands:\n")
		width := 0
		for _, e := range h.commands {
			width = max(width, len(e.command))
		}
		for _, e := range h.commands {
			fmt.Fprintf(&b, "  %-*s  %s\n", width, e.command, e.what)
		}
		fmt.Fprintf(&b, "\n%s COMMAND --help says more about each.\n", c.HelpName)
	}
	b.WriteString("\nExamples:\n")
	for _, e := range h.examples {
		fmt.Fprintf(&b, "  %s\n        %s\n", e.command, e.what)
	}
	writeOptions(&b, c.Flags, true)
	b.WriteString(cmp.Or(h.after, "\nExit status:\n  0    done\n  1    failed\n  2    a2astdio was called wrongly\n"))
	c.CustomHelpTemplate = b.String()
	return c
}

// writeOptions lists options by group, in the order of their definition. variables:
// with their variables.
func writeOptions(b *strings.Builder, flags []cli.Flag, variables bool) {
	groups := append([]string{""}, config.Groups()...)
	position := func(f cli.Flag) int {
		c, _ := f.(cli.CategorizableFlag)
		return slices.Index(groups, c.GetCategory())
	}
	flags = slices.Clone(flags)
	sort.SliceStable(flags, func(i, j int) bool { return position(flags[i]) < position(flags[j]) })
	group := "-"
	for _, f := range flags {
		if v, ok := f.(cli.VisibleFlag); ok && !v.IsVisible() {
			continue
		}
		if c, ok := f.(cli.CategorizableFlag); ok && c.GetCategory() != group {
			group = c.GetCategory()
			fmt.Fprintf(b, "\n%s:\n", cmp.Or(group, "Options"))
		}
		writeOption(b, f, variables)
	}
}

func writeOption(b *strings.Builder, f cli.Flag, variables bool) {
	doc, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return
	}
	value, text := placeholder(doc.GetUsage())
	var short, long []string
	for _, name := range f.Names() {
		if len(name) == 1 {
			short = append(short, "-"+name)
		} else {
			long = append(long, "--"+name)
		}
	}
	names := strings.Join(append(short, long...), ", ")
	v := doc.GetValue()
	if number, ok := f.(*cli.IntFlag); ok {
		v = number.DefaultText
	} else if words, ok := f.(*cli.StringFlag); ok && words.DefaultText != "" {
		v = words.DefaultText
	}
	if doc.TakesValue() && v != "" && v != "[]" && v != "0s" {
		text += " [if not given: " + strings.Trim(v, `"`) + "]"
	}
	if from := doc.GetEnvVars(); variables && len(from) > 0 {
		text += " [variable: " + from[0] + "]"
	}
	fmt.Fprintf(b, "  %s\n", strings.TrimSpace(names+" "+value))
	writeWrapped(b, text)
}

// placeholder splits an option's usage: the value's name stands between backquotes, as
// in package flag.
func placeholder(usage string) (value, text string) {
	_, rest, found := strings.Cut(usage, "`")
	if !found {
		return "", usage
	}
	value, text, _ = strings.Cut(rest, "`")
	return value, strings.TrimPrefix(text, ": ")
}

func writeWrapped(b *strings.Builder, text string) {
	line := strings.Repeat(" ", helpIndent-1)
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > helpWidth {
			b.WriteString(line + "\n")
			line = strings.Repeat(" ", helpIndent-1)
		}
		line += " " + word
	}
	b.WriteString(line + "\n")
}
