package cli

import (
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/demo"
	"github.com/a2astdio/a2astdio/internal/trace/local"
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
			&cli.StringFlag{Name: "auth", Usage: "`bearer|apikey`: what a caller has to show. Without it nothing"},
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
		{"a2astdio demo --listen :4000 --auth bearer", "one that wants a token: a2astdio -a http://127.0.0.1:4000/ auth login"},
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
	auth := c.String("auth")
	if auth != "" && auth != demo.AuthBearer && auth != demo.AuthAPIKey {
		return usagef("--auth does not take %q: it takes %s, %s", auth, demo.AuthBearer, demo.AuthAPIKey)
	}
	push := &demo.PushOptions{Timeout: c.Duration("push-timeout"), Retries: c.Int("push-retries")}
	if push.Retries <= 0 {
		push.Retries = -1
	}
	if push.Timeout <= 0 {
		return usagef("--push-timeout does not take %v: it takes a time like 10s", push.Timeout)
	}
	agent := demo.New(&demo.Options{Version: "both", Push: push, Auth: auth, Secret: os.Getenv(demoSecretVariable)})
	defer agent.Close()
	err := local.Serve(c.Context, c.String("listen"), func(string) http.Handler { return agent }, func(url string) {
		if secret := agent.Secret(); secret != "" && os.Getenv(demoSecretVariable) == "" {
			p.tell("it takes callers with A2ASTDIO_TOKEN=%s\n", secret)
		}
		fmt.Fprintln(p.stdout, url)
	})
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	return nil
}
