package cli

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// Exit statuses. They tell whether the tool did its work, not what the agent
// decided: that is in the output, unless --fail asks for it here.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitUnreachable = 3
	exitAuth        = 4
	exitTimeout     = 5
	exitInterrupted = 130 // as shells have it for SIGINT
)

// exitHelp is the same for readers of --help.
const exitHelp = `  0    done, whatever the agent decided
  1    failed; with --fail also: the task failed, was rejected or cancelled,
       or an approval was wanted that nobody could give
  2    a2astdio was called wrongly
  3    the agent, or its card, was not reached
  4    the agent wants credentials, or other ones
  5    the agent did not answer in time
  130  interrupted`

// A usageError is a misuse of the command line.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// notReached is an agent of which there is not even a card.
type notReached struct{ err error }

func (e *notReached) Error() string { return e.err.Error() }
func (e *notReached) Unwrap() error { return e.err }

// reported is an error that stdout tells of.
type reported struct{ err error }

func (e *reported) Error() string { return e.err.Error() }
func (e *reported) Unwrap() error { return e.err }

var (
	// errInterrupted: the user knows why.
	errInterrupted = errors.New("interrupted")
	// errFailed is for --fail: what has failed was said already.
	errFailed = errors.New("the task has failed")
)

// onUsageError puts what package flag says into the words of the help.
func onUsageError(c *cli.Context, err error, _ bool) error {
	text := err.Error()
	for _, r := range []struct{ from, to string }{
		{`^flag provided but not defined: -+(.*)`, `there is no option --$1`},
		{`^flag needs an argument: -+(.*)`, `--$1 needs a value`},
		{`^invalid (?:boolean )?value "(.*)" for (?:flag )?-*([\w-]+): .*`, `--$2 does not take "$1"`},
	} {
		text = regexp.MustCompile(r.from).ReplaceAllString(text, r.to)
	}
	name, _, wrong := strings.Cut(strings.TrimPrefix(text, "--"), " does not take ")
	if wrong && c.Command != nil {
		text += takes(findFlag(c.Command.Flags, name))
	}
	return usagef("%s", text)
}

// takes says what an option takes, where its name does not.
func takes(f cli.Flag) string {
	switch f.(type) {
	case *cli.DurationFlag:
		return ": it takes a time like 30s or 2m"
	case *cli.IntFlag:
		return ": it takes a number"
	case *cli.BoolFlag:
		return ": it takes true or false, or nothing"
	}
	return ""
}

// exit says what is wrong and returns the status for it.
func (p *program) exit(ctx context.Context, err error) int {
	if err == nil {
		return exitOK
	}
	var usage *usageError
	var library cli.ExitCoder
	switch {
	case errors.As(err, &usage):
		p.say("%s\n%s --help says how it is used", err, p.command())
		return exitUsage
	case errors.As(err, &library):
		// Nothing of ours is one: it is about a help topic that does not exist.
		p.say("%s", err)
		return exitUsage
	case errors.Is(err, errInterrupted), ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return exitInterrupted
	case errors.Is(err, errFailed), errors.Is(err, syscall.EPIPE):
		// It was said; or whoever reads our output has gone, as head does.
		return exitFailed
	}
	if was := (*reported)(nil); errors.As(err, &was) {
		return exitStatus(was.err)
	}
	p.say("%s", err)
	return exitStatus(err)
}

// exitStatus tells what an error of the agent's, or of the way to it, means.
func exitStatus(err error) int {
	var (
		agent   *a2a.Error
		task    *mapping.TaskError
		card    *notReached
		timeout interface{ Timeout() bool }
	)
	switch {
	case errors.As(err, &agent) && agent.Unauthenticated(),
		errors.As(err, &task) && task.State == a2a.StateAuthRequired:
		return exitAuth
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return exitTimeout
	case errors.Is(err, transport.ErrUnreachable), errors.As(err, &card):
		return exitUnreachable
	}
	return exitFailed
}

// command is how the command that was used wrongly is called.
func (p *program) command() string {
	app := p.app()
	name, commands, flags := "a2astdio", app.Commands, app.Flags
	for i := 1; i < len(p.args); i++ {
		arg := p.args[i]
		if strings.HasPrefix(arg, "-") {
			if f := findFlag(flags, strings.TrimLeft(arg, "-")); f != nil && takesValue(f) {
				i++
			}
			continue
		}
		at := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.Name == arg })
		if at < 0 {
			break
		}
		name, flags, commands = name+" "+arg, commands[at].Flags, commands[at].Subcommands
	}
	return name
}

// findFlag returns the option of a name, nil if there is none.
func findFlag(flags []cli.Flag, name string) cli.Flag {
	if i := slices.IndexFunc(flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) }); i >= 0 {
		if f, ok := flags[i].(leanFlag); ok {
			return f.Flag // who asks looks at its type; nobody asks for that of lists
		}
		return flags[i]
	}
	return nil
}

func takesValue(f cli.Flag) bool {
	doc, ok := f.(cli.DocGenerationFlag)
	return ok && doc.TakesValue()
}

// plainText makes text from outside safe to show on a terminal: what would
// control it is shown as a symbol instead. Newlines and tabs stay.
func plainText(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < ' ':
			return r + '␀' // Unicode has a picture of each, in the same order
		case r == 0x7f:
			return '␡'
		case r >= 0x80 && r < 0xa0, // C1: 0x9b begins a sequence like ESC [
			r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // what turns the direction of text
			return '�'
		}
		return r
	}, s)
}
