package cli

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/mapping/acp"
)

// The ways to authenticate that editors are offered, by the IDs that they see.
const (
	authSetup  = "setup"
	authStored = "stored"
)

// waitsForSetup reports whether a bridge without an agent can begin: an editor can
// set one up. A person at a terminal, and a script that speaks A2A lines, cannot, and
// learn at once what is missing.
func (p *program) waitsForSetup(c *cli.Context) bool {
	return !isTerminal(p.stdin) && stringOf(c, "protocol") != bridge.ProtocolA2A
}

// waiting is the link of a bridge that has no agent yet. What it leads to is found
// when somebody needs it: by then a2astdio setup may have stored one.
func (p *program) waiting(c *cli.Context) (*link, error) {
	l := &link{}
	if err := l.bridgeOptions(c); err != nil {
		return nil, err
	}
	// The trace is that of the agent, whose secrets are masked in it.
	var tap atomic.Pointer[func(bool, []byte)]
	o := &l.options
	o.Version, o.AuthMethods = p.version, p.setupMethods()
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
		if err != nil {
			return nil, explainSetup(err)
		}
		l.closers = append(l.closers, func() error { // Serve's end comes after this
			found.close()
			return nil
		})
		found.serves(again, o.Store)
		if found.options.Tap != nil {
			tap.Store(&found.options.Tap)
		}
		return &found.options, nil
	}
	return l, nil
}

// linkAgain is link for the same command line, as a program that is started now would
// have it: the files may say something else by now, and so may set, which changes
// options before they are read.
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

// explainSetup says what an editor's user can do: he may never have seen a terminal
// with this program in it, which his editor has installed.
func explainSetup(err error) error {
	if !errors.Is(err, errNoAgent) {
		return err
	}
	return errors.New("bridge: no agent is set up yet: choose \"" + setupName + "\" if your editor offers it, or run this in a terminal: " +
		quoteForShell(self()) + " setup")
}

const setupName = "Set up an agent"

// setupMethods are what initialize offers when the agent is not named on the command
// line: to set one up, in a terminal, and to use what was set up.
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
			Description: "For an agent that you have set up in a terminal, with: " + quoteForShell(self()) + " setup",
		},
	}
}

// self is how this program is started again: by its path, because it need not be
// where a shell looks.
func self() string {
	path, err := os.Executable()
	if err != nil {
		return "a2astdio"
	}
	return path
}

// quoteForShell makes one word of a path that is to be pasted into a shell.
func quoteForShell(path string) string {
	switch {
	case !strings.ContainsAny(path, " \t'\"\\$&;()<>|*?`"):
		return path
	case runtime.GOOS == "windows":
		return `"` + path + `"`
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
