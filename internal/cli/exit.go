package cli

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/a2astdio/a2astdio/internal/cardsign"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// Exit statuses tell whether the tool did its work, not what the agent decided. That is
// in the output, unless --fail asks for it here.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitUnreachable = 3
	exitAuth        = 4
	exitTimeout     = 5
	exitWaits       = 6
	exitInterrupted = 130 // as shells report SIGINT
)

// A usageError is a misuse of the command line.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// notReached marks an error that left no card.
type notReached struct{ err error }

func (e *notReached) Error() string { return e.err.Error() }
func (e *notReached) Unwrap() error { return e.err }

// reported marks an error that stdout already shows.
type reported struct{ err error }

func (e *reported) Error() string { return e.err.Error() }
func (e *reported) Unwrap() error { return e.err }

var (
	// errInterrupted is not printed: the user knows why.
	errInterrupted = errors.New("interrupted")
	// errFailed serves --fail: the failure was printed already.
	errFailed = errors.New("the task has failed")
	// errWaits serves --fail, too.
	errWaits = errors.New("the task waits for an answer")
)

// exit prints what is wrong and returns the exit status.
func (p *program) exit(ctx context.Context, err error) int {
	if err == nil {
		return exitOK
	}
	var usage *usageError
	switch {
	case errors.As(err, new(*configError)):
		p.say("%s", err)
		return exitUsage
	case errors.As(err, &usage):
		p.say("%s\n%s --help says how it is used", err, p.page())
		return exitUsage
	case errors.Is(err, errInterrupted), ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return exitInterrupted
	case errors.Is(err, errWaits):
		return exitWaits
	case errors.Is(err, errFailed), errors.Is(err, syscall.EPIPE):
		// It was printed already; or the reader of our output has ended, as head does.
		return exitFailed
	}
	if ended := (*commandEnded)(nil); errors.As(err, &ended) {
		return ended.status
	}
	if was := (*reported)(nil); errors.As(err, &was) {
		return exitStatus(was.err)
	}
	p.say("%s", err)
	return exitStatus(err)
}

// unauthenticated reports whether the agent wants credentials, or other ones.
func unauthenticated(err error) bool {
	var agent *a2a.Error
	return errors.As(err, &agent) && agent.Unauthenticated()
}

// exitStatus maps an error of the agent, or of the way to it.
func exitStatus(err error) int {
	var (
		task    *mapping.TaskError
		card    *notReached
		timeout interface{ Timeout() bool }

		untrusted *cardsign.UntrustedError
	)
	switch {
	case unauthenticated(err), errors.As(err, new(*signInError)), errors.Is(err, transport.ErrCredentials),
		errors.As(err, &task) && task.State == a2a.StateAuthRequired:
		return exitAuth
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return exitTimeout
	case errors.As(err, &untrusted): // the card was reached
		return exitFailed
	case errors.Is(err, transport.ErrUnreachable), errors.As(err, &card):
		return exitUnreachable
	}
	return exitFailed
}

// plainText makes foreign text safe for a terminal.
func plainText(s string) string { return safe.Plain(s) }
