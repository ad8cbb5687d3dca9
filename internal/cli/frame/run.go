package frame

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// RunCommand runs the command that the command line names.
//
// The library has App.Run for this, which is not called: it can print help, by
// text/template. A template may call any method by its name, so that the linker would
// keep all exported methods of all types: 2.3 MB of this program.
func (p *Program) RunCommand(ctx context.Context, app *cli.App) error {
	args, err := p.Arrange(app)
	if err != nil {
		return err
	}
	if slices.Equal(args, []string{ProgramName, "--version"}) {
		return p.showText(app.Name + " version " + app.Version + "\n")
	}
	if topic, ok := strings.CutPrefix(args[len(args)-1], "--help="); ok && len(args) == 2 {
		return p.showText(p.helpPage(topic, nil))
	}
	command := p.levels[0]
	c := &cli.Context{Context: ctx}
	for {
		if err := wrongVariable(command.Flags, args); err != nil {
			return err
		}
		set, err := parse(command, args[1:])
		if errors.Is(err, flag.ErrHelp) {
			return p.showText(p.helpPage(title(command), command))
		}
		if err != nil {
			return Usagef("%s", err)
		}
		c = cli.NewContext(app, set, c)
		c.Command = command
		// What begins with a hyphen is an option with its value, or "--", behind which
		// there are arguments.
		next := slices.IndexFunc(args[1:], func(arg string) bool { return arg == "--" || arg[0] != '-' })
		if next < 0 || args[1+next] == "--" {
			return command.Action(c)
		}
		args = args[1+next:]
		command = command.Command(args[0])
	}
}

// showText writes what was asked for instead of a command.
func (p *Program) showText(text string) error {
	_, err := io.WriteString(p.Stdout, text)
	return err
}

// parse reads a command's options from their variables and from the beginning of args.
func parse(command *cli.Command, args []string) (*flag.FlagSet, error) {
	set := flag.NewFlagSet(command.Name, flag.ContinueOnError)
	set.SetOutput(io.Discard)
	for _, f := range command.Flags {
		if list, ok := bare(f).(*cli.StringSliceFlag); ok {
			applyList(list, set)
		} else if err := f.Apply(set); err != nil {
			return nil, err
		}
	}
	return set, set.Parse(args)
}

// A list is the value of an option that may be given several times. The library's own
// takes "Accept: a, b" for two.
type list struct {
	values []string
	given  bool // what a variable holds is replaced then
}

func (l *list) Set(value string) error {
	if !l.given {
		l.values, l.given = nil, true
	}
	l.values = append(l.values, strings.TrimSpace(value))
	return nil
}

func (l *list) Get() any       { return l.values }
func (l *list) String() string { return strings.Join(l.values, "\n") }

func applyList(f *cli.StringSliceFlag, set *flag.FlagSet) {
	l := &list{}
	for _, name := range f.EnvVars {
		if value, ok := os.LookupEnv(name); ok {
			l.values, f.HasBeenSet = []string{strings.TrimSpace(value)}, true
		}
	}
	set.Var(l, f.Name, f.Usage)
}

// StringsOf returns an option that may be given several times.
func StringsOf(c *cli.Context, name string) []string {
	values, _ := c.Value(name).([]string)
	return values
}
