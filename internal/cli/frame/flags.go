package frame

import (
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/config"
)

// Env is an option's environment variable.
func Env(name string) []string {
	return []string{"A2ASTDIO_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))}
}

// RootFlags are a2astdio's own options, of the table in package config.
func RootFlags() (flags []cli.Flag) {
	for _, k := range config.Flags() {
		flags = append(flags, flagOf(&k))
	}
	return flags
}

// takesAgent is the category of commands that talk to an agent. Options of a2astdio that
// are about the agent may stand behind these, too.
const takesAgent = "agent"

// flagsAt are the options that may stand behind a command.
func (p *Program) flagsAt(at *level) []cli.Flag {
	if at.Category != takesAgent {
		return at.Flags
	}
	return slices.Concat(at.Flags, slices.DeleteFunc(slices.Clone(p.levels[0].Flags), func(f cli.Flag) bool { return config.BridgeOnly(f.Names()[0]) }))
}

// flagOf makes the library's flag of an option.
func flagOf(k *config.Key) cli.Flag {
	takes, help, variables := k.Takes, k.Help, Env(k.Flag)
	switch {
	case takes == "" && k.Words != nil:
		takes = strings.Join(k.Words(), "|")
	case k.Words != nil: // too many for a name
		help += ": " + strings.Join(k.Words(), ", ")
	}
	if takes != "" {
		help = "`" + takes + "`: " + help
	}
	switch k.Kind {
	case config.KindBool:
		return &cli.BoolFlag{Name: k.Flag, Aliases: k.Aliases, Category: k.Group, EnvVars: variables, Usage: help}
	case config.KindNumber:
		return &cli.IntFlag{Name: k.Flag, Aliases: k.Aliases, Category: k.Group, EnvVars: variables, Usage: help, DefaultText: k.Default}
	case config.KindDuration:
		unset, _ := time.ParseDuration(k.Default) // 0: it has none
		return &cli.DurationFlag{Name: k.Flag, Aliases: k.Aliases, Category: k.Group, EnvVars: variables, Usage: help, Value: unset}
	case config.KindList:
		return &cli.StringSliceFlag{Name: k.Flag, Aliases: k.Aliases, Category: k.Group, EnvVars: variables, Usage: help + ". Repeatable"}
	}
	return &cli.StringFlag{Name: k.Flag, Aliases: k.Aliases, Category: k.Group, EnvVars: variables, Usage: help, Value: k.Default}
}

// A leanFlag knows its names. The library finds them with a regular expression,
// whenever it compares one, which was much of what the command line took at a start.
type leanFlag struct {
	cli.Flag
	names []string
}

func (f leanFlag) Names() []string { return f.names }

func lean(flags []cli.Flag) []cli.Flag {
	for i, f := range flags {
		flags[i] = leanFlag{f, f.Names()}
	}
	return flags
}

// bare undoes lean.
func bare(f cli.Flag) cli.Flag {
	if lean, ok := f.(leanFlag); ok {
		return lean.Flag
	}
	return f
}

// ListOf reads an option that may be repeated. A variable has one value a line.
func ListOf(c *cli.Context, name string) []string {
	var all []string
	for _, v := range StringsOf(c, name) {
		for line := range strings.Lines(v) {
			if line = strings.TrimSpace(line); line != "" {
				all = append(all, line)
			}
		}
	}
	return all
}

// AsJSON reports whether a command writes JSON.
func AsJSON(c *cli.Context) bool { return c.String("output") == JSON }

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

// Values of --output.
const (
	Text   = "text"
	JSON   = "json"
	Events = "events"
)

// OutputFlag is -o of commands that write a page or a document.
func OutputFlag(json string) cli.Flag {
	return &cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: Text, EnvVars: Env("output"),
		Usage: "`text|json`: text is for people; json is " + json}
}
