package cli

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// inputs returns a command's arguments, and whether it writes JSON.
func (p *program) inputs(c *cli.Context, names ...string) (args []string, asJSON bool, err error) {
	args, err = p.arguments(c, names...)
	return args, stringOf(c, "output") == formatJSON, err
}

// arguments returns a command's arguments. names tells how many there are: a name in
// brackets is optional.
func (p *program) arguments(c *cli.Context, names ...string) ([]string, error) {
	args := c.Args().Slice()
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
