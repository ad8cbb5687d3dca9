package auth

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/credentials"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// authStatus shows which credentials identify the user.
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
	now := time.Now()
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
		out.Field("  until", stamp(l.Expiry, now)+"; it is renewed by itself")
	case now.After(l.Expiry):
		out.Field("  over", "since "+stamp(l.Expiry, now)+", and it cannot be renewed")
	default:
		out.Field("  until", stamp(l.Expiry, now)+"; it cannot be renewed")
	}
}

// stamp writes a time for people.
func stamp(t, now time.Time) string {
	if y, m, d := t.Local().Date(); y == now.Year() && m == now.Month() && d == now.Day() {
		return t.Local().Format("15:04:05")
	}
	return t.Local().Format("2006-01-02 15:04")
}
