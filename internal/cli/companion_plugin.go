package cli

import (
	"cmp"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/companion"
)

func (p *program) companionPlugin(c *cli.Context) error {
	args, err := p.arguments(c, "EDITOR")
	if err != nil {
		return err
	}
	if args[0] != "nvim" {
		return usagef("there is no plugin for %q: there is one for nvim; docs/companion.md tells how to write another", args[0])
	}
	_, err = fmt.Fprintf(p.stdout, "-- a2astdio %s\n%s", cmp.Or(p.version, "(devel)"), companion.NeovimPlugin)
	return err
}
