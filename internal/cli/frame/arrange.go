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

// This file and run.go are the fence around urfave/cli. The library parses
// options as package flag does: it stops at the first argument, and its errors are
// prose. So this file reads the command line first, and gives the library's options one
// order, first names, and nothing that they could refuse.

// rootCommand is a2astdio as a command, the first of those on a command line.
func rootCommand(app *cli.App) *cli.Command {
	return &cli.Command{Name: app.Name, HelpName: ProgramName, Flags: app.Flags, Subcommands: app.Commands, Action: app.Action}
}

const ProgramName = "a2astdio"

// Arrange reads the command line. It returns each command's options behind its name, as
// --name=value, and "--" before the arguments: users may write options before, among or
// behind arguments. What follows a "--" stays as it is.
func (p *Program) Arrange(app *cli.App) ([]string, error) {
	at := rootCommand(app)
	p.levels, p.Before = []*cli.Command{at}, -1
	out := []string{ProgramName}
	var options, arguments []string
	args := p.Args[min(1, len(p.Args)):]
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		if arg == "--" {
			p.Before = len(arguments)
			arguments = append(arguments, args...)
			break
		}
		if name, value, has, ok := optionOf(arg); ok {
			if word := insteadOf(at, name); word != "" {
				return append(out, word), nil // whatever else is said
			}
			f := findFlag(at.Flags, name)
			if f == nil {
				return nil, p.noOption(at, arg, name, len(arguments) > 0)
			}
			if !has && takesValue(f) {
				if len(args) == 0 {
					return nil, Usagef("--%s needs a value", name)
				}
				value, has, args = args[0], true, args[1:]
			}
			if has && !fits(f, value) {
				return nil, Usagef("--%s does not take %q%s", f.Names()[0], value, takes(f))
			}
			options = append(options, optionWord(f, value, has))
			continue
		}
		if at.HelpName == ProgramName && arg == "help" && len(arguments) == 0 {
			return p.helpFor(app, args)
		}
		if i := slices.IndexFunc(at.Subcommands, func(c *cli.Command) bool { return c.HasName(arg) }); i >= 0 && len(arguments) == 0 {
			at = at.Subcommands[i]
			out = append(append(out, options...), at.Name)
			options = nil
			p.levels = append(p.levels, at)
			continue
		}
		arguments = append(arguments, arg)
	}
	out = append(out, options...)
	if len(arguments) > 0 {
		out = append(append(out, "--"), arguments...)
	}
	return out, nil
}

// insteadOf is the option that is answered instead of a command, "" if this is none.
func insteadOf(at *cli.Command, name string) string {
	switch {
	case name == "help", name == "h":
		return "--help"
	case at.HelpName == ProgramName && (name == "version" || name == "v"):
		return "--version"
	}
	return ""
}

// optionWord is an option by its first name, with its value.
func optionWord(f cli.Flag, value string, has bool) string {
	word := "--" + f.Names()[0]
	if has {
		word += "=" + value
	}
	return word
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

// helpFor returns the command line for a2astdio help COMMAND.
func (p *Program) helpFor(app *cli.App, words []string) ([]string, error) {
	if len(words) == 1 && slices.Contains(Topics, words[0]) {
		return []string{ProgramName, "--help=" + words[0]}, nil
	}
	out, commands := []string{ProgramName}, app.Commands
	for _, word := range words {
		i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(word) })
		if i < 0 {
			return nil, NoCommand(strings.Join(append(out[1:], word), " "), word, append(commandNames(commands), Topics...))
		}
		out, commands = append(out, commands[i].Name), commands[i].Subcommands
	}
	return append(out, "--help"), nil
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

// noOption is the error for an option that a command does not have. behind: it stands
// behind an argument, so that it may be meant as text.
func (p *Program) noOption(at *cli.Command, arg, name string, behind bool) error {
	shown, _, _ := strings.Cut(arg, "=")
	text := "there is no option " + shown
	if command := strings.TrimPrefix(at.HelpName, ProgramName+" "); at.HelpName != ProgramName {
		text += " for " + command
		if findFlag(p.levels[0].Flags, name) != nil {
			return Usagef("%s: it goes before the command, as in %s %s ... %s", text, ProgramName, shown, command)
		}
	}
	names := []string{"help"}
	for _, f := range at.Flags {
		names = append(names, slices.DeleteFunc(slices.Clone(f.Names()), func(n string) bool { return len(n) == 1 })...)
	}
	if near := safe.Nearest(name, names); near != "" {
		text += ": did you mean --" + near + "?"
	}
	if behind {
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
	if len(names) == 1 {
		return Usagef("there is no command %q: there is %s", called, names[0])
	}
	return Usagef("there is no command %q: there are %s", called, strings.Join(names, ", "))
}

func commandNames(commands []*cli.Command) []string {
	var names []string
	for _, c := range commands {
		if !c.Hidden {
			names = append(names, c.Name)
		}
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
	if value, _ := placeholder(f.Usage); strings.Contains(value, "|") && strings.ToLower(value) == value {
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
// arranged line has no value for it.
func wrongVariable(flags []cli.Flag, args []string) error {
	for _, f := range flags {
		f = bare(f)
		doc, ok := f.(cli.DocGenerationFlag)
		if !ok || slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "--"+f.Names()[0]+"=") }) {
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

// page names the command whose help tells how it is used.
func (p *Program) page() string {
	if len(p.levels) == 0 {
		return ProgramName
	}
	return p.levels[len(p.levels)-1].HelpName
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
