package cli

import (
	"cmp"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/companion"
)

func (p *program) companionPluginCommand() *cli.Command {
	return documented(&cli.Command{
		Name:     "plugin",
		HelpName: "a2astdio companion plugin",
		Usage:    "print the plugin of an editor",
		Action:   p.companionPlugin,
	}, help{
		intro: `Prints the plugin with which an editor starts the companion and shows its diffs.
It is carried in the program, and has its version in the first line. There is
one for Neovim, 0.7 or newer; docs/companion.md tells how to write another.`,
		usage: []string{"a2astdio companion plugin nvim"},
		examples: []example{
			{"a2astdio companion plugin nvim > ~/.config/nvim/plugin/a2astdio.lua", "Neovim loads it at each start"},
		},
	})
}

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
