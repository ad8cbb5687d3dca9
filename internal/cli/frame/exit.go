package frame

import (
	"context"
	"errors"
	"fmt"
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

// NotReached marks an error that left no card.
type NotReached struct{ Err error }

func (e *NotReached) Error() string { return e.Err.Error() }
func (e *NotReached) Unwrap() error { return e.Err }

// Reported marks an error that stdout already shows.
type Reported struct{ Err error }

func (e *Reported) Error() string { return e.Err.Error() }
func (e *Reported) Unwrap() error { return e.Err }

var (
	// ErrInterrupted is not printed: the user knows why.
	ErrInterrupted = errors.New("interrupted")
	// ErrFailed serves --fail: the failure was printed already.
	ErrFailed = errors.New("the task has failed")
	// ErrWaits serves --fail, too.
	ErrWaits = errors.New("the task waits for an answer")
)

// Exit prints what is wrong and returns the exit status.
func (p *Program) Exit(ctx context.Context, err error) int {
	if err == nil {
		return ExitOK
	}
	var usage *UsageError
	switch {
	case errors.As(err, new(*ConfigError)):
		p.Say("%s", err)
		return ExitUsage
	case errors.As(err, &usage):
		p.Say("%s\n%s --help says how it is used", err, p.page())
		return ExitUsage
	case errors.Is(err, ErrInterrupted), ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return ExitInterrupted
	case errors.Is(err, ErrWaits):
		return ExitWaits
	case errors.Is(err, ErrFailed), errors.Is(err, syscall.EPIPE):
		// It was printed already; or the reader of our output has ended, as head does.
		return ExitFailed
	}
	if ended := (*CommandEnded)(nil); errors.As(err, &ended) {
		return ended.Status
	}
	if was := (*Reported)(nil); errors.As(err, &was) {
		return ExitStatus(was.Err)
	}
	p.Say("%s", err)
	return ExitStatus(err)
}

// Unauthenticated reports whether the agent wants credentials, or other ones.
func Unauthenticated(err error) bool {
	var agent *a2a.Error
	return errors.As(err, &agent) && agent.Unauthenticated()
}

// ExitStatus maps an error of the agent, or of the way to it.
func ExitStatus(err error) int {
	var (
		task    *mapping.TaskError
		card    *NotReached
		timeout interface{ Timeout() bool }

		untrusted *cardsign.UntrustedError
	)
	switch {
	case Unauthenticated(err), errors.As(err, new(*SignInError)), errors.Is(err, transport.ErrCredentials),
		errors.As(err, &task) && task.State == a2a.StateAuthRequired:
		return exitAuth
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return ExitTimeout
	case errors.As(err, &untrusted): // the card was reached
		return ExitFailed
	case errors.Is(err, transport.ErrUnreachable), errors.As(err, &card):
		return ExitUnreachable
	}
	return ExitFailed
}

// WithoutWho drops the first word of an error, where the line already names who failed.
func WithoutWho(err error) string {
	text := err.Error()
	for _, who := range []string{"agent: ", "bridge: "} {
		text = strings.TrimPrefix(text, who)
	}
	return text
}

// A SignInError says that a sign-in failed: exit status 4.
type SignInError struct{ Err error }

func (e *SignInError) Error() string { return "not signed in: " + e.Err.Error() }

func (e *SignInError) Unwrap() error { return e.Err }

// A ConfigError is about a configuration file, where a command's help does not help.
type ConfigError struct{ Err error }

func (e *ConfigError) Error() string { return e.Err.Error() }

func (e *ConfigError) Unwrap() error { return e.Err }

// CommandEnded carries the exit status of the command that tap runs.
type CommandEnded struct{ Status int }

func (e *CommandEnded) Error() string { return fmt.Sprintf("the command has ended with %d", e.Status) }
