// Package reach is the way to an agent, as options, variables and files say it: address,
// process, credentials, signatures, log, trace and webhook.
//
// It starts no goroutine; a consent and Gemini's home have a mutex, since sessions that open at once share them.
package reach

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/config"
	"github.com/a2astdio/a2astdio/internal/credentials"
	"github.com/a2astdio/a2astdio/internal/demo"
	"github.com/a2astdio/a2astdio/internal/mcphttp"
	"github.com/a2astdio/a2astdio/internal/pipenet"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/mapping/dialect"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// DemoAgent names the built-in agent.
const DemoAgent = "demo"

// A Link is the way to an agent, as the options describe it. Each command that talks to
// an agent begins with one. Making it sends nothing.
type Link struct {
	C       *cli.Context // the options
	Client  *transport.Client
	Options bridge.Options
	Closers []func() error
	// Name is the agent's name in the store; Way is the option that led to it.
	Name, Way string
	// Credentials identify the user; SignInAs are the options of a sign-in.
	Credentials *credentials.Source
	SignInAs    *credentials.Options
	// Ends: the agent ends with this process.
	Ends bool
	// FromFiles: only the configuration has named the agent.
	FromFiles bool
	// Address and HTTP are how to reach the agent: see [transport.NewClient].
	Address string
	HTTP    *transport.ClientOptions
	// Signatures is what the user wants of the card's signatures, and what was found.
	Signatures Signatures
	// Consent lets a started agent run in the workspace; nil: it does not run there.
	Consent *consent
	// Card is the agent's, and Writing how to write to it, behind [Reached].
	Card    *a2a.Card
	Writing dialect.Writing
}

// Close releases what the link holds, in reverse order.
func (l *Link) Close() {
	for _, f := range slices.Backward(l.Closers) {
		// A file or a connection failed to close. The work is done, and nobody can do
		// anything about it.
		_ = f()
	}
	l.Closers = nil
}

// An Action is what a command does with the link to its agent.
type Action func(p *frame.Program, c *cli.Context, l *Link) error

// Opened makes an action of one that needs the link: see [Open].
func Opened(do Action) frame.Action {
	return func(p *frame.Program, c *cli.Context) error {
		l, err := Open(p, c)
		if err != nil {
			return err
		}
		defer l.Close()
		return do(p, c, l)
	}
}

// Reached is Opened for a link whose card was read, and whose writing is chosen.
func Reached(do Action) frame.Action {
	return Opened(func(p *frame.Program, c *cli.Context, l *Link) (err error) {
		if l.Card, err = l.Client.Card(c.Context); err != nil {
			return frame.Mark(frame.ErrNotReached, err)
		}
		if l.Writing, err = dialect.Settings(l.Card, l.Options.Dialect, l.Options.Extensions); err != nil {
			return err
		}
		l.Client.Activate(l.Writing.Extensions)
		return do(p, c, l)
	})
}

// Open reads the options. The caller closes the result. Each adjust may change how the
// agent is reached.
func Open(p *frame.Program, c *cli.Context, adjust ...func(*transport.ClientOptions)) (_ *Link, err error) {
	l := &Link{C: c}
	defer func() {
		if err != nil {
			l.Close()
		}
	}()
	conf, err := Configure(p, c)
	if err != nil {
		return nil, err
	}
	agent, card := conf.Agent, c.String("card")
	if agent == "" && conf.Command == "" {
		if card == "" {
			return nil, ErrNoAgent
		}
		agent, card = card, "" // it names the agent, too
	}
	client, err := ClientOptions(p, c, conf)
	if err != nil {
		return nil, err
	}
	client.Card = card
	if err := l.checkSignatures(c, client); err != nil {
		return nil, err
	}
	if err := cmp.Or(l.BridgeOptions(c), l.offerTools(c, conf)); err != nil {
		return nil, err
	}
	l.Options.Version = p.Version

	later := new(trace.Secrets)
	who, err := CredentialOptions(c, conf, client.Header, client.TLS, later)
	if err != nil {
		return nil, err
	}
	secrets := &trace.Options{Header: client.Header, Secrets: append(urlSecrets(agent), urlSecrets(card)...), Later: later, URLs: []string{agent, card}, Version: p.Version}
	if err := openRecords(p, c, l, client, secrets); err != nil {
		return nil, err
	}
	isDemo := agent == DemoAgent
	l.Ends = isDemo || conf.Command != ""
	l.Name, l.Way, l.FromFiles = safe.Bare(agent), "--agent "+cmp.Or(conf.Name, agent), conf.AgentGiven == ""
	switch {
	case isDemo:
		agent = l.startDemo(client)
	case conf.Command != "":
		if err := keepAgent(p, c, l, conf, client, who.Command.Workspaces); err != nil {
			return nil, err
		}
	}
	if !isDemo { // which knows nobody
		l.useCredentials(client, who)
	}
	for _, f := range adjust {
		f(client)
	}
	l.Address, l.HTTP = agent, client
	if l.Client, err = transport.NewClient(agent, client); err != nil {
		return nil, frame.Usagef("%v", err)
	}
	l.Closers = append(l.Closers, l.Client.Close)
	l.Options.Client = l.Client
	if err := l.openWebhook(c, l.Client.Local() || conf.Command != ""); err != nil {
		return nil, err
	}
	return l, nil
}

// openRecords opens the log and the trace, neither of which gets the secrets.
func openRecords(p *frame.Program, c *cli.Context, l *Link, client *transport.ClientOptions, secrets *trace.Options) (err error) {
	l.Options.Mask = trace.MaskOwn(secrets)
	p.Mask = l.Options.Mask
	if l.Options.Log, err = OpenLog(p, c, l, secrets); err != nil {
		return err
	}
	client.Log = l.Options.Log
	return OpenTrace(p, c, l, client, secrets)
}

// ClientOptions reads how to reach the agent.
func ClientOptions(p *frame.Program, c *cli.Context, conf *Configuration) (client *transport.ClientOptions, err error) {
	client = &transport.ClientOptions{TrustOrigins: Fields(frame.ListOf(c, "trust-origin")), UserAgent: "a2astdio/" + p.Version}
	if client.Header, err = Headers(frame.ListOf(c, "header")); err != nil {
		return nil, err
	}
	if err := conf.addHeaders(client.Header); err != nil {
		return nil, err
	}
	client.Version, client.Binding, client.Timeout = c.String("a2a-version"), c.String("binding"), c.Duration("timeout")
	if client.MaxMessage = c.Int("max-message"); client.MaxMessage < 0 || client.MaxMessage > 1<<20 {
		return nil, frame.Usagef("--max-message does not take %d: it takes a number of MiB", client.MaxMessage)
	}
	if client.AcceptedOutputModes, err = mediaTypes(frame.ListOf(c, "accept")); err != nil {
		return nil, err
	}
	client.TLS, err = TLSConfig(p, c)
	return client, err
}

func (l *Link) BridgeOptions(c *cli.Context) (err error) {
	o := &l.Options
	o.Dialect, o.Mode, o.Protocol, o.OnEOF = c.String("dialect"), c.String("mode"), c.String("protocol"), c.String("on-eof")
	o.ACPVersion = c.String("acp-version")
	o.AnswerWithin = c.Duration("mcp-wait")
	o.IdleTimeout, o.MaxEventsPerSecond = c.Duration("idle-timeout"), c.Int("max-events-per-second")
	if o.Extensions, err = extensionURIs(Fields(frame.ListOf(c, "extension"))); err != nil {
		return err
	}
	o.ForwardMCP, o.NoHistory = c.Bool("forward-mcp"), c.Bool("no-history")
	if o.AgentSettings, err = JSONObject("agent-settings", c.String("agent-settings")); err != nil {
		return err
	}
	o.Workspace, err = Directory(c.String("workspace"))
	return err
}

// offerTools applies --editor-tools: the agent has to be on this machine.
func (l *Link) offerTools(c *cli.Context, conf *Configuration) error {
	which := c.String("editor-tools")
	u, err := url.Parse(conf.Agent)
	switch {
	case !isServe(c), which == "off":
		return nil
	case conf.Command != "":
	case which == "started":
		return frame.Usagef("--editor-tools started is for an agent that --agent-command starts: for one with a URL on this machine, which is no tunnel's end, say loopback")
	case err != nil || !safe.ThisMachine(u.Hostname()):
		return frame.Usagef("--editor-tools loopback is for an agent with a URL on this machine: yours is elsewhere")
	}
	l.Options.EditorTools = mcphttp.Host
	return nil
}

// Directory checks a directory, and makes its path absolute: the agent may run in
// another one.
func Directory(dir string) (string, error) {
	abs, err := filepath.Abs(cmp.Or(dir, "."))
	if err != nil {
		return "", frame.Usagef("--workspace: %v", err)
	}
	if info, err := os.Stat(abs); dir != "" && (err != nil || !info.IsDir()) {
		return "", frame.Usagef("--workspace %s is no directory", dir)
	}
	return abs, nil
}

// OpenLog opens the log that the user asks for; none by default.
func OpenLog(p *frame.Program, c *cli.Context, l *Link, secrets *trace.Options) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.String("log-level"))); err != nil {
		return nil, frame.Usagef("--log-level: %v", err)
	}
	var out io.Writer
	switch file := c.String("log"); {
	case file == "-", file == "" && frame.IsSet(c, "log-level"):
		frame.AwaitSignals(c.Context)
		out = p.Stderr
	case file == "":
		return slog.New(slog.DiscardHandler), nil
	default:
		// Logs are appended to. Only the user may read it: errors quote what was said.
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return nil, frame.Usagef("--log: %v", err)
		}
		l.Closers = append(l.Closers, f.Close)
		out = f
	}
	return slog.New(slog.NewTextHandler(trace.Masked(out, secrets), &slog.HandlerOptions{Level: level})), nil
}

// startDemo starts the built-in agent on a network in memory, which has no port that
// others could reach, and returns its URL. Its tasks end with this process.
func (l *Link) startDemo(client *transport.ClientOptions) string {
	agent := demo.New(&demo.Options{})
	network, end := pipenet.Serve(agent)
	// Each task may hold a stream, and the default of two idle connections would close
	// others. The client's own transport is for real networks.
	http := &http.Transport{DialContext: network.Dial, MaxIdleConnsPerHost: maxDemoConns, DisableCompression: true}
	client.RoundTripper = http
	l.Closers = append(l.Closers, agent.Close, end, func() error {
		http.CloseIdleConnections()
		return nil
	})
	return demo.URL
}

// maxDemoConns is what package transport uses for real agents.
const maxDemoConns = 1024

// ShownAddress returns an agent's URL, a file's name, or what was meant to be one, as it is
// shown: without what may be a user, a password or a query.
func ShownAddress(address string) string {
	address = safe.Bare(address)
	if user, host, ok := strings.Cut(address, "@"); ok && strings.Contains(user, ":") {
		address = "***@" + host
	}
	if strings.Contains(address, "://") || strings.HasPrefix(address, "***@") {
		address, _, _ = strings.Cut(address, "?")
	}
	return address
}

// Absolute makes a path absolute for a file; "-", a URL and nothing stay.
func Absolute(path string) string {
	if path == "" || path == "-" || strings.Contains(path, "://") {
		return path
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// Values returns those of an option, for a process that starts in another directory.
func Values(c *cli.Context, k *config.Key) []string {
	if k.Kind != config.KindList {
		text := c.String(k.Flag)
		if k.Kind == config.KindPath || k.Kind == config.KindLocation || k.Flag == "workspace" {
			text = Absolute(text)
		}
		return []string{text}
	}
	values := frame.ListOf(c, k.Flag)
	for i, v := range values {
		if k.Flag == "signature-key" {
			values[i] = Absolute(v)
		}
	}
	return values
}

// Self returns the path of this program, which may not be in PATH.
func Self() string {
	path, err := os.Executable()
	if err != nil {
		return "a2astdio"
	}
	return path
}

// Reopen makes the link that a program started now would have from the same command
// line: the files may have changed. set changes options before they are read.
func Reopen(ctx context.Context, p *frame.Program, set func(c *cli.Context) error) (l *Link, err error) {
	app := p.App()
	action := func(c *cli.Context) error {
		if err = set(c); err == nil {
			l, err = Open(p, c)
		}
		return nil
	}
	app.Action = action
	for _, c := range app.Commands {
		c.Action = action
	}
	if err := p.RunCommand(ctx, app); err != nil {
		return nil, err
	}
	return l, err
}

// CanSignIn refuses where nothing can store a sign-in, or the agent has no place to
// sign in.
func (l *Link) CanSignIn() error {
	switch {
	case l.Credentials == nil:
		return frame.Usagef("the demo that is built in knows nobody: a2astdio demo --listen :4000 --auth bearer serves one that does")
	case l.SignInAs.Agent == "":
		return frame.Usagef("a sign-in is kept by the agent's URL: --agent names it")
	case l.SignInAs.Store == nil:
		_, err := credentials.OpenStore("")
		return errors.Join(err, frame.Usagef("there is no place to keep a sign-in"))
	}
	return nil
}

// PublicCard returns the card that the agent shows without credentials, nil if it shows
// none.
func (l *Link) PublicCard(ctx context.Context) (*a2a.Card, error) {
	card, err := l.Client.PublicCard(ctx)
	if err != nil && !a2a.ErrorOf(err).Unauthenticated() {
		return nil, frame.Mark(frame.ErrNotReached, err)
	}
	return card, nil
}
