// Package auth has the commands about sign-ins, and is the user of one at a terminal.
//
// [OpenBrowser] leaves a goroutine behind that waits for the browser: it ends with that, or with the process.
package auth

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/agentproc"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/cli/reach"
	"github.com/a2astdio/a2astdio/internal/credentials"
	"github.com/a2astdio/a2astdio/internal/credentials/oauth"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

func Command(p *frame.Program) *cli.Command {
	return p.Group("auth",
		p.AgentCommand("auth login", reach.Opened(signIn),
			frame.Option{Flag: "device", Kind: frame.Switch, Help: "enter a code on another device, also where there is a browser"},
			frame.Option{Flag: "with-token", Kind: frame.Switch, Help: "read a token, a key or user:password from stdin and keep that, placed where the card wants it"}),
		p.AgentCommand("auth logout", logout,
			frame.Option{Flag: "all", Kind: frame.Switch, Help: "forget the sign-ins for all agents"}),
		p.AgentCommand("auth status", authStatus))
}

func signIn(p *frame.Program, c *cli.Context, l *reach.Link) (err error) {
	if err := l.CanSignIn(); err != nil {
		return err
	}
	source := l.Credentials
	how := &credentials.SignIn{Device: c.Bool("device")}
	if how.Card, err = l.PublicCard(c.Context); err != nil {
		return err
	}
	var login *credentials.Login
	if c.Bool("with-token") {
		secret, err := io.ReadAll(io.LimitReader(p.Input(c.Context), 1<<20))
		if err != nil {
			return err
		}
		login, err = source.StoreToken(c.Context, how, string(secret))
		if err != nil {
			return err
		}
	} else if login, err = source.SignIn(c.Context, how, &TerminalUser{P: p, Workspaces: l.SignInAs.Command.Workspaces}); err != nil {
		return frame.Mark(frame.ErrSignIn, fmt.Errorf("not signed in: %w", err))
	}
	var out frame.Page
	out.Heading("Signed in to " + login.Origin)
	loginFields(&out, login)
	return p.Show(&out)
}

func logout(p *frame.Program, c *cli.Context) error {
	o, store, err := signInOptions(p, c)
	if err != nil {
		return err
	}
	list := []*credentials.Login{{Agent: o.Agent, Origin: credentials.Origin(o.Agent), ClientID: o.OAuth.ClientID}}
	var bad error
	if c.Bool("all") {
		list, bad = store.List()
	} else if o.Agent == "" {
		return frame.Usagef("which agent? --agent URL names it, and --all means all")
	}
	var out frame.Page
	for _, l := range list {
		of := *o
		of.Agent = l.Agent
		if l.ClientID != o.OAuth.ClientID { // a client that is configured is that of one agent
			of.OAuth = credentials.OAuth{ClientID: l.ClientID}
		}
		source := credentials.New(&of)
		forgotten, warn, err := source.SignOut(c.Context)
		_ = source.Close() // it has nothing under way
		bad = errors.Join(bad, err)
		if warn != nil {
			p.Say("it is forgotten here, but: %v", warn)
		}
		if len(forgotten) > 0 {
			out.Text(0, "Signed out of "+l.Origin+".")
		}
	}
	source := credentials.New(o)
	given := source.Given()
	_ = source.Close()
	switch {
	case bad != nil && !c.Bool("all"):
		return bad
	case out.B.Len() == 0 && bad == nil:
		out.Text(0, "There was no sign-in.")
	}
	if given != "" {
		out.Text(0, given+" still says who you are: take that away, too.")
	}
	return errors.Join(p.Show(&out), bad)
}

// signInOptions serves commands that look at sign-ins without the agent.
func signInOptions(p *frame.Program, c *cli.Context) (*credentials.Options, *credentials.Store, error) {
	conf, err := reach.Configure(p, c)
	if err != nil {
		return nil, nil, err
	}
	client, err := reach.ClientOptions(p, c, conf)
	if err != nil {
		return nil, nil, err
	}
	o, err := reach.CredentialOptions(c, conf, client.Header, client.TLS, nil)
	if err != nil {
		return nil, nil, err
	}
	if o.Store, err = credentials.OpenStore(""); err != nil {
		return nil, nil, frame.Usagef("%v", err)
	}
	return o, o.Store, nil
}

// maxScopes bounds the scopes in a question, which has to fit on a screen.
const maxScopes = 1000

// TerminalUser is the user at the terminal, who reads at least stderr.
type TerminalUser struct {
	P *frame.Program
	// Workspaces have no program that is the browser.
	Workspaces *agentproc.Workspaces
	// Asker holds the terminal already; nil: nobody does.
	Asker *frame.Asker
}

var _ credentials.User = (*TerminalUser)(nil)

// ProviderQuestion is asked before a sign-in at a provider that the agent has named. The
// scopes are the agent's words: they stay on one line, so that they are no further question.
func ProviderQuestion(q *oauth.Question) string {
	var b strings.Builder
	b.WriteString("\nThe agent at " + q.Agent + "\nwants you to sign in at " + q.Provider + "\n")
	if len(q.Others) > 0 {
		b.WriteString("which answers by " + strings.Join(q.Others, ", ") + "\n")
	}
	if len(q.Scopes) > 0 {
		b.WriteString("and asks there for " + safe.Line(strings.Join(q.Scopes, ", "), maxScopes) + "\n")
	}
	if q.Unencrypted {
		b.WriteString("The agent is reached without encryption: whoever is on the way can read what it is shown.\n")
	}
	return b.String()
}

func authStatus(p *frame.Program, c *cli.Context) error {
	o, store, err := signInOptions(p, c)
	if err != nil {
		return err
	}
	list, bad := store.List()
	if bad != nil {
		p.Say("%v", bad)
	}
	var logins []*credentials.Login
	for _, l := range list {
		if o.Agent != "" && l.Origin != credentials.Origin(o.Agent) {
			continue
		}
		if full, err := store.Get(l.Origin, l.ClientID); err != nil {
			p.Say("%v", err)
		} else if full != nil {
			l = full
		}
		logins = append(logins, l)
	}
	given := givenBy(o)
	err = p.Show(statusPage(o.Agent, given, logins))
	if err == nil && o.Agent != "" && len(given) == 0 && len(logins) == 0 {
		err = frame.Mark(frame.ErrReported, &a2a.Error{HTTPStatus: 401, Message: "there are no credentials for this agent"})
	}
	return err
}

// givenBy names the options and variables that give a credential without a sign-in.
func givenBy(o *credentials.Options) (list []string) {
	if len(o.Header) > 0 {
		list = append(list, cmp.Or(o.HeaderBy, "--header")+": "+strings.Join(slices.Sorted(maps.Keys(o.Header)), ", "))
	}
	if !o.Token.IsZero() {
		list = append(list, o.Token.Name+": a token")
	}
	if o.Command.Line != "" {
		list = append(list, "--credential-command: whatever it gives")
	}
	if o.Certificate {
		list = append(list, "--client-cert: a certificate")
	}
	if a := o.OAuth; a.ClientID != "" && !a.Secret.IsZero() && a.Issuer != "" && o.Token.IsZero() && o.Command.Line == "" {
		list = append(list, "--oauth-client-id: tokens of "+safe.Bare(a.Issuer)+" for the client "+a.ClientID)
	}
	return list
}

func statusPage(agent string, given []string, logins []*credentials.Login) *frame.Page {
	out := &frame.Page{}
	if len(given) > 0 {
		out.Heading("Given, for any agent")
		for _, g := range given {
			out.Text(2, g)
		}
	}
	for _, l := range logins {
		out.Heading(l.Origin)
		loginFields(out, l)
	}
	switch {
	case len(given)+len(logins) > 0:
	case agent != "":
		out.Text(0, "There are no credentials for "+credentials.Origin(agent)+".")
	default:
		out.Text(0, "There are no sign-ins.")
	}
	return out
}

func loginFields(out *frame.Page, l *credentials.Login) {
	until := l.Expiry.Local().Format(time.DateTime)
	out.Field("  agent", l.Agent)
	out.Field("  as", l.Account)
	if l.Provider != nil {
		out.Field("  at", l.Provider.Issuer)
	}
	out.Field("  client", l.ClientID)
	out.Field("  for", strings.Join(l.Scopes, ", "))
	switch {
	case l.Over != "":
		out.Field("  over", l.Over)
	case l.Expiry.IsZero():
		out.Field("  until", "it is refused or forgotten")
	case l.Renews():
		out.Field("  until", until+"; it is renewed by itself")
	case time.Now().After(l.Expiry):
		out.Field("  over", "since "+until+", and it cannot be renewed")
	default:
		out.Field("  until", until+"; it cannot be renewed")
	}
}
