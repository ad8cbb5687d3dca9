package cli

import (
	"net/url"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/bridge"
)

// serve is a2astdio without a command: it serves an editor on stdin and stdout.
func (p *program) serve(c *cli.Context) error {
	if err := p.noArguments(c); err != nil {
		return err
	}
	l, err := p.link(c)
	if err != nil {
		return err
	}
	defer l.close()
	if isTerminal(p.stdin) {
		// A newcomer would look at a still screen. Editors have no terminal.
		p.say("an editor would speak to this on stdin now; to talk yourself: a2astdio %s send \"hello\" (Ctrl-D ends this)", l.way)
	}
	l.options.Name = l.name
	if l.options.Store, err = bridge.OpenStore(""); err != nil {
		// Sessions end with this process then, which the editor is told.
		l.options.Log.Warn("sessions are not stored", "err", err)
	}
	return bridge.Serve(c.Context, p.stdin, &tuner{w: p.stdout}, &l.options)
}

// agentName is what the store knows an agent by: its URL, without what may be a
// credential.
func agentName(agent string) string {
	u, err := url.Parse(agent)
	if err != nil || u.Host == "" {
		return agent
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}
