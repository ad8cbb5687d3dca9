package trace

import (
	"crypto/tls"
	"net/http"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/cli/reach"
	"github.com/a2astdio/a2astdio/internal/demo"
	"github.com/a2astdio/a2astdio/internal/trace/fault"
	"github.com/a2astdio/a2astdio/internal/trace/proxy"
)

func ProxyCommand(p *frame.Program) *cli.Command {
	return p.AgentCommand("proxy", reach.Opened(runProxy),
		listenFlag(),
		frame.Option{Flag: "fault", Kind: frame.List, Takes: "FAULT", Help: "what is to go wrong: " + fault.Help + ". Repeatable"},
		frame.Option{Flag: "with-credentials", Kind: frame.Switch, Help: "add the headers that --header gives to what goes to the agent; without it the clients' own are all there are"})
}

func runProxy(p *frame.Program, c *cli.Context, l *reach.Link) error {
	faults, err := fault.Parse(frame.ListOf(c, "fault"))
	if err != nil {
		return frame.Usagef("--fault: %v", err)
	}
	if frame.By(c, "trust-origin") == frame.ByOption {
		return frame.Usagef("--trust-origin: a proxy leads to one origin, that of --agent: for another interface run another proxy")
	}
	opts := &proxy.Options{Agent: c.String("agent"), Faults: faults, Note: func(text string) { p.Say("%s", text) }}
	if c.Bool("with-credentials") {
		opts.Header = l.HTTP.Header
	}
	if err := proxyTarget(c, l, opts); err != nil {
		return err
	}
	front, err := proxy.New(opts)
	if err != nil {
		return frame.Usagef("%v", err)
	}
	return Serve(p, c, "proxy", func(url string) http.Handler {
		front.At(url)
		return front
	})
}

// proxyTarget sets which agent the proxy is in front of, and the way to it.
func proxyTarget(c *cli.Context, l *reach.Link, opts *proxy.Options) error {
	opts.Transport = l.HTTP.RoundTripper
	switch {
	case opts.Agent == reach.DemoAgent:
		opts.Agent = demo.URL
	case l.HTTP.Resolve != nil:
		url, err := l.HTTP.Resolve(c.Context)
		if err != nil {
			return frame.Mark(frame.ErrNotReached, err)
		}
		opts.Agent = url
	case !strings.Contains(opts.Agent, "://"):
		card, err := os.ReadFile(opts.Agent)
		if err != nil {
			return frame.Mark(frame.ErrNotReached, err)
		}
		opts.Card = card
	}
	if opts.Transport == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		// One connection a client: closing one may cancel an agent's work.
		t.DisableCompression, t.MaxIdleConns, t.MaxIdleConnsPerHost, t.IdleConnTimeout = true, 0, 1024, 0
		t.TLSClientConfig = proxyTLS(l.HTTP.TLS, c.Bool("with-credentials"))
		l.Closers = append(l.Closers, func() error { t.CloseIdleConnections(); return nil })
		opts.Transport = t
	}
	if l.HTTP.Wrap != nil {
		opts.Transport = l.HTTP.Wrap(opts.Transport)
	}
	return nil
}

// proxyTLS trusts whom the options trust. The user's certificate is shown with the user's other
// credentials alone, and these to nobody who is not verified.
func proxyTLS(given *tls.Config, withCredentials bool) *tls.Config {
	if given == nil {
		return nil
	}
	config := given.Clone()
	if withCredentials {
		config.InsecureSkipVerify = false
	} else {
		config.GetClientCertificate = nil
	}
	return config
}
