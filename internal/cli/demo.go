package cli

import (
	"fmt"
	"net/http"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/demo"
	"github.com/a2astdio/a2astdio/internal/trace/local"
)

// demoSecretVariable holds the demo's token or key. Without it the demo makes one up
// and prints it.
const demoSecretVariable = "A2ASTDIO_DEMO_SECRET"

func demoCommand(p *frame.Program) *cli.Command {
	return p.NewCommand("demo", runDemo,
		frame.Option{Name: "listen", Takes: "ADDR", Help: "where to listen, HOST:PORT; without HOST on this machine only, with port 0 on a free one"},
		frame.Option{Name: "push-timeout", Kind: frame.Duration, Value: "10s", Takes: "TIME", Help: "how long a webhook may take to answer"},
		frame.Option{Name: "push-retries", Kind: frame.Number, Value: "3", Takes: "N", Help: "how often a push is repeated that a webhook has not taken"},
		frame.Option{Name: "auth", Takes: "bearer", Help: "what a caller has to show. Without it nothing"})
}

// demo serves the demo agent until an interrupt, which is its regular end.
func runDemo(p *frame.Program, c *cli.Context) error {
	if c.String("listen") == "" {
		return frame.Usagef("where? Say --listen :4000, or --listen :0 for any free port")
	}
	push := &demo.PushOptions{Timeout: c.Duration("push-timeout"), Retries: c.Int("push-retries")}
	agent := demo.New(&demo.Options{Version: "both", Push: push, Auth: c.String("auth"), Secret: os.Getenv(demoSecretVariable)})
	defer agent.Close()
	err := local.Serve(c.Context, c.String("listen"), func(url string) http.Handler {
		if secret := agent.Secret(); secret != "" && os.Getenv(demoSecretVariable) == "" {
			p.Tell("it takes callers with A2ASTDIO_TOKEN=%s\n", secret)
		}
		fmt.Fprintln(p.Stdout, url)
		return agent
	})
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	return nil
}
