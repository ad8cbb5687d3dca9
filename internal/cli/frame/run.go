package frame

import (
	"context"
	"flag"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"
)

// RunCommand runs the command that the command line names.
//
// The library has App.Run for this, which is not called: it can print help, by
// text/template. A template may call any method by its name, so that the linker would
// keep all exported methods of all types: 2.3 MB of this program.
func (p *Program) RunCommand(ctx context.Context, app *cli.App) error {
	text, err := p.read(app)
	if err != nil {
		return err
	}
	if text != "" {
		return p.showText(text)
	}
	c := &cli.Context{Context: ctx}
	for i, l := range p.levels {
		var arguments []string
		if i == len(p.levels)-1 {
			arguments = p.arguments
		}
		set, err := l.flagSet(arguments)
		if err != nil {
			return err
		}
		c = cli.NewContext(app, set, c)
		c.Command = l.Command
	}
	return c.Command.Action(c)
}

// showText writes what was asked for instead of a command.
func (p *Program) showText(text string) error {
	_, err := io.WriteString(p.Stdout, text)
	return err
}

// flagSet has a command's options, from their variables and from the command line, and
// its arguments.
func (l *level) flagSet(arguments []string) (*flag.FlagSet, error) {
	if err := l.wrongVariable(); err != nil {
		return nil, err
	}
	set := flag.NewFlagSet(l.Name, flag.ContinueOnError)
	for _, f := range l.Flags {
		if list, ok := bare(f).(*cli.StringSliceFlag); ok {
			applyList(list, set)
		} else if err := f.Apply(set); err != nil {
			return nil, Usagef("%s", err)
		}
	}
	for name, values := range l.options {
		for _, value := range values {
			if err := set.Set(name, value); err != nil {
				return nil, Usagef("--%s: %s", name, err)
			}
		}
	}
	return set, set.Parse(append([]string{"--"}, arguments...))
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
