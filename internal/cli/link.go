package cli

import (
	"cmp"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/credentials"
	"github.com/a2astdio/a2astdio/internal/demo"
	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport"
)

// demoAgent names the built-in agent.
const demoAgent = "demo"

// A link is the way to an agent, as the options describe it. Each command that talks to
// an agent begins with one. Making it sends nothing.
type link struct {
	client  *transport.Client
	options bridge.Options
	closers []func() error
	// name is the agent's name in the store; way is the option that led to it.
	name, way string
	// credentials identify the user; signInAs are the options of a sign-in.
	credentials *credentials.Source
	signInAs    *credentials.Options
	// ends: the agent ends with this process.
	ends bool
	// fromFiles: only the configuration has named the agent.
	fromFiles bool
	// http is how to reach the agent.
	http *transport.ClientOptions
	// signatures is what the user wants of the card's signatures, and what was found.
	signatures signatures
	// consent lets a started agent run in the workspace; nil: it does not run there.
	consent *consent
	// writing is how to write to the agent, once its card is known.
	writing mapping.Writing
}

// close releases what the link holds, in reverse order.
func (l *link) close() {
	for _, f := range slices.Backward(l.closers) {
		// A file or a connection failed to close. The work is done, and nobody can do
		// anything about it.
		_ = f()
	}
	l.closers = nil
}

// reach returns a link whose card was read, and whose writing is chosen. The caller
// closes it.
func (p *program) reach(c *cli.Context) (l *link, err error) {
	if l, err = p.link(c); err != nil {
		return nil, err
	}
	if _, err = l.client.Card(c.Context); err != nil {
		l.close()
		return nil, &notReached{err}
	}
	agent := bridge.NewAgent(&l.options)
	defer agent.Close()
	if _, l.writing, err = agent.Ready(c.Context); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// link reads the options. The caller closes the result. Each adjust may change how the
// agent is reached.
func (p *program) link(c *cli.Context, adjust ...func(*transport.ClientOptions)) (_ *link, err error) {
	l := &link{}
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	conf, err := p.configure(c)
	if err != nil {
		return nil, err
	}
	agent, card := conf.agent, stringOf(c, "card")
	if agent == "" && conf.command == "" {
		if card == "" {
			return nil, errNoAgent
		}
		agent, card = card, "" // it names the agent, too
	}
	client, err := p.clientOptions(c, conf)
	if err != nil {
		return nil, err
	}
	client.Card = card
	if err := l.signed(c, client); err != nil {
		return nil, err
	}
	if err := l.bridgeOptions(c); err != nil {
		return nil, err
	}
	l.options.Version = p.version

	later := new(trace.Secrets)
	who, err := p.credentialOptions(c, conf, client.Header, client.TLS, later)
	if err != nil {
		return nil, err
	}
	secrets := &trace.Options{Header: client.Header, Secrets: append(urlSecrets(agent), urlSecrets(card)...), Later: later, URLs: []string{agent, card}, Version: p.version}
	if err := p.openRecords(c, l, client, secrets); err != nil {
		return nil, err
	}
	l.ends = agent == demoAgent || conf.command != ""
	l.name, l.way, l.fromFiles = agentName(agent), "--agent "+cmp.Or(conf.name, agent), conf.agentGiven == ""
	switch {
	case agent == demoAgent:
		agent = l.startDemo(client)
	case conf.command != "":
		if err := p.keepAgent(c, l, conf, client); err != nil {
			return nil, err
		}
	}
	if l.way != "--agent "+demoAgent {
		l.useCredentials(client, who)
	}
	for _, f := range adjust {
		f(client)
	}
	l.http = client
	if l.client, err = transport.NewClient(agent, client); err != nil {
		return nil, usagef("%v", err)
	}
	l.closers = append(l.closers, l.client.Close)
	l.options.Client = l.client
	if err := l.openWebhook(c, l.client.Local() || conf.command != ""); err != nil {
		return nil, err
	}
	return l, nil
}

// openRecords opens the log and the trace, neither of which gets the secrets.
func (p *program) openRecords(c *cli.Context, l *link, client *transport.ClientOptions, secrets *trace.Options) (err error) {
	l.options.Mask = trace.MaskOwn(secrets)
	p.mask = l.options.Mask
	if l.options.Log, err = p.openLog(c, l, secrets); err != nil {
		return err
	}
	client.Log = l.options.Log
	return p.openTrace(c, l, client, secrets)
}

// clientOptions reads how to reach the agent.
func (p *program) clientOptions(c *cli.Context, conf *configuration) (client *transport.ClientOptions, err error) {
	client = &transport.ClientOptions{TrustOrigins: fields(listOf(c, "trust-origin")), UserAgent: "a2astdio/" + p.version}
	if client.Header, err = headers(listOf(c, "header")); err != nil {
		return nil, err
	}
	if err := conf.addHeaders(client.Header); err != nil {
		return nil, err
	}
	client.Version, client.Binding, client.Timeout = stringOf(c, "a2a-version"), stringOf(c, "binding"), where(c, "timeout").Duration("timeout")
	client.TLS, err = p.tlsConfig(c)
	return client, err
}

// bridgeOptions reads the bridge's options.
func (l *link) bridgeOptions(c *cli.Context) (err error) {
	o := &l.options
	o.Dialect, o.Mode, o.Protocol, o.OnEOF = stringOf(c, "dialect"), stringOf(c, "mode"), stringOf(c, "protocol"), stringOf(c, "on-eof")
	o.IdleTimeout, o.MaxEventsPerSecond = where(c, "idle-timeout").Duration("idle-timeout"), c.Int("max-events-per-second")
	if o.Extensions, err = extensionURIs(fields(listOf(c, "extension"))); err != nil {
		return err
	}
	o.ForwardMCP, o.NoHistory = c.Bool("forward-mcp"), c.Bool("no-history")
	if o.AgentSettings, err = jsonObject("agent-settings", stringOf(c, "agent-settings")); err != nil {
		return err
	}
	o.Workspace, err = directory(stringOf(c, "workspace"))
	return err
}

// directory checks a directory, and makes its path absolute: the agent may run in
// another one.
func directory(dir string) (string, error) {
	abs, err := filepath.Abs(cmp.Or(dir, "."))
	if err != nil {
		return "", usagef("--workspace: %v", err)
	}
	if info, err := os.Stat(abs); dir != "" && (err != nil || !info.IsDir()) {
		return "", usagef("--workspace %s is no directory", dir)
	}
	return abs, nil
}

// openLog opens the log that the user asks for; none by default.
func (p *program) openLog(c *cli.Context, l *link, secrets *trace.Options) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(stringOf(c, "log-level"))); err != nil {
		return nil, usagef("--log-level: %v", err)
	}
	var out io.Writer
	switch file := stringOf(c, "log"); {
	case file == "-", file == "" && isSet(c, "log-level"):
		out = p.stderr
	case file == "":
		return slog.New(slog.DiscardHandler), nil
	default:
		// Logs are appended to. Only the user may read it: errors quote what was said.
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return nil, usagef("--log: %v", err)
		}
		l.closers = append(l.closers, f.Close)
		out = f
	}
	return slog.New(slog.NewTextHandler(trace.Masked(out, secrets), &slog.HandlerOptions{Level: level})), nil
}

// startDemo starts the built-in agent on a network in memory, which has no port that
// others could reach, and returns its URL. Its tasks end with this process.
func (l *link) startDemo(client *transport.ClientOptions) string {
	agent := demo.New(&demo.Options{Version: "both"})
	pipe := agent.Pipe()
	// Each task may hold a stream, and the default of two idle connections would close
	// others. The client's own transport is for real networks.
	http := &http.Transport{DialContext: pipe.DialContext, MaxIdleConnsPerHost: maxDemoConns, DisableCompression: true}
	client.RoundTripper = http
	l.closers = append(l.closers, agent.Close, pipe.Close, func() error {
		http.CloseIdleConnections()
		return nil
	})
	return demo.PipeURL
}

// maxDemoConns is what package transport uses for real agents.
const maxDemoConns = 1024
