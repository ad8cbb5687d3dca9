package cli

import (
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/credentials"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// authStatus shows which credentials identify the user.
func (p *program) authStatus(c *cli.Context) error {
	if _, err := p.arguments(c); err != nil {
		return err
	}
	o, store, err := p.signInOptions(c)
	if err != nil {
		return err
	}
	list, bad := store.List()
	if bad != nil {
		p.say("%v", bad)
	}
	var logins []*credentials.Login
	for _, l := range list {
		if o.Agent != "" && l.Origin != credentials.Origin(o.Agent) {
			continue
		}
		if full, err := store.Get(c.Context, l.Origin, l.ClientID); err != nil {
			p.say("%v", err)
		} else if full != nil {
			l = full
		}
		logins = append(logins, l)
	}
	given := givenBy(o)
	err = p.show(statusPage(o.Agent, given, logins))
	if err == nil && o.Agent != "" && len(given) == 0 && len(logins) == 0 {
		err = &reported{&a2a.Error{HTTPStatus: 401, Message: "there are no credentials for this agent"}}
	}
	return err
}

// givenBy names the options and variables that give a credential without a sign-in.
func givenBy(o *credentials.Options) (list []string) {
	if len(o.Header) > 0 {
		var names []string
		for name := range o.Header {
			names = append(names, name)
		}
		list = append(list, "--header: "+strings.Join(names, ", "))
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
		list = append(list, "--oauth-client-id: tokens of "+a.Issuer+" for the client "+a.ClientID)
	}
	return list
}

func statusPage(agent string, given []string, logins []*credentials.Login) *page {
	out := &page{}
	if len(given) > 0 {
		out.heading("Given, for any agent")
		for _, g := range given {
			out.text(2, g)
		}
	}
	for _, l := range logins {
		out.heading(l.Origin)
		loginFields(out, l, nil)
	}
	switch {
	case len(given)+len(logins) > 0:
	case agent != "":
		out.text(0, "There are no credentials for "+credentials.Origin(agent)+".")
	default:
		out.text(0, "There are no sign-ins.")
	}
	return out
}

func loginFields(out *page, l *credentials.Login, now func() time.Time) {
	if now == nil {
		now = time.Now
	}
	out.field("  agent", l.Agent)
	out.field("  as", l.Account)
	if l.Provider != nil {
		out.field("  at", l.Provider.Issuer)
	}
	out.field("  client", l.ClientID)
	out.field("  for", strings.Join(l.Scopes, ", "))
	switch {
	case l.Over != "":
		out.field("  over", l.Over)
	case l.Expiry.IsZero():
		out.field("  until", "it is refused or forgotten")
	case l.Renews():
		out.field("  until", stamp(l.Expiry, now())+"; it is renewed by itself")
	case now().After(l.Expiry):
		out.field("  over", "since "+stamp(l.Expiry, now())+", and it cannot be renewed")
	default:
		out.field("  until", stamp(l.Expiry, now())+"; it cannot be renewed")
	}
}

// stamp writes a time for people.
func stamp(t, now time.Time) string {
	if y, m, d := t.Local().Date(); y == now.Year() && m == now.Month() && d == now.Day() {
		return t.Local().Format("15:04:05")
	}
	return t.Local().Format("2006-01-02 15:04")
}
