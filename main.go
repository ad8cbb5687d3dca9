// A2astdio lets an editor, or a shell, talk to an A2A agent.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/a2astdio/a2astdio/internal/cli"
)

// version is set by -ldflags "-X main.version=v1.2.3"; without it, it is what
// the go command knows.
var version string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	// The first signal asks for an orderly end; the second one finds the default
	// again, which is to end at once.
	context.AfterFunc(ctx, stop)
	// A reader that is gone is an error of writing, not a reason to die before
	// the agent is told. Nobody reads the channel: that a signal is asked for is
	// what makes the difference (and, unlike Ignore, children do not inherit it).
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	os.Exit(cli.Main(ctx, os.Args, os.Stdin, os.Stdout, os.Stderr, version))
}
