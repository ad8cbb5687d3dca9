package frame

import (
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// HelpFiles has the help of each command and topic, in a file of its name with hyphens
// for blanks. The first line says in a few words what it is. A line in braces stands for
// something else: {options} for the command's own, {options NAME} for a group of
// a2astdio's, {commands} and {topics} for lists, and {NAME} for another file.
//
//go:embed help
var HelpFiles embed.FS

// Topics are what a2astdio's own help leaves to a2astdio help TOPIC.
var Topics = []string{"agent", "credentials", "permissions", "editor", "webhooks", "conversations"}

const (
	// HelpWidth is where help wraps: the usual width of a terminal.
	HelpWidth = 80
	// helpIndent is the indent of an option's text, which has its own line: a sentence has
	// no room beside the names.
	helpIndent = 8
)

// HelpText returns a file's text; "" if there is none, which TestHelp finds.
func HelpText(name string) string {
	b, _ := HelpFiles.ReadFile("help/" + strings.ReplaceAll(name, " ", "-") + ".txt")
	return string(b)
}

// inFewWords returns the first line of a command's or a topic's help.
func inFewWords(name string) string {
	what, _, _ := strings.Cut(HelpText(name), "\n")
	return what
}

// helpPage returns the help of a command or topic. c is the command; nil for a topic.
func (p *Program) helpPage(name string, c *cli.Command) string {
	var b strings.Builder
	if name != ProgramName {
		b.WriteString(ProgramName + " " + name + ": ")
	}
	p.expand(&b, HelpText(name), c)
	return b.String()
}

// expand writes a text with what its lines in braces stand for.
func (p *Program) expand(b *strings.Builder, text string, c *cli.Command) {
	for line := range strings.Lines(text) {
		word, isWord := strings.CutPrefix(strings.TrimSuffix(line, "}\n"), "{")
		group, ofGroup := strings.CutPrefix(word, "options ")
		switch {
		case !isWord || !strings.HasSuffix(line, "}\n"):
			b.WriteString(line)
		case ofGroup:
			writeOptions(b, group+":", RootOptions(), group, false)
		case word == "options":
			writeOptions(b, "Options:", p.Options[c], "", true)
		case word == "commands":
			writeCommands(b, c)
		case word == "topics":
			for _, topic := range Topics {
				fmt.Fprintf(b, "  %-13s  %s\n", topic, inFewWords(topic))
			}
		default:
			p.expand(b, HelpText(word), c)
		}
	}
}

func writeCommands(b *strings.Builder, c *cli.Command) {
	b.WriteString("Commands:\n")
	parent := strings.TrimSuffix(strings.TrimPrefix(c.HelpName, ProgramName)+" ", " ")
	width := 0
	for _, sub := range c.Subcommands {
		width = max(width, len(sub.Name))
	}
	for _, sub := range c.Subcommands {
		fmt.Fprintf(b, "  %s\n", strings.TrimSpace(fmt.Sprintf("%s %-*s  %s", parent, width, sub.Name, sub.Usage)))
	}
	fmt.Fprintf(b, "\n%s COMMAND --help says more about each.\n", c.HelpName)
}

type Action func(p *Program, c *cli.Context) error

// NewCommand makes a command by its whole name, with its help. Behind the name stand the
// names of its arguments, which do not begin with a small letter.
func (p *Program) NewCommand(usage string, do Action, options ...Option) *cli.Command {
	words := strings.Fields(usage)
	n := slices.IndexFunc(words, func(w string) bool { return w[0] < 'a' || w[0] > 'z' })
	if n < 0 {
		n = len(words)
	}
	name := strings.Join(words[:n], " ")
	made := &cli.Command{Name: words[n-1], HelpName: ProgramName + " " + name, Usage: inFewWords(name), ArgsUsage: strings.Join(words[n:], " "),
		Action: func(c *cli.Context) error {
			if err := checkArguments(c, words[n:]); err != nil {
				return err
			}
			return do(p, c)
		}}
	if p.Options == nil {
		p.Options = map[*cli.Command][]*Option{}
	}
	for i := range options {
		p.Options[made] = append(p.Options[made], &options[i])
	}
	return made
}

// AgentCommand is NewCommand for a command that takes the options of the agent, too.
func (p *Program) AgentCommand(usage string, do Action, options ...Option) *cli.Command {
	c := p.NewCommand(usage, do, options...)
	c.Category = takesAgent
	return c
}

// Group makes a command that has only subcommands.
func (p *Program) Group(name string, commands ...*cli.Command) *cli.Command {
	names := commandNames(commands)
	g := p.NewCommand(name+" [COMMAND...]", func(_ *Program, c *cli.Context) error {
		if c.NArg() > 0 {
			return NoCommand(name+" "+c.Args().First(), c.Args().First(), names)
		}
		if len(names) == 1 {
			return Usagef("%s what? There is %s", name, names[0])
		}
		return Usagef("%s what? There are %s", name, strings.Join(names, ", "))
	})
	g.Subcommands = commands
	return g
}

// writeOptions lists options of a group, in the order of their definition; "": all.
// variables: with their variables.
func writeOptions(b *strings.Builder, title string, options []*Option, group string, variables bool) {
	b.WriteString(title + "\n")
	for _, o := range options {
		if group == "" || o.Group == group {
			writeOption(b, o, variables)
		}
	}
}

func writeOption(b *strings.Builder, o *Option, variables bool) {
	value, text := described(o)
	var short, long []string
	for _, name := range append([]string{o.Flag}, o.Aliases...) {
		if len(name) == 1 {
			short = append(short, "-"+name)
		} else {
			long = append(long, "--"+name)
		}
	}
	names := strings.Join(append(short, long...), ", ")
	if len(names)+len(value) > HelpWidth-3 { // many words to choose from
		value, text = "NAME", text+": "+strings.ReplaceAll(value, "|", ", ")
	}
	if v := cmp.Or(o.Shown, o.Default); v != "" {
		text += " [if not given: " + v + "]"
	}
	if variables && hasVariable(o) {
		text += " [variable: " + Env(o.Flag) + "]"
	}
	fmt.Fprintf(b, "  %s\n", strings.TrimSpace(names+" "+value))
	for _, line := range Wrap(text, HelpWidth-helpIndent) {
		b.WriteString(strings.Repeat(" ", helpIndent) + line + "\n")
	}
}
