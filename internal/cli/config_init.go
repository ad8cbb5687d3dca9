package cli

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/config"
)

func (p *program) initCommand() *cli.Command {
	return documented(&cli.Command{
		Name:  "init",
		Usage: "write a new configuration file",
		Flags: append([]cli.Flag{
			&cli.BoolFlag{Name: "in-workspace", Usage: "write the file of the workspace instead, which may name an agent of yours and a stricter mode"},
		}, behindCommand()...),
		Action: p.init,
	}, help{
		intro: `Writes a2astdio.toml with every key, each with what it is for, behind a comment
sign, and prints where it is. A file that is there stays as it is. To be asked
for what is needed instead: a2astdio setup.`,
		usage: []string{"a2astdio init [options]"},
		examples: []example{
			{"a2astdio init", "your own, in your directory for such files"},
			{"a2astdio --agent work init --in-workspace", "one for this directory, which names an agent of yours"},
		},
		after: "\nExit status:\n  0    done\n  1    the file could not be written\n  2    a2astdio was called wrongly, or the file is there already\n",
	})
}

func (p *program) init(c *cli.Context) error {
	if _, err := p.arguments(c); err != nil {
		return err
	}
	path, text := stringOf(c, "config"), config.Template()
	if path == "" {
		path = config.UserFile()
	}
	if c.Bool("in-workspace") {
		agent := stringOf(c, "agent")
		if agent != "" && !config.ValidName(agent) {
			return usagef("a workspace names an agent by a name that is in your own configuration, and %q is none", agent)
		}
		if yours, err := config.Load(&config.Options{File: stringOf(c, "config")}); err != nil {
			return &configError{err}
		} else if agent != "" && !slices.Contains(yours.Names(), agent) {
			return usagef("--agent: %s", yours.NoAgent(agent))
		}
		dir, err := directory(stringOf(c, "workspace"))
		if err != nil {
			return err
		}
		path, text = filepath.Join(dir, config.FileName), config.WorkspaceTemplate(agent)
	}
	if path == "" {
		return usagef("where? You have no home directory: name a file with --config")
	}
	if err := config.Create(path, text); err != nil {
		return &configError{err}
	}
	_, err := fmt.Fprintln(p.stdout, path)
	return err
}
