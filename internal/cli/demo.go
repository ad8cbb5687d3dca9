package cli

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/demo"
)

func (p *program) demoCommand() *cli.Command {
	c := &cli.Command{
		Name:  "demo",
		Usage: "serve the demo agent over HTTP",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "listen", Usage: "`ADDR`: where to listen, HOST:PORT; without HOST on this machine only, with port 0 on a free one"},
			&cli.StringFlag{Name: "workspace", Usage: "`DIR`: the only directory below which it writes files; without it, the one that its client names"},
		},
		Action: p.demo,
	}
	c.CustomHelpTemplate = commandHelp(c, demoHelp)
	return c
}

var demoHelp = help{
	intro: `Serves an A2A agent that needs no model: it tells fixed stories, picked by the
first word of a prompt (hello, edit, shell, ask, many, todos, fail, slow, ...;
any other word gets the list). It is for trying editors and scripts.

When it is ready it writes its URL to stdout, as one line. Ctrl-C ends it.
For a demo without a server: a2astdio --agent demo ...`,
	usage: []string{"a2astdio demo --listen ADDR [--workspace DIR]"},
	examples: []example{
		{"a2astdio demo --listen :4000", "serve, in one terminal"},
		{"a2astdio --agent http://127.0.0.1:4000/ send hello", "and talk to it in another"},
	},
}

// demo serves the demo agent until it is interrupted, which is its proper end.
func (p *program) demo(c *cli.Context) error {
	if err := p.noArguments(c); err != nil {
		return err
	}
	if c.String("listen") == "" {
		return usagef("where? Say --listen :4000, or --listen :0 for any free port")
	}
	workspace := stringOf(c, "workspace")
	if workspace != "" {
		var err error
		if workspace, err = directory(workspace); err != nil {
			return err
		}
	}
	agent := demo.New(&demo.Options{Workspace: workspace, Version: "both"})
	defer agent.Close()
	return agent.Listen(c.Context, c.String("listen"), func(url string) {
		fmt.Fprintln(p.stdout, url)
	})
}
