package frame

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// Inputs returns a command's arguments, and whether it writes JSON.
func (p *Program) Inputs(c *cli.Context, names ...string) (args []string, asJSON bool, err error) {
	args, err = p.Arguments(c, names...)
	return args, StringOf(c, "output") == JSON, err
}

// Arguments returns a command's arguments. names tells how many there are: a name in
// brackets is optional.
func (p *Program) Arguments(c *cli.Context, names ...string) ([]string, error) {
	args := c.Args().Slice()
	needed := slices.IndexFunc(names, func(n string) bool { return strings.HasPrefix(n, "[") })
	if needed < 0 {
		needed = len(names)
	}
	what := title(c.Command)
	switch {
	case len(args) > len(names) && len(names) == 0:
		return nil, Usagef("%s takes no arguments, and got %q", what, args[0])
	case len(args) > len(names):
		return nil, Usagef("%s takes %s and nothing more, and got %q", what, strings.Join(names, " "), args[len(names)])
	case len(args) < needed:
		return nil, Usagef("%s needs %s", what, names[len(args)])
	}
	for i, a := range args[:needed] {
		if a == "" {
			return nil, Usagef("%s needs %s, and got an empty one", what, names[i])
		}
	}
	return args, nil
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
