package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// errHelp ends a command whose help was asked for behind its arguments.
var errHelp = errors.New("help was shown")

// arguments returns a command's arguments, of which the names tell the number:
// one in brackets may be left out. Options may stand among them, which the
// library, like package flag, would take for arguments.
func (p *program) arguments(c *cli.Context, names ...string) ([]string, error) {
	args, err := p.withoutOptions(c)
	if err != nil {
		return nil, err
	}
	needed := slices.IndexFunc(names, func(n string) bool { return strings.HasPrefix(n, "[") })
	if needed < 0 {
		needed = len(names)
	}
	what := title(c.Command)
	switch {
	case len(args) > len(names) && len(names) == 0:
		return nil, usagef("%s takes no arguments, and got %q", what, args[0])
	case len(args) > len(names):
		return nil, usagef("%s takes %s and nothing more, and got %q", what, strings.Join(names, " "), args[len(names)])
	case len(args) < needed:
		return nil, usagef("%s needs %s", what, names[len(args)])
	}
	for i, a := range args[:needed] {
		if a == "" {
			return nil, usagef("%s needs %s, and got an empty one", what, names[i])
		}
	}
	return args, nil
}

// withoutOptions sets the options that stand among the arguments, and returns the
// others.
func (p *program) withoutOptions(c *cli.Context) (args []string, err error) {
	rest := c.Args().Slice()
	if slices.Contains(p.args, "--") {
		return rest, nil // the user has said where options end
	}
	for len(rest) > 0 {
		arg := rest[0]
		rest = rest[1:]
		name, value, has := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if !strings.HasPrefix(arg, "-") || name == "" {
			args = append(args, arg)
			continue
		}
		if name == "help" || name == "h" {
			if err := cli.ShowSubcommandHelp(c); err != nil {
				return nil, err
			}
			return nil, errHelp
		}
		f := findFlag(c.Command.Flags, name)
		switch {
		case f == nil:
			return nil, usagef("there is no option %s for %s", strings.TrimSuffix(arg, "="+value), title(c.Command))
		case has:
		case !takesValue(f):
			value = "true"
		case len(rest) == 0:
			return nil, usagef("--%s needs a value", name)
		default:
			value, rest = rest[0], rest[1:]
		}
		for _, n := range f.Names() { // the library keeps a value for each
			if err := c.Set(n, value); err != nil {
				return nil, usagef("--%s does not take %q%s", name, value, takes(f))
			}
		}
	}
	return args, nil
}

// title is what a command is called, with the one that it belongs to.
func title(c *cli.Command) string { return strings.ReplaceAll(c.HelpName, "a2astdio ", "") }

// group makes a command of which only the subcommands do anything.
func group(name, usage string, h help, commands ...*cli.Command) *cli.Command {
	g := &cli.Command{Name: name, HelpName: "a2astdio " + name, Usage: usage, Subcommands: commands}
	var names []string
	for _, c := range commands {
		names = append(names, c.Name)
		h.commands = append(h.commands, example{name + " " + c.Name, c.Usage})
	}
	there := "there are " + strings.Join(names, ", ")
	if len(names) == 1 {
		there = "there is " + names[0]
	}
	g.Action = func(c *cli.Context) error {
		if c.NArg() == 0 {
			return usagef("%s what? There %s", title(g), strings.TrimPrefix(there, "there "))
		}
		return usagef("there is no command %q: %s", title(g)+" "+c.Args().First(), there)
	}
	g.CustomHelpTemplate = commandHelp(g, h)
	return g
}

// prepare sets what every command needs, and its subcommands.
func prepare(commands []*cli.Command) {
	for _, c := range commands {
		c.OnUsageError = onUsageError
		// The library would take the word help as a subcommand: "send help" is a
		// prompt.
		c.HideHelpCommand = true
		prepare(c.Subcommands)
	}
}
