package frame

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/safe"
)

// This file and program.go are the fence around urfave/cli. The library parses options as
// package flag does: it stops at the first argument, and its errors are prose. So this
// file reads the command line, and gives the library nothing that it could refuse.

const ProgramName = "a2astdio"

// A level is a command on the command line, a2astdio first, with its options, and those that
// are given behind it, by name.
type level struct {
	*cli.Command
	options []*Option
	given   map[string]*value
}

func (l *level) isRoot() bool { return l.HelpName == ProgramName }

// parse reads the command line into levels, arguments, Before and unfinished. Users may write
// options before, among or behind arguments; what follows a "--" stays as it is. text is what
// is asked for in place of a command: help, or the version.
func (p *Program) parse(app *cli.App) (text string, err error) {
	at := &level{&cli.Command{Name: app.Name, HelpName: ProgramName, Subcommands: app.Commands, Action: app.Action}, RootOptions(), map[string]*value{}}
	p.levels, p.Before, p.arguments, p.unfinished = []*level{at}, -1, nil, nil
	for args := p.Args[min(1, len(p.Args)):]; len(args) > 0; {
		arg := args[0]
		args = args[1:]
		name, _, _, isOption := optionOf(arg)
		sub := commandOf(at.Subcommands, arg)
		switch {
		case arg == "--":
			p.Before = len(p.arguments)
			p.arguments = append(p.arguments, args...)
			return "", nil
		case isOption && (name == "help" || name == "h"): // whatever else is said
			if len(at.Subcommands) > 0 && len(p.arguments) > 0 {
				return "", nil // of a command that at does not have: its action says so
			}
			return p.helpPage(title(at.Command), at.Command), nil
		case isOption && at.isRoot() && (name == "version" || name == "v"):
			return app.Name + " version " + app.Version + "\n", nil
		case isOption:
			if args, err = p.option(at, arg, args); err != nil {
				return "", err
			}
		case at.isRoot() && arg == "help" && len(p.arguments) == 0:
			return p.helpFor(at.Command, args)
		case sub != nil && len(p.arguments) == 0:
			at = &level{sub, p.Options[sub], map[string]*value{}}
			p.levels = append(p.levels, at)
		default:
			p.arguments = append(p.arguments, arg)
		}
	}
	return "", nil
}

// option takes an option, and its value from args if it is not in arg. It returns what is
// left of args. One about the agent may stand behind a command, and is a2astdio's all the same.
func (p *Program) option(at *level, arg string, args []string) ([]string, error) {
	name, value, has, _ := optionOf(arg)
	o, on := findOption(at.options, name), at
	if o == nil {
		o, on = findOption(p.optionsAt(at), name), p.levels[0]
	}
	if o == nil {
		return nil, p.noOption(at, arg, name)
	}
	switch {
	case has:
	case o.Kind == Switch:
		value = "true"
	case len(args) == 0:
		p.unfinished = o
		return nil, Usagef("--%s needs a value", name)
	default:
		value, args = args[0], args[1:]
	}
	if on.given[o.Flag] == nil {
		on.given[o.Flag] = newValue(o)
	}
	if err := on.given[o.Flag].Set(value); err != nil {
		return nil, Usagef("--%s %v", o.Flag, err)
	}
	return args, nil
}

// optionOf splits an option; has: it has a value. What has no name of letters, digits and
// hyphens is no option, but an argument: -, -5, "- item" or "--x does not work".
func optionOf(arg string) (name, value string, has, ok bool) {
	name, found := strings.CutPrefix(arg, "-")
	name = strings.TrimPrefix(name, "-")
	name, value, has = strings.Cut(name, "=")
	odd := func(c rune) bool { return !letter(c) && c != '-' && (c < '0' || c > '9') }
	if !found || name == "" || !letter(rune(name[0])) || strings.ContainsFunc(name, odd) {
		return "", "", false, false
	}
	return name, value, has, true
}

func letter(c rune) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// commandOf returns the command of a name, nil if there is none.
func commandOf(commands []*cli.Command, name string) *cli.Command {
	if i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(name) }); i >= 0 {
		return commands[i]
	}
	return nil
}

// helpFor returns the help that a2astdio help WORD... asks for.
func (p *Program) helpFor(at *cli.Command, words []string) (string, error) {
	if len(words) == 1 && slices.Contains(Topics, words[0]) {
		return p.helpPage(words[0], nil), nil
	}
	for i, word := range words {
		sub := commandOf(at.Subcommands, word)
		if sub == nil {
			return "", NoCommand(strings.Join(words[:i+1], " "), word, append(commandNames(at.Subcommands), Topics...))
		}
		at = sub
	}
	return p.helpPage(title(at), at), nil
}

// NamesNoCommand reports whether a command line, which may have faults, is an editor's: it
// has options only. An unknown one may have a value, which may be called as a command is:
// words are such values.
func (p *Program) NamesNoCommand(words ...string) bool {
	options, names := RootOptions(), commandNames(p.App().Commands)
	for args := p.Args[min(1, len(p.Args)):]; len(args) > 0; args = args[1:] {
		name, _, has, ok := optionOf(args[0])
		if !ok || p.asksHelp() {
			return false
		}
		o := findOption(options, name)
		if value := len(args) > 1 && (o != nil && o.Kind != Switch ||
			o == nil && !strings.HasPrefix(args[1], "-") && (slices.Contains(words, args[1]) || !slices.Contains(names, args[1]))); value && !has {
			args = args[1:]
		}
	}
	return true
}

// noOption returns the error for an option that a command does not have. Behind an argument it
// may be meant as text.
func (p *Program) noOption(at *level, arg, name string) error {
	shown, _, _ := strings.Cut(arg, "=")
	text := "there is no option " + shown
	if command := title(at.Command); !at.isRoot() {
		text += " for " + command
		if findOption(p.levels[0].options, name) != nil {
			return Usagef("%s: it goes before the command, as in %s %s ... %s", text, ProgramName, shown, command)
		}
	}
	names := []string{"help"}
	for _, o := range p.optionsAt(at) {
		names = append(append(names, o.Flag), o.Aliases...)
	}
	if near := safe.Nearest(name, slices.DeleteFunc(names, func(n string) bool { return len(n) == 1 })); near != "" {
		text += ": did you mean --" + near + "?"
	}
	if len(p.arguments) > 0 {
		text += " (to use it as text, put -- before the text)"
	}
	return Usagef("%s", text)
}

// NoCommand returns the error for an unknown command: called is the command line so far,
// word the unknown one, names the known ones.
func NoCommand(called, word string, names []string) error {
	if near := safe.Nearest(word, names); near != "" {
		return Usagef("there is no command %q: did you mean %s?", called, near)
	}
	return Usagef("there is no command %q, but %s", called, strings.Join(names, ", "))
}

func commandNames(commands []*cli.Command) []string {
	var names []string
	for _, c := range commands {
		names = append(names, c.Name)
	}
	return names
}

// title returns a command's name with its parent's.
func title(c *cli.Command) string { return strings.TrimPrefix(c.HelpName, ProgramName+" ") }

// checkArguments refuses a number of arguments that a command does not take. names are
// those of the arguments: one in brackets may be left out, and any number may stand where
// the last one ends with three points.
func checkArguments(c *cli.Context, names []string) error {
	args, what := c.Args().Slice(), title(c.Command)
	needed := slices.IndexFunc(names, func(n string) bool { return strings.HasPrefix(n, "[") })
	if needed < 0 {
		needed = len(names)
	}
	all := strings.Join(names, " ")
	switch {
	case len(args) > len(names) && len(names) == 0:
		return Usagef("%s takes no arguments, and got %q", what, args[0])
	case len(args) > len(names) && !strings.Contains(all, "..."):
		return Usagef("%s takes %s and nothing more, and got %q", what, all, args[len(names)])
	case len(args) < needed:
		return Usagef("%s needs %s", what, strings.TrimSuffix(names[len(args)], "..."))
	}
	if i := slices.Index(args[:needed], ""); i >= 0 {
		return Usagef("%s needs %s, and got an empty one", what, names[i])
	}
	return nil
}
