package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/bridge/store"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/mapping/acp"
)

// IDs of the ways to authenticate that editors are offered.
const (
	authSetup  = "setup"
	authStored = "stored"
)

// waitsForSetup reports whether a bridge without an agent may start, because an editor
// can run the setup. A person at a terminal gets the error at once, and so does a script
// with A2A lines, as a fault.
func (p *program) waitsForSetup(c *cli.Context) bool {
	return !isTerminal(p.stdin) && stringOf(c, "protocol") != bridge.ProtocolA2A
}

// waiting is the link of a bridge without an agent. It looks for the agent when
// somebody needs it: by then a2astdio setup may have stored one.
func (p *program) waiting(c *cli.Context) (*link, error) {
	l := &link{}
	if err := l.bridgeOptions(c); err != nil {
		return nil, err
	}
	l.options.AuthMethods = p.setupMethods()
	p.find(l)
	return l, nil
}

// find makes the bridge look for its agent.
func (p *program) find(l *link) {
	// The trace is made with the agent's link, so that it masks the agent's secrets.
	var tap atomic.Pointer[func(bool, []byte)]
	o := &l.options
	o.Version = p.version
	o.Tap = func(toEditor bool, line []byte) {
		if f := tap.Load(); f != nil {
			(*f)(toEditor, line)
		}
	}
	o.Setup = func(ctx context.Context) (*bridge.Options, error) {
		var again *cli.Context
		found, err := p.linkAgain(ctx, func(c *cli.Context) error {
			again = c
			return nil
		})
		if err == nil {
			if err = p.addCompanion(again, found); err != nil {
				found.close()
			}
		}
		if err != nil {
			return nil, explainSetup(err)
		}
		l.closers = append(l.closers, func() error { // Serve has ended before this
			found.close()
			return nil
		})
		found.serves(again, o.Store)
		if found.options.Tap != nil {
			tap.Store(&found.options.Tap)
		}
		return &found.options, nil
	}
}

// serveFault serves an editor although its settings are wrong: most editors show what a
// session is answered, and not why a program has ended. The exit status is that of the
// fault, unless it was mended meanwhile.
func (p *program) serveFault(ctx context.Context, fault error) error {
	status := p.exit(ctx, fault)
	l := &link{}
	defer l.close()
	p.find(l)
	l.options.Store, _ = store.Open("") // as in serve
	err := bridge.Serve(ctx, polled(p.stdin), p.stdout, &l.options)
	if err == nil && len(l.closers) == 0 { // no agent was found
		return &commandEnded{status}
	}
	return err
}

// namesNoCommand reports whether a command line, which may have faults, is an editor's: it
// has options only. An unknown one may have a value.
func (p *program) namesNoCommand() bool {
	flags, names := rootFlags(), commandNames(p.app().Commands)
	for args := p.args[min(1, len(p.args)):]; len(args) > 0; args = args[1:] {
		name, _, has, ok := optionOf(args[0])
		if !ok || p.asksHelp() {
			return false
		}
		f := findFlag(flags, name)
		if value := len(args) > 1 && (f != nil && takesValue(f) ||
			f == nil && !strings.HasPrefix(args[1], "-") && (args[1] == demoAgent || !slices.Contains(names, args[1]))); value && !has {
			args = args[1:]
		}
	}
	return true
}

// linkAgain makes the link that a program started now would have from the same command
// line: the files may have changed. set changes options before they are read.
func (p *program) linkAgain(ctx context.Context, set func(c *cli.Context) error) (l *link, err error) {
	app := p.app()
	action := func(c *cli.Context) error {
		if err = set(c); err == nil {
			l, err = p.link(c)
		}
		return nil
	}
	app.Action = action
	for _, c := range app.Commands {
		c.Action = action
	}
	if err := p.runCommand(ctx, app); err != nil {
		return nil, err
	}
	return l, err
}

// explainSetup tells an editor's user what to do. The editor has installed this
// program, so the user may never have seen it in a terminal.
func explainSetup(err error) error {
	switch {
	case errors.As(err, new(*configError)):
		return fmt.Errorf("bridge: a configuration file is wrong: %w", err)
	case errors.Is(err, errNoAgent):
	case errors.As(err, new(*usageError)):
		return fmt.Errorf("bridge: a2astdio is started wrongly, correct its arguments and environment in your editor's settings: %w", err)
	default:
		return err
	}
	return errors.New("bridge: no agent is set up yet: choose \"" + setupName + "\" if your editor offers it, or run this in a terminal: " +
		safe.ShellWord(self()) + " setup")
}

const setupName = "Set up an agent"

// setupMethods are what initialize offers when the command line names no agent: to set
// one up in a terminal, and to use it then.
func (p *program) setupMethods() []acp.AuthMethod {
	var before []string
	if len(p.args) > 0 {
		before = p.args[1:]
	}
	command := acp.TerminalAuth{Label: setupName, Command: self(), Args: append(append([]string{}, before...), "setup")}
	return []acp.AuthMethod{
		{
			ID: authSetup, Name: setupName, Type: acp.AuthTerminal, Args: []string{"setup"},
			Description: "Asks in a terminal where your A2A agent is, tries it, and remembers it",
			Meta:        &acp.AuthMeta{TerminalAuth: command},
		},
		{
			ID: authStored, Name: "Use the agent that is set up",
			Description: "For an agent that you have set up in a terminal, with: " + safe.ShellWord(self()) + " setup",
		},
	}
}

// self is the path of this program, which may not be in PATH.
func self() string {
	path, err := os.Executable()
	if err != nil {
		return "a2astdio"
	}
	return path
}
