package frame

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/config"
	"github.com/a2astdio/a2astdio/internal/safe"
)

// This file and run.go are the fence around urfave/cli. The library parses options as
// package flag does: it stops at the first argument, and its errors are prose. So this
// file reads the command line, and gives the library nothing that it could refuse.

const ProgramName = "a2astdio"

// A level is a command on the command line, a2astdio first, with the options that stand
// behind it: their values by their first names.
type level struct {
	*cli.Command
	options map[string][]string
}

func (l *level) isRoot() bool { return l.HelpName == ProgramName }

// read reads the command line. Users may write options before, among or behind arguments;
// what follows a "--" stays as it is. It returns the text that is asked for in place of a
// command, if it is.
func (p *Program) read(app *cli.App) (text string, err error) {
	at := &level{&cli.Command{Name: app.Name, HelpName: ProgramName, Flags: app.Flags, Subcommands: app.Commands, Action: app.Action}, map[string][]string{}}
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
			at = &level{sub, map[string][]string{}}
			p.levels = append(p.levels, at)
		default:
			p.arguments = append(p.arguments, arg)
		}
	}
	return "", nil
}

// option takes an option, and its value from args if it is not in arg. It returns what is
// left of args. Behind a command an option of the agent is a2astdio's.
func (p *Program) option(at *level, arg string, args []string) ([]string, error) {
	name, value, has, _ := optionOf(arg)
	f, on := findFlag(at.Flags, name), at
	if f == nil {
		f, on = findFlag(p.flagsAt(at), name), p.levels[0]
	}
	if f == nil {
		return nil, p.noOption(at, arg, name)
	}
	switch {
	case has:
	case !takesValue(f):
		value = "true"
	case len(args) == 0:
		p.unfinished = f
		return nil, Usagef("--%s needs a value", name)
	default:
		value, args = args[0], args[1:]
	}
	if !fits(f, value) {
		return nil, Usagef("--%s does not take %q%s", f.Names()[0], value, takes(f))
	}
	on.options[f.Names()[0]] = append(on.options[f.Names()[0]], value)
	return args, nil
}

// optionOf splits an option. What has no name of letters, digits and hyphens is an
// argument: -, -5, "- item" or "--x does not work".
func optionOf(arg string) (name, value string, has, ok bool) {
	name, found := strings.CutPrefix(arg, "-")
	name = strings.TrimPrefix(name, "-")
	name, value, has = strings.Cut(name, "=")
	if !found || name == "" || !letter(name[0]) {
		return "", "", false, false
	}
	for i := range len(name) {
		if c := name[i]; !letter(c) && c != '-' && (c < '0' || c > '9') {
			return "", "", false, false
		}
	}
	return name, value, has, true
}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// commandOf returns the command of a name, nil if there is none.
func commandOf(commands []*cli.Command, name string) *cli.Command {
	if i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(name) }); i >= 0 {
		return commands[i]
	}
	return nil
}

// helpFor is the help that a2astdio help WORD... asks for.
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
	flags, names := RootFlags(), commandNames(p.App().Commands)
	for args := p.Args[min(1, len(p.Args)):]; len(args) > 0; args = args[1:] {
		name, _, has, ok := optionOf(args[0])
		if !ok || p.asksHelp() {
			return false
		}
		f := findFlag(flags, name)
		if value := len(args) > 1 && (f != nil && takesValue(f) ||
			f == nil && !strings.HasPrefix(args[1], "-") && (slices.Contains(words, args[1]) || !slices.Contains(names, args[1]))); value && !has {
			args = args[1:]
		}
	}
	return true
}

// noOption is the error for an option that a command does not have. Behind an argument it
// may be meant as text.
func (p *Program) noOption(at *level, arg, name string) error {
	shown, _, _ := strings.Cut(arg, "=")
	text := "there is no option " + shown
	if command := title(at.Command); !at.isRoot() {
		text += " for " + command
		if findFlag(p.levels[0].Flags, name) != nil {
			return Usagef("%s: it goes before the command, as in %s %s ... %s", text, ProgramName, shown, command)
		}
	}
	names := []string{"help"}
	for _, f := range p.flagsAt(at) {
		names = append(names, f.Names()...)
	}
	if near := safe.Nearest(name, slices.DeleteFunc(names, func(n string) bool { return len(n) == 1 })); near != "" {
		text += ": did you mean --" + near + "?"
	}
	if len(p.arguments) > 0 {
		text += " (to use it as text, put -- before the text)"
	}
	return Usagef("%s", text)
}

// NoCommand is the error for an unknown command: called is the command line so far,
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

// fits reports whether an option can have a value.
func fits(f cli.Flag, value string) bool {
	var err error
	switch f := f.(type) {
	case *cli.DurationFlag:
		var d time.Duration
		if d, err = time.ParseDuration(value); d < 0 || d == 0 && (f.Value != 0 || f.Name == "older-than") {
			return false
		}
	case *cli.IntFlag:
		_, err = strconv.ParseUint(value, 0, 31)
	case *cli.BoolFlag:
		_, err = strconv.ParseBool(value)
	case *cli.StringFlag:
		words := choices(f)
		return words == nil || slices.Contains(words, value)
	}
	return err == nil
}

// choices are the words of an option that takes one of some; nil for others. Its help has
// them, in lower case, or the table of package config.
func choices(f *cli.StringFlag) []string {
	if words := config.Words(f.Name); words != nil {
		return words
	}
	if value, _ := placeholder(f.Usage); value != "" && strings.ToLower(value) == value {
		return strings.Split(value, "|")
	}
	return nil
}

// takes tells what an option takes, where its name does not.
func takes(f cli.Flag) string {
	switch f := f.(type) {
	case *cli.DurationFlag:
		return ": it takes a time like 30s or 2m"
	case *cli.IntFlag:
		return ": it takes a number"
	case *cli.BoolFlag:
		return ": it takes true or false, or nothing"
	case *cli.StringFlag:
		return ": it takes " + strings.Join(choices(f), ", ")
	}
	return ""
}

// wrongVariable says which variable holds a value that its option does not take, if the
// command line has no value for it.
func (l *level) wrongVariable() error {
	for _, f := range l.Flags {
		f = bare(f)
		doc, ok := f.(cli.DocGenerationFlag)
		if !ok || l.options[f.Names()[0]] != nil {
			continue
		}
		for _, name := range doc.GetEnvVars() {
			if value := os.Getenv(name); value != "" && !fits(f, value) {
				return Usagef("%s does not take %q%s", name, value, takes(f))
			}
		}
	}
	return nil
}

// findFlag returns the option of a name, nil if there is none.
func findFlag(flags []cli.Flag, name string) cli.Flag {
	if i := slices.IndexFunc(flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) }); i >= 0 {
		return bare(flags[i]) // who asks looks at its type
	}
	return nil
}

func takesValue(f cli.Flag) bool {
	doc, ok := f.(cli.DocGenerationFlag)
	return ok && doc.TakesValue()
}

// title is a command's name with its parent's.
func title(c *cli.Command) string { return strings.TrimPrefix(c.HelpName, ProgramName+" ") }
