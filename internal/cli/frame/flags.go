package frame

import (
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/config"
)

// Env is an option's environment variable.
func Env(name string) []string {
	return []string{"A2ASTDIO_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))}
}

// RootFlags are a2astdio's own options, of the table in package config. Those of the agent
// may also stand behind a command that talks to one.
func RootFlags() (flags []cli.Flag) {
	for _, k := range config.Flags() {
		flags = append(flags, flagOf(&k, Env(k.Flag), false))
	}
	return flags
}

// behindCommand are the agent's options behind a command, which does not list them in
// its help. They have no variables: otherwise the variable would win over the option
// before the command.
func behindCommand() (flags []cli.Flag) {
	for _, k := range config.Flags() {
		if !k.Bridge {
			flags = append(flags, flagOf(&k, nil, true))
		}
	}
	return flags
}

// flagOf makes the library's flag of an option.
func flagOf(k *config.Key, variables []string, hidden bool) cli.Flag {
	takes, help := k.Takes, k.Help
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
		return &cli.BoolFlag{Name: k.Flag, Aliases: k.Aliases, Category: k.Group, EnvVars: variables, Hidden: hidden, Usage: help}
	case config.KindNumber:
		return &cli.IntFlag{Name: k.Flag, Aliases: k.Aliases, Category: k.Group, EnvVars: variables, Hidden: hidden, Usage: help, DefaultText: k.Default}
	case config.KindDuration:
		unset, _ := time.ParseDuration(k.Default) // 0: it has none
		return &cli.DurationFlag{Name: k.Flag, Aliases: k.Aliases, Category: k.Group, EnvVars: variables, Hidden: hidden, Usage: help, Value: unset}
	case config.KindList:
		return &cli.StringSliceFlag{Name: k.Flag, Aliases: k.Aliases, Category: k.Group, EnvVars: variables, Hidden: hidden, Usage: help + ". Repeatable"}
	}
	return &cli.StringFlag{Name: k.Flag, Aliases: k.Aliases, Category: k.Group, EnvVars: variables, Hidden: hidden, Usage: help, Value: k.Default}
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

// Where returns the context that sets an option: behind the command, or before it.
func Where(c *cli.Context, name string) *cli.Context {
	lineage := c.Lineage()
	for _, l := range lineage {
		if l.Command != nil && l.IsSet(name) {
			return l
		}
	}
	return c
}

func IsSet(c *cli.Context, name string) bool      { return Where(c, name).IsSet(name) }
func StringOf(c *cli.Context, name string) string { return Where(c, name).String(name) }

// ListOf reads an option that may be repeated. A variable has one value a line.
func ListOf(c *cli.Context, name string) []string {
	var all []string
	for _, v := range StringsOf(Where(c, name), name) {
		for line := range strings.Lines(v) {
			if line = strings.TrimSpace(line); line != "" {
				all = append(all, line)
			}
		}
	}
	return all
}
