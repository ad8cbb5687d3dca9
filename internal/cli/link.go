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
	"github.com/a2astdio/a2astdio/internal/demo"
	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport"
)

// demoAgent is the word for the agent that is built in.
const demoAgent = "demo"

// A link is the way to an agent, as the options describe it: what every command
// that talks to one begins with. Nothing is sent until it is used.
type link struct {
	client  *transport.Client
	options bridge.Options
	closers []func() error
	// name is what the store knows the agent by, way the option that led to it.
	name, way string
	// http is how the agent is reached.
	http *transport.ClientOptions
	// writing is how to write to it, once it is reached.
	writing mapping.Writing
}

// close ends what the link holds, the last first.
func (l *link) close() {
	for _, f := range slices.Backward(l.closers) {
		// What fails here is the end of a file or of a connection: the work is
		// done, and there is nobody to do anything about it.
		_ = f()
	}
	l.closers = nil
}

// reach is a link to an agent that is there: its card has been read, and how to
// write to it decided. The caller closes both of what it returns.
func (p *program) reach(c *cli.Context) (l *link, agent *bridge.Agent, err error) {
	if l, err = p.link(c); err != nil {
		return nil, nil, err
	}
	if _, err = l.client.Card(c.Context); err != nil {
		l.close()
		return nil, nil, &notReached{err}
	}
	agent = bridge.NewAgent(&l.options)
	if _, l.writing, err = agent.Ready(c.Context); err != nil {
		agent.Close()
		l.close()
		return nil, nil, err
	}
	return l, agent, nil
}

// link reads the options. The caller closes what it returns. Each of adjust may
// change how the agent is reached.
func (p *program) link(c *cli.Context, adjust ...func(*transport.ClientOptions)) (_ *link, err error) {
	l := &link{}
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	agent, command, err := whichAgent(c)
	switch {
	case err != nil:
		return nil, err
	case agent == "" && command == "":
		return nil, usagef("which agent? Name one with --agent URL or A2ASTDIO_AGENT, or try it with --agent demo")
	}
	client := &transport.ClientOptions{TrustOrigins: fields(listOf(c, "trust-origin")), UserAgent: "a2astdio/" + p.version}
	if client.Header, err = headers(listOf(c, "header")); err != nil {
		return nil, err
	}
	if client.Version, err = oneOf(c, "a2a-version", "auto", "1.0", "0.3"); err != nil {
		return nil, err
	}
	if client.Timeout = where(c, "timeout").Duration("timeout"); client.Timeout <= 0 {
		return nil, usagef("--timeout does not take %v: it takes a time like 30s or 2m", client.Timeout)
	}
	if err := l.bridgeOptions(c); err != nil {
		return nil, err
	}
	l.options.Version = p.version

	secrets := &trace.Options{Header: client.Header, Secrets: urlSecrets(agent), Version: p.version}
	if l.options.Log, err = p.openLog(c, l, secrets); err != nil {
		return nil, err
	}
	client.Log = l.options.Log
	if err := p.openTrace(c, l, client, secrets); err != nil {
		return nil, err
	}
	l.name, l.way = agentName(agent), "--agent "+agent
	switch {
	case agent == demoAgent:
		agent = l.startDemo(client)
	case command != "":
		if err := l.startAgentCommand(c, command, client); err != nil {
			return nil, err
		}
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
	return l, nil
}

// bridgeOptions reads what is for the bridge.
func (l *link) bridgeOptions(c *cli.Context) (err error) {
	o := &l.options
	if o.Dialect, err = oneOf(c, "dialect", mapping.Dialects()...); err != nil {
		return err
	}
	if o.Mode, err = oneOf(c, "mode", bridge.Modes()...); err != nil {
		return err
	}
	if o.Protocol, err = oneOf(c, "protocol", "auto", bridge.ProtocolACP, bridge.ProtocolA2A); err != nil {
		return err
	}
	if o.OnEOF, err = oneOf(c, "on-eof", "auto", bridge.OnEOFCancel, bridge.OnEOFFinish); err != nil {
		return err
	}
	if o.IdleTimeout = where(c, "idle-timeout").Duration("idle-timeout"); o.IdleTimeout < 0 {
		return usagef("--idle-timeout does not take %v: it takes a time like 5m", o.IdleTimeout)
	}
	o.Extensions = fields(listOf(c, "extension"))
	o.ForwardMCP = c.Bool("forward-mcp")
	if o.AgentSettings, err = jsonObject("agent-settings", stringOf(c, "agent-settings")); err != nil {
		return err
	}
	o.Workspace, err = directory(stringOf(c, "workspace"))
	return err
}

// directory checks a directory, and makes its path absolute: the agent may be
// working elsewhere.
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

// openLog makes the log: none, unless it is asked for.
func (p *program) openLog(c *cli.Context, l *link, secrets *trace.Options) (*slog.Logger, error) {
	var level slog.Level
	name, err := oneOf(c, "log-level", "debug", "info", "warn", "error")
	if err != nil {
		return nil, err
	}
	if err := level.UnmarshalText([]byte(name)); err != nil {
		return nil, usagef("--log-level: %v", err)
	}
	var out io.Writer
	switch file := stringOf(c, "log"); {
	case file == "-", file == "" && isSet(c, "log-level"):
		out = p.stderr
	case file == "":
		return slog.New(slog.DiscardHandler), nil
	default:
		// Appended, as logs are; private, since errors quote what was said.
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return nil, usagef("--log: %v", err)
		}
		l.closers = append(l.closers, f.Close)
		out = f
	}
	return slog.New(slog.NewTextHandler(trace.Masked(out, secrets), &slog.HandlerOptions{Level: level})), nil
}

// openTrace puts a trace on both wires, if one is asked for.
func (p *program) openTrace(c *cli.Context, l *link, client *transport.ClientOptions, opts *trace.Options) error {
	var w *trace.Writer
	switch file := stringOf(c, "trace"); file {
	case "":
		return nil
	case "-":
		w = trace.New(p.stderr, opts)
	default:
		var err error
		if w, err = trace.Create(file, opts); err != nil {
			return usagef("--%v", err)
		}
	}
	l.closers = append(l.closers, w.Close)
	l.options.Tap, client.Wrap = w.Tap, w.Wrap
	return nil
}

// startDemo starts the agent that is built in, behind a network in memory: there
// is no port that anybody else could reach. It returns its URL.
func (l *link) startDemo(client *transport.ClientOptions) string {
	agent := demo.New(&demo.Options{Version: "both"})
	pipe := agent.Pipe()
	// Every task may hold a stream, so that the default of two idle connections
	// would close others; the transport's own settings are for a real network.
	http := &http.Transport{DialContext: pipe.DialContext, MaxIdleConnsPerHost: maxDemoConns, DisableCompression: true}
	client.RoundTripper = http
	l.closers = append(l.closers, agent.Close, pipe.Close, func() error {
		http.CloseIdleConnections()
		return nil
	})
	return demo.PipeURL
}

// maxDemoConns is as many as package transport keeps for a real agent.
const maxDemoConns = 1024
