package frame

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

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
