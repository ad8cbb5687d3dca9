package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// oneWish is the time in which further signals belong to the first. timeout(1) signals
// its command, and then the group that the command is in; package runners hand on what
// the terminal has sent to all.
const oneWish = 300 * time.Millisecond

// UntilSignal returns a context that ends when the process is asked to end. A signal
// that comes later has its default effect, which ends the process at once.
func UntilSignal() context.Context {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, func() { time.AfterFunc(oneWish, stop) })
	// With this, a reader that has ended causes a write error; otherwise the program would
	// end before it can tell the agent. Nobody reads the channel: asking for the signal is
	// enough (and, unlike Ignore, children do not inherit it).
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return ctx
}
