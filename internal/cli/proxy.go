package cli

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/demo"
	"github.com/a2astdio/a2astdio/internal/trace/fault"
	"github.com/a2astdio/a2astdio/internal/trace/local"
	"github.com/a2astdio/a2astdio/internal/trace/proxy"
)

func (p *program) proxyCommand() *cli.Command {
	return documented(&cli.Command{Name: "proxy", Usage: "record any A2A client, as a proxy in front of the agent", Action: p.proxy,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "listen", Value: "127.0.0.1:0", DefaultText: "a free port of this machine", Usage: "`ADDR`: where to listen, HOST:PORT; without HOST on this machine only"},
			&cli.StringSliceFlag{Name: "fault", Usage: "`FAULT`: what is to go wrong: " + fault.Help + ". Repeatable"},
			&cli.BoolFlag{Name: "with-credentials", Usage: "add the headers that --header gives to what goes to the agent; without it the clients' own are all there are"},
		}, behindCommand()...)}, help{
		intro: `An HTTP reverse proxy in front of the agent that --agent names. It changes the
agent's card, so that its URLs lead to the proxy, and nothing else: requests and
answers pass as they are, streams event by event. With --trace all of it is
recorded. Who can reach the proxy can use the agent: it listens on this machine
only, unless told otherwise, and refuses what web pages from elsewhere send.

Its URL is written to stdout, as one line; Ctrl-C ends it. What clients will not
find, an interface at another origin or a signature of the card, is said on
stderr.`,
		usage: []string{"a2astdio --agent URL proxy --listen ADDR [--trace FILE] [--fault F]..."},
		examples: []example{
			{"a2astdio --agent http://localhost:41242 proxy --listen :8080 --trace t.jsonl", "record what any client says to that agent"},
			{"a2astdio trace serve t.jsonl", "and look on, in a browser"},
			{"a2astdio --agent demo proxy --listen :8080 --fault cut-after=2000", "how does a client take a connection that breaks off?"},
		},
		after: exitAfter,
	})
}

func (p *program) proxy(c *cli.Context) error {
	if err := p.noArguments(c); err != nil {
		return err
	}
	faults, err := fault.Parse(listOf(c, "fault"))
	if err != nil {
		return usagef("--fault: %v", err)
	}
	l, err := p.link(c)
	if err != nil {
		return err
	}
	defer l.close()
	var mu sync.Mutex
	opts := &proxy.Options{Agent: stringOf(c, "agent"), Trust: l.http.TrustOrigins, Faults: faults, Note: func(text string) {
		mu.Lock()
		defer mu.Unlock()
		p.say("%s", text)
	}}
	if c.Bool("with-credentials") {
		opts.Header = l.http.Header
	}
	if err := proxyTarget(c, l, opts); err != nil {
		return err
	}
	front, err := proxy.New(opts)
	if err != nil {
		return usagef("%v", err)
	}
	err = local.Serve(c.Context, c.String("listen"), func(url string) http.Handler {
		front.At(url)
		return front
	}, func(url string) { fmt.Fprintln(p.stdout, url) })
	if err != nil {
		return fmt.Errorf("proxy: %w", err)
	}
	return nil
}

func proxyTarget(c *cli.Context, l *link, opts *proxy.Options) error {
	opts.Transport = l.http.RoundTripper
	switch {
	case opts.Agent == demoAgent:
		opts.Agent = demo.PipeURL
	case l.http.Resolve != nil:
		url, err := l.http.Resolve(c.Context)
		if err != nil {
			return &notReached{err}
		}
		opts.Agent = url
	case !strings.Contains(opts.Agent, "://"):
		card, err := os.ReadFile(opts.Agent)
		if err != nil {
			return &notReached{err}
		}
		opts.Card = card
	}
	if opts.Transport == nil {
		t, ok := http.DefaultTransport.(*http.Transport)
		if !ok {
			return errors.New("proxy: the program's HTTP transport is not ours")
		}
		t = t.Clone()
		// One connection a client: closing one may cancel an agent's work.
		t.DisableCompression, t.MaxIdleConns, t.MaxIdleConnsPerHost, t.IdleConnTimeout = true, 0, 1024, 0
		l.closers = append(l.closers, func() error { t.CloseIdleConnections(); return nil })
		opts.Transport = t
	}
	if l.http.Wrap != nil {
		opts.Transport = l.http.Wrap(opts.Transport)
	}
	return nil
}
