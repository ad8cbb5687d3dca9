package cli

import (
	"errors"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/credentials"
	"github.com/a2astdio/a2astdio/internal/credentials/oauth"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

func (p *program) authCommand() *cli.Command {
	return group("auth",
		agentCommand("auth login", p.signIn,
			&cli.BoolFlag{Name: "device", Usage: "enter a code on another device, also where there is a browser"},
			&cli.BoolFlag{Name: "with-token", Usage: "read a token, a key or user:password from stdin and keep that, placed where the card wants it"}),
		agentCommand("auth logout", p.logout,
			&cli.BoolFlag{Name: "all", Usage: "forget the sign-ins for all agents"}),
		agentCommand("auth status", p.authStatus))
}

func (p *program) signIn(c *cli.Context) error {
	if _, err := p.arguments(c); err != nil {
		return err
	}
	l, err := p.link(c)
	if err != nil {
		return err
	}
	defer l.close()
	if err := l.canSignIn(); err != nil {
		return err
	}
	source := l.credentials
	how := &credentials.SignIn{Device: c.Bool("device")}
	if how.Card, err = l.publicCard(c); err != nil {
		return err
	}
	var login *credentials.Login
	if c.Bool("with-token") {
		secret, err := io.ReadAll(io.LimitReader(p.stdin, 1<<20))
		if err != nil {
			return err
		}
		login, err = source.StoreToken(c.Context, how, string(secret))
		if err != nil {
			return err
		}
	} else if login, err = source.SignIn(c.Context, how, &terminalUser{p: p}); err != nil {
		return &signInError{err}
	}
	var out page
	out.heading("Signed in to " + login.Origin)
	loginFields(&out, login, l.signInAs.Now)
	return p.show(&out)
}

// canSignIn refuses where nothing can store a sign-in, or the agent has no place to
// sign in.
func (l *link) canSignIn() error {
	switch {
	case l.credentials == nil:
		return usagef("the demo that is built in knows nobody: a2astdio demo --listen :4000 --auth bearer serves one that does")
	case l.signInAs.Agent == "":
		return usagef("a sign-in is kept by the agent's URL: --agent names it")
	case l.signInAs.Store == nil:
		_, err := credentials.OpenStore("")
		return errors.Join(err, usagef("there is no place to keep a sign-in"))
	}
	return nil
}

// publicCard returns the card that the agent shows without credentials, nil if it shows
// none.
func (l *link) publicCard(c *cli.Context) (*a2a.Card, error) {
	card, err := l.client.PublicCard(c.Context)
	if err != nil && !unauthenticated(err) {
		return nil, &notReached{err}
	}
	return card, nil
}

// A signInError says that a sign-in failed: exit status 4.
type signInError struct{ err error }

func (e *signInError) Error() string { return "not signed in: " + e.err.Error() }
func (e *signInError) Unwrap() error { return e.err }

func (p *program) logout(c *cli.Context) error {
	if _, err := p.arguments(c); err != nil {
		return err
	}
	o, store, err := p.signInOptions(c)
	if err != nil {
		return err
	}
	if c.Bool("all") {
		return p.logoutAll(c, o, store)
	}
	if o.Agent == "" {
		return usagef("which agent? --agent URL names it, and --all means all")
	}
	forgotten, given, err := p.forget(c, o)
	if err != nil {
		return err
	}
	var out page
	if forgotten == 0 {
		out.text(0, "There was no sign-in.")
	} else {
		out.text(0, "Signed out of "+credentials.Origin(o.Agent)+".")
	}
	if given != "" {
		out.text(0, given+" still says who you are: take that away, too.")
	}
	return p.show(&out)
}

// logoutAll removes all sign-ins. It does not read the options and the configuration of
// one agent: they say nothing about the others.
func (p *program) logoutAll(c *cli.Context, o *credentials.Options, store *credentials.Store) error {
	list, bad := store.List()
	var out page
	for _, l := range list {
		of := *o
		of.Agent = l.Agent
		if l.ClientID != o.OAuth.ClientID {
			of.OAuth = credentials.OAuth{ClientID: l.ClientID}
		}
		n, _, err := p.forget(c, &of)
		if err != nil {
			return err
		}
		if n > 0 {
			out.text(0, "Signed out of "+l.Origin+".")
		}
	}
	if len(list) == 0 && bad == nil {
		out.text(0, "There was no sign-in.")
	}
	source := credentials.New(o)
	if given := source.Given(); given != "" {
		out.text(0, given+" still says who you are: take that away, too.")
	}
	return errors.Join(source.Close(), p.show(&out), bad)
}

// forget removes the sign-ins for an agent. It returns how many there were, and which
// other credential still identifies the user.
func (p *program) forget(c *cli.Context, o *credentials.Options) (n int, given string, err error) {
	source := credentials.New(o)
	forgotten, warn, err := source.SignOut(c.Context)
	given = source.Given()
	_ = source.Close() // it has nothing under way
	if warn != nil {
		p.say("it is forgotten here, but: %v", warn)
	}
	return len(forgotten), given, err
}

// signInOptions serves commands that look at sign-ins without the agent.
func (p *program) signInOptions(c *cli.Context) (*credentials.Options, *credentials.Store, error) {
	conf, err := p.configure(c)
	if err != nil {
		return nil, nil, err
	}
	client, err := p.clientOptions(c, conf)
	if err != nil {
		return nil, nil, err
	}
	o, err := p.credentialOptions(c, conf, client.Header, client.TLS, nil)
	if err != nil {
		return nil, nil, err
	}
	if o.Store, err = credentials.OpenStore(""); err != nil {
		return nil, nil, usagef("%v", err)
	}
	return o, o.Store, nil
}

// terminalUser is the user at the terminal, who reads at least stderr.
type terminalUser struct {
	p *program
	// asker holds the terminal already; nil: nobody does.
	asker *asker
}

var _ credentials.User = (*terminalUser)(nil)

// providerQuestion is asked before a sign-in at a provider that the agent has named.
func providerQuestion(q *oauth.Question) string {
	var b strings.Builder
	b.WriteString("\nThe agent at " + q.Agent + "\nwants you to sign in at " + q.Provider + "\n")
	if q.Token != "" {
		b.WriteString("which answers by " + q.Token + "\n")
	}
	if len(q.Scopes) > 0 {
		b.WriteString("and asks there for " + strings.Join(q.Scopes, ", ") + "\n")
	}
	if q.Unencrypted {
		b.WriteString("The agent is reached without encryption: whoever is on the way can read what it is shown.\n")
	}
	return b.String()
}
