package cli

import (
	"net/url"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/webhook"
	"github.com/a2astdio/a2astdio/transport"
)

const groupPush = "What the agent pushes"

// webhookFlags are the options for receiving pushes.
func webhookFlags(env func(name string) []string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "webhook", Category: groupPush, EnvVars: env("webhook"),
			Usage: "`ADDR|nats://HOST:PORT/MAILBOX`: have the agent push a task's changes, so that a turn goes on without a connection; receive them at HOST:PORT (port 0: a free one), or from a2astdio webhook by way of NATS (tls://… where only TLS is right). See docs/push.md"},
		&cli.StringFlag{Name: "webhook-url", Category: groupPush, EnvVars: env("webhook-url"),
			Usage: "`URL`: how the agent reaches the receiver, through a tunnel, a proxy or a2astdio webhook; without it the address of --webhook itself, which only an agent on this machine reaches"},
		&cli.StringSliceFlag{Name: "webhook-allow", Category: groupPush, EnvVars: env("webhook-allow"),
			Usage: "`HOST|CIDR`: a private address to which an editor, or task push-config, may have the agent push. Repeatable"},
		&cli.StringFlag{Name: "webhook-cert", Category: groupPush, EnvVars: env("webhook-cert"), Usage: "`FILE`: speak TLS at --webhook with this certificate (PEM)"},
		&cli.StringFlag{Name: "webhook-cert-key", Category: groupPush, EnvVars: env("webhook-cert-key"), Usage: "`FILE`: its key (PEM)"},
		&cli.StringFlag{Name: "webhook-key", Category: groupPush, EnvVars: env("webhook-key"), Usage: "`FILE`: with NATS, the mailbox's key, from a2astdio webhook key"},
		&cli.StringFlag{Name: "webhook-credentials", Category: groupPush, EnvVars: env("webhook-credentials"), Usage: "`FILE`: with NATS, what to connect with: its credentials (.creds), or an NKey's seed"},
		&cli.StringFlag{Name: "webhook-ca", Category: groupPush, EnvVars: env("webhook-ca"), Usage: "`FILE`: with NATS, further certificate authorities (PEM)"},
		&cli.StringFlag{Name: "webhook-jwks", Category: groupPush, EnvVars: env("webhook-jwks"),
			Usage: "`URL|FILE`: the keys of an agent that signs what it pushes; then a push without its signature is refused"},
	}
}

// openWebhook makes the receiver that the options ask for.
func (l *link) openWebhook(c *cli.Context, local bool) error {
	l.options.WebhookPolicy = &transport.WebhookPolicy{Allow: fields(listOf(c, "webhook-allow"))}
	where := stringOf(c, "webhook")
	if where == "" {
		for _, name := range []string{"webhook-url", "webhook-cert", "webhook-cert-key", "webhook-key", "webhook-credentials", "webhook-ca", "webhook-jwks"} {
			if isSet(c, name) && stringOf(c, name) != "" {
				return usagef("--%s is for a receiver: name one with --webhook", name)
			}
		}
		return nil
	}
	base, err := publicURL("webhook-url", stringOf(c, "webhook-url"))
	if err != nil {
		return err
	}
	keys, err := webhookKeys("webhook-jwks", stringOf(c, "webhook-jwks"))
	if err != nil {
		return err
	}
	if strings.Contains(where, "://") {
		return l.openMailbox(c, where, base, keys != nil)
	}
	if base == "" && !local {
		return usagef("--webhook %s is on this machine and the agent is not: say with --webhook-url how the agent reaches it", where)
	}
	return l.listenWebhook(c, where, base, keys)
}

// listenWebhook receives in this process.
func (l *link) listenWebhook(c *cli.Context, addr, base string, keys *webhook.Keys) error {
	cert, key := stringOf(c, "webhook-cert"), stringOf(c, "webhook-cert-key")
	if (cert == "") != (key == "") {
		return usagef("--webhook-cert and --webhook-cert-key go together")
	}
	boxes := webhook.NewBoxes(base, keys != nil)
	server, err := webhook.Listen(addr, cert, key, 0, webhook.NewReceiver(boxes, &webhook.Options{Keys: keys, Log: l.options.Log}))
	if err != nil {
		return usagef("--webhook: %v", err)
	}
	if base == "" {
		boxes.SetBase(server.URL())
	}
	l.closers = append(l.closers, server.Close)
	l.options.Webhooks = boxes
	return nil
}

// openMailbox receives through NATS. It does not connect yet.
func (l *link) openMailbox(c *cli.Context, where, base string, signs bool) error {
	server, mailbox, err := webhook.CheckNATS(where)
	if err != nil {
		return usagef("--webhook: %v", err)
	}
	if err := webhook.CheckPerson(mailbox); err != nil {
		return usagef("--webhook: the path of %s: %v", where, err)
	}
	if base == "" {
		return usagef("--webhook nats://… needs --webhook-url, the URL of the a2astdio webhook that agents reach")
	}
	file := stringOf(c, "webhook-key")
	if file == "" {
		return usagef("--webhook nats://… needs --webhook-key, a file that a2astdio webhook key has written for the mailbox")
	}
	key, err := webhook.ReadKey(file)
	if err != nil {
		return usagef("--webhook-key: %v", err)
	}
	m := webhook.NewMailbox(server, mailbox, base, key, signs,
		&webhook.NATSOptions{Credentials: stringOf(c, "webhook-credentials"), CAFile: stringOf(c, "webhook-ca"), Log: l.options.Log})
	l.closers = append(l.closers, m.Close)
	l.options.Webhooks = m
	return nil
}

func webhookKeys(name, value string) (*webhook.Keys, error) {
	if value == "" {
		return nil, nil
	}
	keys, err := webhook.NewKeys(value)
	if err != nil {
		return nil, usagef("--%s: %v", name, err)
	}
	return keys, nil
}

// publicURL checks the address by which agents reach a receiver.
func publicURL(name, value string) (string, error) {
	if value == "" {
		return "", nil
	}
	u, err := url.Parse(value)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return "", usagef("--%s %q is no http or https URL", name, value)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return "", usagef("--%s has credentials, a query or a fragment, but addresses begin with it", name)
	case u.Scheme == "http" && !isLoopback(u.Hostname()):
		return "", usagef("--%s %s is not encrypted: pushes and their token could be read on the way; use https", name, value)
	}
	return value, nil
}
