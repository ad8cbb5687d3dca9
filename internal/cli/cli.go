// Package cli is the command line. It knows the commands, which are in packages by group:
// send, task, card, auth, trace (with proxy and tap), setup (with agents, config and
// sessions), doctor and serve (with the companion). Below them are talk (a turn, shown and
// answered in a shell), reach (the way to an agent, by options and files) and frame (what a
// command is made of).
//
// stdout carries the protocol or a result and nothing else; whatever is wrong is
// said on stderr, which is silent otherwise. A misuse ends with status 2 and
// leaves stdout empty; an editor is answered it in its protocol, too. [Main] is a
// function of its arguments, so that all of it can be tested.
//
// [UntilSignal] starts a goroutine that begins to listen to signals, and ends then.
package cli

import (
	"cmp"
	"compress/gzip"
	"context"
	_ "embed"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/agentproc"
	"github.com/a2astdio/a2astdio/internal/cli/auth"
	"github.com/a2astdio/a2astdio/internal/cli/card"
	"github.com/a2astdio/a2astdio/internal/cli/doctor"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/cli/reach"
	"github.com/a2astdio/a2astdio/internal/cli/send"
	"github.com/a2astdio/a2astdio/internal/cli/serve"
	"github.com/a2astdio/a2astdio/internal/cli/setup"
	"github.com/a2astdio/a2astdio/internal/cli/task"
	"github.com/a2astdio/a2astdio/internal/cli/trace"
	"github.com/a2astdio/a2astdio/internal/demo"
)

// Main runs a2astdio and returns its exit status. It ends soon after ctx does.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, version string) int {
	if len(args) > 1 && args[1] == agentproc.SuperviseWord {
		frame.AwaitSignals(ctx) // none of them ends the supervisor
		return agentproc.Supervise(args[2:], stdin, stderr)
	}
	if len(args) > 1 && args[1] == frame.CompleteWord {
		frame.AwaitSignals(ctx)
		return frame.Complete(newProgram(args, stdin, stdout, stderr), args[2:], stdout)
	}
	p := newProgram(args, stdin, stdout, stderr)
	p.Version = cmp.Or(version, p.Version)
	err := p.RunCommand(ctx, p.App())
	if err != nil && !p.Serving && ctx.Err() == nil && !frame.IsTerminal(stdin) && p.NamesNoCommand(reach.DemoAgent) {
		err = serve.Fault(ctx, p, err)
	}
	return p.Exit(ctx, err)
}

func newProgram(args []string, stdin io.Reader, stdout, stderr io.Writer) *frame.Program {
	return &frame.Program{Args: args, Stdin: stdin, Stdout: stdout, Stderr: stderr, Version: frame.BuildVersion(), Commands: commands, Serve: serve.Serve,
		Terminal: (&frame.Keyboard{Open: frame.OpenTerminal, Notify: frame.NotifyResumed}).Terminal}
}

// commands are all of a2astdio's, in the order of its help.
var commands = []frame.Command{
	{Name: "send", Make: send.Command},
	{Name: "auth", Make: auth.Command},
	{Name: "card", Make: card.Command},
	{Name: "task", Make: task.Command},
	{Name: "call", Make: callCommand},
	{Name: "doctor", Make: doctor.Command},
	{Name: "setup", Make: setup.Command},
	{Name: "agents", Make: setup.AgentsCommand},
	{Name: "config", Make: setup.ConfigCommand},
	{Name: "sessions", Make: setup.SessionsCommand},
	{Name: "demo", Make: demoCommand},
	{Name: reach.MCPCommand, Make: serve.MCPCommand},
	{Name: "companion", Make: serve.CompanionCommand},
	{Name: "trace", Make: trace.Command},
	{Name: "proxy", Make: trace.ProxyCommand},
	{Name: "tap", Make: trace.TapCommand},
	{Name: "completion", Make: (*frame.Program).CompletionCommand},
	{Name: "version", Make: versionCommand},
}

// oneWish is the time in which further signals belong to the first. timeout(1) signals
// its command, and then the group that the command is in; package runners hand on what
// the terminal has sent to all.
const oneWish = 300 * time.Millisecond

// UntilSignal returns a context that ends when the process is asked to end. A signal
// that comes later has its default effect, which ends the process at once.
//
// It does not wait until these are listened to: for each the runtime goes to another thread
// and back. [frame.AwaitSignals] waits, before anything is said.
func UntilSignal() context.Context {
	ctx, end := context.WithCancelCause(context.Background())
	var listening sync.WaitGroup
	listening.Go(func() { // ends when all are listened to
		// With this, a reader that has ended causes a write error; otherwise the program would
		// end before it can tell the agent. Nobody reads the channel: asking for the signal is
		// enough (and, unlike Ignore, children do not inherit it).
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
		asked, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
		context.AfterFunc(asked, func() {
			end(context.Cause(asked))
			time.AfterFunc(oneWish, stop)
		})
	})
	return frame.WithSignals(ctx, listening.Wait)
}

// demoSecretVariable holds the demo's token or key. Without it the demo makes one up
// and prints it.
const demoSecretVariable = "A2ASTDIO_DEMO_SECRET"

func demoCommand(p *frame.Program) *cli.Command {
	return p.NewCommand("demo", runDemo,
		frame.Option{Flag: "listen", Takes: "ADDR", Help: "where to listen, HOST:PORT; without HOST on this machine only, with port 0 on a free one"},
		frame.Option{Flag: "auth", Takes: "bearer", Help: "what a caller has to show. Without it nothing"})
}

func runDemo(p *frame.Program, c *cli.Context) error {
	if c.String("listen") == "" {
		return frame.Usagef("where? Say --listen :4000, or --listen :0 for any free port")
	}
	agent := demo.New(&demo.Options{Auth: c.String("auth"), Secret: os.Getenv(demoSecretVariable)})
	defer agent.Close()
	return trace.Serve(p, c, "demo", func(string) http.Handler {
		if secret := agent.Secret(); secret != "" && os.Getenv(demoSecretVariable) == "" {
			p.Tell("it takes callers with A2ASTDIO_TOKEN=%s\n", secret)
		}
		return agent
	})
}

func versionCommand(p *frame.Program) *cli.Command {
	return p.NewCommand("version", showVersion,
		frame.Option{Flag: "licenses", Kind: frame.Switch, Help: "show the licence of a2astdio, and for each module that is linked into it where its source is, and its licence"})
}

func showVersion(p *frame.Program, c *cli.Context) error {
	if c.Bool("licenses") {
		return licenses(p)
	}
	commit := "not recorded in this build"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				commit = s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				commit += ", with changes"
			}
		}
	}
	_, err := fmt.Fprintf(p.Stdout, "a2astdio %s\ncommit   %s\ngo       %s %s/%s\n", p.Version, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// The licences of linked modules want these notices: copyright and text with each copy,
// and for MPL-2.0 the place of the source. go generate writes them, and notices.txt for
// people. Packed they take a sixth of the space.
//
//go:embed notices.txt.gz
var notices string

func licenses(p *frame.Program) error {
	packed, _ := gzip.NewReader(strings.NewReader(notices)) // they are part of the program
	_, err := io.Copy(p.Stdout, packed)
	return err
}

// The help of a2astdio itself and the notices are generated from the commands and the
// linked modules, and committed. A test fails where they are stale.

//go:generate go test . -count=1 -run ^TestGenerated -update
