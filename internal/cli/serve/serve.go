// Package serve is a2astdio for an editor: the bridge, and the companion of its plugins.
//
// A sign-in has a goroutine that waits for the editor's answer, and ends with the sign-in. Two atomics are
// between turns and the writer: the trace of an agent that is found later, and what was written since
// memory was given back, which a timer does.
package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/bridge/store"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/cli/reach"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/mapping/acp"
)

// Serve runs a2astdio without a command: it serves an editor on stdin and stdout.
func Serve(p *frame.Program, c *cli.Context) error {
	if c.NArg() > 0 {
		var names []string
		for _, command := range p.Commands {
			names = append(names, command.Name)
		}
		return frame.NoCommand(c.Args().First(), c.Args().First(), names)
	}
	if c.String("protocol") == bridge.ProtocolMCP {
		return serveMCP(p, c)
	}
	l, err := reach.Open(p, c)
	// An editor can run the setup. A person at a terminal gets the error at once, and so does
	// a script with A2A lines, as a fault.
	if errors.Is(err, reach.ErrNoAgent) && !frame.IsTerminal(p.Stdin) && c.String("protocol") != bridge.ProtocolA2A {
		l = &reach.Link{}
		err = l.BridgeOptions(c)
		l.Options.AuthMethods = setupMethods(p)
		findLater(p, l)
	}
	if err != nil {
		return err
	}
	defer l.Close()
	if l.FromFiles {
		l.Options.AuthMethods = setupMethods(p)
	}
	if frame.IsTerminal(p.Stdin) {
		// A person would see nothing at all. Editors have no terminal.
		p.Say("an editor would speak to this on stdin now; to talk yourself: a2astdio %s send \"hello\" (Ctrl-D ends this)", l.Way)
	}
	sessions, err := store.Open("")
	if err != nil && l.Options.Log != nil {
		// Then sessions end with this process, and the editor is told.
		l.Options.Log.Warn("sessions are not stored", "err", err)
	}
	addStore(l, sessions)
	if err := addCompanion(p, c, l); err != nil {
		return err
	}
	p.Serving = true
	return serveTuned(p, c, &l.Options)
}

// serveTuned serves an editor, or an MCP client, that may stay for hours.
func serveTuned(p *frame.Program, c *cli.Context, o *bridge.Options) error {
	connections := func() int { return 0 } // without an agent yet
	if o.Client != nil {
		connections = o.Client.Connections
	}
	out := &tuner{w: p.Stdout, await: func() { frame.AwaitSignals(c.Context) }, traced: o.Tap != nil, connections: connections}
	return bridge.Serve(c.Context, polled(p.Stdin), out, o)
}

// IDs of the ways to authenticate that editors are offered.
const (
	authSetup  = "setup"
	authStored = "stored"
)

// findLater makes the link that of a bridge without an agent, which looks for one when somebody
// needs it: by then a2astdio setup may have stored one.
func findLater(p *frame.Program, l *reach.Link) {
	// The trace is made with the agent's link, so that it masks the agent's secrets.
	var tap atomic.Pointer[func(bool, []byte)]
	o := &l.Options
	o.Version = p.Version
	o.Tap = func(toEditor bool, line []byte) {
		if f := tap.Load(); f != nil {
			(*f)(toEditor, line)
		}
	}
	o.Setup = func(ctx context.Context) (*bridge.Options, error) {
		found, err := reach.Reopen(ctx, p, func(*cli.Context) error { return nil })
		if err == nil {
			if err = addCompanion(p, found.C, found); err != nil {
				found.Close()
			}
		}
		if err != nil {
			return nil, explainSetup(err)
		}
		l.Closers = append(l.Closers, func() error { // Serve has ended before this
			found.Close()
			return nil
		})
		addStore(found, o.Store)
		if found.Options.Tap != nil {
			tap.Store(&found.Options.Tap)
		}
		return &found.Options, nil
	}
}

// Fault serves an editor although its settings are wrong: most editors show what a
// session is answered, and not why a program has ended. The exit status is that of the
// fault, unless it was mended meanwhile.
func Fault(ctx context.Context, p *frame.Program, fault error) error {
	status := p.Exit(ctx, fault)
	l := &reach.Link{}
	defer l.Close()
	findLater(p, l)
	l.Options.Store, _ = store.Open("") // as in Serve
	err := bridge.Serve(ctx, polled(p.Stdin), p.Stdout, &l.Options)
	if err == nil && len(l.Closers) == 0 { // no agent was found
		return &frame.CommandEnded{Status: status}
	}
	return err
}

// explainSetup tells an editor's user what to do. The editor has installed this
// program, so the user may never have seen it in a terminal.
func explainSetup(err error) error {
	switch {
	case errors.Is(err, frame.ErrConfig):
		return fmt.Errorf("bridge: a configuration file is wrong: %w", err)
	case errors.Is(err, reach.ErrNoAgent):
	case errors.As(err, new(*frame.UsageError)):
		return fmt.Errorf("bridge: a2astdio is started wrongly, correct its arguments and environment in your editor's settings: %w", err)
	default:
		return err
	}
	return errors.New("bridge: no agent is set up yet: choose \"" + setupName + "\" if your editor offers it, or run this in a terminal: " +
		safe.ShellWord(reach.Self()) + " setup")
}

const setupName = "Set up an agent"

// setupMethods returns what initialize offers when the command line names no agent: to set
// one up in a terminal, and to use it then.
func setupMethods(p *frame.Program) []acp.AuthMethod {
	before := p.Args[min(1, len(p.Args)):]
	command := acp.TerminalAuth{Label: setupName, Command: reach.Self(), Args: append(slices.Clone(before), "setup")}
	return []acp.AuthMethod{
		{
			ID: authSetup, Name: setupName, Type: acp.AuthTerminal, Args: []string{"setup"},
			Description: "Asks in a terminal where your A2A agent is, tries it, and remembers it",
			Meta:        &acp.AuthMeta{TerminalAuth: command},
		},
		{
			ID: authStored, Name: "Use the agent that is set up",
			Description: "For an agent that you have set up in a terminal, with: " + safe.ShellWord(reach.Self()) + " setup",
		},
	}
}
