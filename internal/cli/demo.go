package cli

import (
	"fmt"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/demo"
)

// demoSecretVariable holds the demo's token or key. Without it the demo makes one up
// and prints it.
const demoSecretVariable = "A2ASTDIO_DEMO_SECRET"

func (p *program) demoCommand() *cli.Command {
	return documented(&cli.Command{
		Name:  "demo",
		Usage: "serve the demo agent over HTTP",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "listen", Usage: "`ADDR`: where to listen, HOST:PORT; without HOST on this machine only, with port 0 on a free one"},
			&cli.DurationFlag{Name: "push-timeout", Value: 10 * time.Second, Usage: "`TIME`: how long a webhook may take to answer"},
			&cli.IntFlag{Name: "push-retries", Value: 3, DefaultText: "3", Usage: "`N`: how often a push is repeated that a webhook has not taken"},
			&cli.StringFlag{Name: "workspace", Usage: "`DIR`: the only directory below which it writes files; without it, the one that its client names"},
			&cli.StringFlag{Name: "auth", Usage: "`bearer|apikey|oauth2`: what a caller has to show; with oauth2 it has an identity provider of its own, to try auth login with. Without it nothing"},
			&cli.BoolFlag{Name: "extended", Usage: "show another card to callers that it knows (with --auth)"},
			&cli.BoolFlag{Name: "sign", Usage: "sign the card, with a key that is made for this run, and say how to check that as a second line"},
			&cli.BoolFlag{Name: "ids-per-task", Usage: "begin the IDs of messages and tool calls anew in each task, as A2A allows: a client must not take them for unique"},
			&cli.BoolFlag{Name: "core-clients", Usage: "take clients without the development-tool extension, too, and ask them for approval in prose"},
		},
		Action: p.demo,
	}, demoHelp)
}

var demoHelp = help{
	intro: `Serves an A2A agent that needs no model: it tells fixed stories, picked by the
first word of a prompt (hello, edit, shell, ask, many, todos, fail, slow, ...;
any other word gets the list). It is for trying editors and scripts.

It pushes what becomes of a task to the webhooks that its client names: to this
machine or to public addresses.

When it is ready it writes its URL to stdout, as one line. Ctrl-C ends it. With
--auth bearer or apikey it takes callers with what A2ASTDIO_DEMO_SECRET holds,
or with a secret that it makes up and says on stderr.
For a demo without a server: a2astdio --agent demo ...`,
	usage: []string{"a2astdio demo --listen ADDR [options]"},
	examples: []example{
		{"a2astdio demo --listen :4000", "serve, in one terminal"},
		{"a2astdio --agent http://127.0.0.1:4000/ send hello", "and talk to it in another"},
		{"a2astdio demo --listen :4000 --auth oauth2 --extended", "one to sign in to: a2astdio -a http://127.0.0.1:4000/ auth login"},
		{"a2astdio demo --listen :4000 --sign", "with a signed card"},
		{"a2astdio demo --listen :4000 --core-clients", "for clients that know A2A and no extension"},
	},
}

// demo serves the demo agent until an interrupt, which is its regular end.
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
	auth := c.String("auth")
	switch {
	case auth != "" && auth != demo.AuthBearer && auth != demo.AuthAPIKey && auth != demo.AuthOAuth2:
		return usagef("--auth does not take %q: it takes %s, %s, %s", auth, demo.AuthBearer, demo.AuthAPIKey, demo.AuthOAuth2)
	case auth == "" && c.Bool("extended"):
		return usagef("--extended shows another card to callers that the agent knows, and it knows nobody without --auth")
	}
	push := &demo.PushOptions{Timeout: c.Duration("push-timeout"), Retries: c.Int("push-retries")}
	if push.Retries <= 0 {
		push.Retries = -1
	}
	if push.Timeout <= 0 {
		return usagef("--push-timeout does not take %v: it takes a time like 10s", push.Timeout)
	}
	agent := demo.New(&demo.Options{
		Workspace: workspace, Version: "both", Push: push, Sign: c.Bool("sign"),
		Auth: auth, Secret: os.Getenv(demoSecretVariable), Extended: c.Bool("extended"),
		IDsPerTask: c.Bool("ids-per-task"), CoreClients: c.Bool("core-clients"),
	})
	defer agent.Close()
	return agent.Listen(c.Context, c.String("listen"), func(url string) {
		if secret := agent.Secret(); secret != "" && os.Getenv(demoSecretVariable) == "" {
			p.tell("it takes callers with A2ASTDIO_TOKEN=%s\n", secret)
		}
		lines := url + "\n"
		if key := agent.KeyThumbprint(); key != "" {
			lines += "a2astdio card verify --signature-key sha256:" + key + " " + url + "\n"
		}
		fmt.Fprint(p.stdout, lines)
	})
}
