package frame

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"

	"github.com/a2astdio/a2astdio/internal/cardsign"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// Exit statuses tell whether the tool did its work, not what the agent decided. That is
// in the output, unless --fail asks for it here.
const (
	ExitOK          = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitUnreachable = 3
	exitAuth        = 4
	ExitTimeout     = 5
	ExitWaits       = 6
	ExitInterrupted = 130 // as shells report SIGINT
)

// A UsageError is a misuse of the command line.
type UsageError struct{ text string }

func (e *UsageError) Error() string { return e.text }

func Usagef(format string, args ...any) error { return &UsageError{fmt.Sprintf(format, args...)} }

var (
	// ErrInterrupted is not printed: the user knows why.
	ErrInterrupted = errors.New("interrupted")
	// ErrFailed and ErrWaits serve --fail: what has failed, or waits, was printed already.
	ErrFailed error = &CommandEnded{ExitFailed}
	ErrWaits  error = &CommandEnded{ExitWaits}

	// These mark errors. ErrNotReached: there is no card. ErrReported: stdout shows it
	// already. ErrSignIn: a sign-in has failed. ErrConfig: it is about a configuration file,
	// where a command's help does not help.
	ErrNotReached = errors.New("not reached")
	ErrReported   = errors.New("reported")
	ErrSignIn     = errors.New("not signed in")
	ErrConfig     = errors.New("wrong configuration")
)

// Mark returns an error that is a mark, too, and has err's text.
func Mark(mark, err error) error { return &marked{err, mark} }

type marked struct {
	error
	mark error
}

func (m *marked) Unwrap() []error { return []error{m.error, m.mark} }

// Exit says what is wrong, unless that was said, and returns the exit status.
func (p *Program) Exit(ctx context.Context, err error) int {
	if err == nil {
		return ExitOK
	}
	AwaitSignals(ctx)
	switch {
	case errors.Is(err, ErrConfig):
		p.Say("%s", err)
		return ExitUsage
	case errors.As(err, new(*UsageError)):
		p.Say("%s\n%s --help says how it is used", err, p.levels[len(p.levels)-1].HelpName)
		return ExitUsage
	case errors.Is(err, ErrInterrupted), ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return ExitInterrupted
	case errors.Is(err, syscall.EPIPE) && !errors.As(err, new(*net.OpError)):
		// The reader of our output has ended, as head does, and not the connection to an agent.
		return ExitFailed
	}
	if ended, ok := errors.AsType[*CommandEnded](err); ok {
		return ended.Status
	}
	if !errors.Is(err, ErrReported) {
		p.Say("%s", err)
	}
	return ExitStatus(err)
}

// ExitStatus returns the status for an error of the agent, or of the way to it.
func ExitStatus(err error) int {
	var (
		task    *mapping.TaskError
		timeout interface{ Timeout() bool }
	)
	switch {
	case a2a.ErrorOf(err).Unauthenticated(), errors.Is(err, ErrSignIn), errors.Is(err, transport.ErrCredentials),
		errors.As(err, &task) && task.State == a2a.StateAuthRequired:
		return exitAuth
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return ExitTimeout
	case errors.As(err, new(*cardsign.UntrustedError)): // the card was reached
		return ExitFailed
	case errors.Is(err, transport.ErrUnreachable), errors.Is(err, ErrNotReached):
		return ExitUnreachable
	}
	return ExitFailed
}

// WithoutWho drops the first word of an error, where the line already names who failed.
func WithoutWho(err error) string {
	return strings.TrimPrefix(strings.TrimPrefix(err.Error(), "agent: "), "bridge: ")
}

// CommandEnded carries an exit status, of which there is nothing more to say: that of the command
// that tap runs, too.
type CommandEnded struct{ Status int }

func (e *CommandEnded) Error() string { return fmt.Sprintf("the command has ended with %d", e.Status) }
