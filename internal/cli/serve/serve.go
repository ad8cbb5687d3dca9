// Package serve is a2astdio for an editor: the bridge, and the companion of its plugins.
package serve

import (
	"errors"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/bridge/store"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/cli/reach"
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
		l, err = waiting(p, c)
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
	serves(l, c, sessions)
	if err := addCompanion(p, c, l); err != nil {
		return err
	}
	p.Serving = true
	return bridge.Serve(c.Context, polled(p.Stdin), &tuner{w: p.Stdout, traced: l.Options.Tap != nil}, &l.Options)
}
