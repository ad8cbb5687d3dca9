// A2astdio lets an editor, or a shell, talk to an A2A agent.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/a2astdio/a2astdio/internal/cli"
)

// version is set by -ldflags "-X main.version=v1.2.3"; the default is what the go
// command knows.
var version string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	// The first signal asks for an orderly end; the second one has its default effect,
	// which ends the program at once.
	context.AfterFunc(ctx, stop)
	// With this, a reader that has ended causes a write error; otherwise the program would
	// end before it can tell the agent. Nobody reads the channel: asking for the signal is
	// enough (and, unlike Ignore, children do not inherit it).
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	os.Exit(cli.Main(ctx, os.Args, os.Stdin, os.Stdout, os.Stderr, version))
}
