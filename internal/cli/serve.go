package cli

import (
	"errors"
	"net/url"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/bridge/store"
)

// serve runs a2astdio without a command: it serves an editor on stdin and stdout.
func (p *program) serve(c *cli.Context) error {
	if c.NArg() > 0 {
		var names []string
		for _, command := range p.commands() {
			names = append(names, command.name)
		}
		return noCommand(c.Args().First(), c.Args().First(), names)
	}
	l, err := p.link(c)
	if errors.Is(err, errNoAgent) && p.waitsForSetup(c) {
		l, err = p.waiting(c)
	}
	if err != nil {
		return err
	}
	defer l.close()
	if l.fromFiles {
		l.options.AuthMethods = p.setupMethods()
	}
	if isTerminal(p.stdin) {
		// A person would see nothing at all. Editors have no terminal.
		p.say("an editor would speak to this on stdin now; to talk yourself: a2astdio %s send \"hello\" (Ctrl-D ends this)", l.way)
	}
	sessions, err := store.Open("")
	if err != nil && l.options.Log != nil {
		// Then sessions end with this process, and the editor is told.
		l.options.Log.Warn("sessions are not stored", "err", err)
	}
	l.serves(c, sessions)
	if err := p.addCompanion(c, l); err != nil {
		return err
	}
	p.serving = true
	return bridge.Serve(c.Context, polled(p.stdin), &tuner{w: p.stdout, traced: l.options.Tap != nil}, &l.options)
}

// serves gives the bridge its store of sessions and the sign-in.
func (l *link) serves(c *cli.Context, sessions *store.Store) {
	l.options.Name, l.options.Store, l.options.Login = l.name, sessions, l.editorLogin(c)
	if l.consent != nil && l.options.Login == nil { // who is started here is signed in to by its own means
		l.options.Login = l.consent
	}
}

// agentName is the agent's name in the store: its URL without possible credentials.
func agentName(agent string) string {
	u, err := url.Parse(agent)
	if err != nil || u.Host == "" {
		return agent
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// shownAddress is an agent's URL, a file's name, or what was meant to be one, as it is
// shown: without what may be a user, a password or a query.
func shownAddress(address string) string {
	address = agentName(address)
	if user, host, ok := strings.Cut(address, "@"); ok && strings.Contains(user, ":") {
		address = "***@" + host
	}
	if strings.Contains(address, "://") || strings.HasPrefix(address, "***@") {
		address, _, _ = strings.Cut(address, "?")
	}
	return address
}
