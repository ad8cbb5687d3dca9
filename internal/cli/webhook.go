package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/internal/webhook"
)

// webhookCommand runs the receiver as a service.
func (p *program) webhookCommand() *cli.Command {
	key := documented(&cli.Command{
		Name:     "key",
		HelpName: "a2astdio webhook key",
		Usage:    "print the key of one mailbox",
		Flags:    []cli.Flag{&cli.StringFlag{Name: "key", Usage: "`FILE`: the service's own key"}},
		Action:   p.webhookKey,
	}, help{
		intro: `Prints the key of one person's mailbox, made of the service's key. It is for
that person's bridge (--webhook-key), and makes tokens for that mailbox only.`,
		usage:    []string{"a2astdio webhook key --key FILE MAILBOX"},
		examples: []example{{"a2astdio webhook key --key service.key alice >alice.key", "what alice's bridge gets"}},
	})
	return documented(&cli.Command{
		Name:  "webhook",
		Usage: "receive what agents push, for bridges that they cannot reach",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "listen", Usage: "`ADDR`: where to listen, HOST:PORT; without HOST on this machine only, with port 0 on a free one"},
			&cli.StringFlag{Name: "to", Usage: "`nats://HOST:PORT`: the NATS server, with JetStream, that keeps what is pushed; tls://… where only TLS is right"},
			&cli.StringSliceFlag{Name: "for", Usage: "`MAILBOX`: whose pushes are taken: letters, digits, - and _. Repeatable"},
			&cli.StringFlag{Name: "key", Usage: "`FILE`: the service's key, 32 characters or more: openssl rand -hex 32"},
			&cli.StringFlag{Name: "credentials", Usage: "`FILE`: what to connect to NATS with: its credentials (.creds), or an NKey's seed"},
			&cli.StringFlag{Name: "ca", Usage: "`FILE`: further certificate authorities for NATS (PEM)"},
			&cli.StringFlag{Name: "cert", Usage: "`FILE`: speak TLS with this certificate (PEM); without it, a proxy in front has to"},
			&cli.StringFlag{Name: "cert-key", Usage: "`FILE`: its key (PEM)"},
			&cli.StringFlag{Name: "jwks", Usage: "`URL|FILE`: the keys of an agent that signs what it pushes; then a push without its signature is refused"},
			&cli.DurationFlag{Name: "max-age", Value: webhook.DefaultMaxAge, Usage: "`TIME`: how long a push is kept for a bridge that is not there"},
			&cli.IntFlag{Name: "max-size", Value: webhook.DefaultMaxBody, DefaultText: "4194304, or what the NATS server takes", Usage: "`BYTES`: how much a push may hold"},
			&cli.DurationFlag{Name: "push-timeout", Value: webhook.DefaultTimeout, Usage: "`TIME`: how long a push may take to arrive"},
			&cli.StringSliceFlag{Name: "accept", Usage: "`TYPE`: a content type to take; without it, JSON of any kind. Repeatable"},
		},
		Subcommands: []*cli.Command{key},
		Action:      p.webhook,
	}, help{
		intro: `Receives what A2A agents push and hands it to NATS JetStream, from where the
bridges of those who started the tasks fetch it (--webhook nats://...). It is
for people whose machines no agent can reach; one service is enough for many.
docs/push.md has a configuration for NATS.

When it is ready it writes its URL to stdout, as one line. Ctrl-C ends it.`,
		usage:    []string{"a2astdio webhook --listen ADDR --to nats://HOST:PORT --key FILE --for MAILBOX... [options]", "a2astdio webhook key --key FILE MAILBOX"},
		commands: []example{{"webhook key", key.Usage}},
		examples: []example{
			{"a2astdio webhook --listen :8080 --to nats://nats.example:4222 --key service.key --for alice --for bob", "behind a proxy that speaks TLS"},
			{"a2astdio --webhook nats://nats.example:4222/alice --webhook-url https://hooks.example --webhook-key alice.key --agent URL", "alice's bridge"},
		},
	})
}

// webhook serves until an interrupt, which is its regular end.
func (p *program) webhook(c *cli.Context) error {
	if _, err := p.arguments(c); err != nil {
		return err
	}
	for _, name := range []string{"listen", "to", "key"} {
		if c.String(name) == "" {
			return usagef("--%s is missing", name)
		}
	}
	people := stringsOf(c, "for")
	if len(people) == 0 {
		return usagef("--for is missing: whose pushes are taken?")
	}
	for _, person := range people {
		if err := webhook.CheckPerson(person); err != nil {
			return usagef("--for: %v", err)
		}
	}
	to, path, err := webhook.CheckNATS(c.String("to"))
	if err != nil {
		return usagef("--to: %v", err)
	}
	if path != "" {
		return usagef("--to has a path: mailboxes are named by --for")
	}
	master, err := webhook.ReadKey(c.String("key"))
	if err != nil {
		return usagef("--key: %v", err)
	}
	opts, err := webhookOptions(c)
	if err != nil {
		return err
	}
	l := &link{}
	defer l.close()
	if opts.Log, err = p.openLog(c, l, &trace.Options{Version: p.version, Secrets: []string{string(master)}}); err != nil {
		return err
	}
	if !isSet(c, "log") && !isSet(c, "log-level") {
		opts.Log = p.warnings()
	}
	queue, err := webhook.NewPublisher(c.Context, to, master, people, c.Duration("max-age"),
		&webhook.NATSOptions{Credentials: c.String("credentials"), CAFile: c.String("ca"), Log: opts.Log})
	if err != nil {
		return err
	}
	l.closers = append(l.closers, queue.Close)
	opts.MaxBody = min(opts.MaxBody, queue.MaxBody())
	return p.serveWebhook(c, queue, opts)
}

func (p *program) serveWebhook(c *cli.Context, queue webhook.Queue, opts *webhook.Options) error {
	server, err := webhook.Listen(c.String("listen"), c.String("cert"), c.String("cert-key"), opts.Timeout, webhook.NewReceiver(queue, opts))
	if err != nil {
		return err
	}
	fmt.Fprintln(p.stdout, server.URL())
	<-c.Context.Done()
	_ = server.Close() // open requests are cut off: agents push again
	if err := context.Cause(c.Context); err != nil && err != context.Canceled {
		return err
	}
	return nil
}

func webhookOptions(c *cli.Context) (*webhook.Options, error) {
	if (c.String("cert") == "") != (c.String("cert-key") == "") {
		return nil, usagef("--cert and --cert-key go together")
	}
	opts := &webhook.Options{Segments: 2, MaxBody: int64(c.Int("max-size")), Timeout: c.Duration("push-timeout")}
	switch {
	case opts.MaxBody <= 0:
		return nil, usagef("--max-size does not take %d: it takes a number of bytes", opts.MaxBody)
	case opts.Timeout <= 0:
		return nil, usagef("--push-timeout does not take %v: it takes a time like 10s", opts.Timeout)
	case c.Duration("max-age") <= 0:
		return nil, usagef("--max-age does not take %v: it takes a time like 24h", c.Duration("max-age"))
	}
	for _, t := range stringsOf(c, "accept") {
		opts.MediaTypes = append(opts.MediaTypes, strings.ToLower(strings.TrimSpace(t)))
	}
	var err error
	opts.Keys, err = webhookKeys("jwks", c.String("jwks"))
	return opts, err
}

func (p *program) webhookKey(c *cli.Context) error {
	args, err := p.arguments(c, "MAILBOX")
	if err != nil {
		return err
	}
	if err := webhook.CheckPerson(args[0]); err != nil {
		return usagef("%v", err)
	}
	file := c.String("key")
	if at := where(c, "key"); file == "" && at != c {
		file = at.String("key")
	}
	if file == "" {
		return usagef("--key is missing: the service's own key, from which the mailbox's is made")
	}
	master, err := webhook.ReadKey(file)
	if err != nil {
		return usagef("--key: %v", err)
	}
	fmt.Fprintln(p.stdout, string(master.For(args[0])))
	return nil
}
