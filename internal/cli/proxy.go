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
	return agentCommand("proxy", p.proxy,
		listenFlag(),
		faultFlag(),
		&cli.BoolFlag{Name: "with-credentials", Usage: "add the headers that --header gives to what goes to the agent; without it the clients' own are all there are"})
}

func (p *program) proxy(c *cli.Context) error {
	if _, err := p.arguments(c); err != nil {
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
