package reach

import (
	"cmp"
	"context"
	"net/url"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cardsign"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/internal/webhook"
)

// openWebhook makes the receiver that the options ask for.
func (l *Link) openWebhook(c *cli.Context, local bool) error {
	where := c.String("webhook")
	if where == "" {
		for _, name := range []string{"webhook-url", "webhook-jwks"} {
			if c.String(name) != "" {
				return frame.Usagef("--%s is for a receiver: name one with --webhook", name)
			}
		}
		return nil
	}
	base, err := publicURL(c.String("webhook-url"))
	if err != nil {
		return err
	}
	var keys *cardsign.Keys
	if jwks := c.String("webhook-jwks"); jwks != "" {
		if keys, err = cardsign.NewKeys(jwks, keyClient(l.HTTP.TLS)); err != nil {
			return frame.Usagef("--webhook-jwks: %v", err)
		}
	}
	if base == "" && !local {
		return frame.Usagef("--webhook %s is on this machine and the agent is not: say with --webhook-url how the agent reaches it", where)
	}
	// Where the user, the card's place and the card say that the agent is. A started agent's
	// URL is known once it runs.
	issuers := func(ctx context.Context) []string {
		given := []string{c.String("agent"), c.String("card")}
		if chosen, err := l.Client.Chosen(ctx); err == nil {
			given = append(given, chosen.At.URL)
		}
		return given
	}
	receiver := webhook.NewReceiver(webhook.Options{Keys: keys, Issuers: issuers, Log: l.Options.Log})
	at, end, err := webhook.Listen(where, receiver)
	if err != nil {
		return frame.Usagef("--webhook: %v", err)
	}
	receiver.SetBase(cmp.Or(base, at))
	l.Closers = append(l.Closers, end)
	l.Options.Webhooks = receiver
	return nil
}

// publicURL checks the address by which agents reach a receiver.
func publicURL(value string) (string, error) {
	if value == "" {
		return "", nil
	}
	u, err := url.Parse(value)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return "", frame.Usagef("--webhook-url %q is no http or https URL", ShownAddress(value))
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return "", frame.Usagef("--webhook-url has credentials, a query or a fragment, but addresses begin with it")
	case u.Scheme == "http" && !safe.ThisMachine(u.Host):
		return "", frame.Usagef("--webhook-url %s is not encrypted: pushes and their token could be read on the way; use https", value)
	}
	return value, nil
}
