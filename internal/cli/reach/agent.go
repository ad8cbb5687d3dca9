package reach

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/agentproc"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/transport"
)

const (
	// agentGrace is the time between SIGTERM and SIGKILL at the end. The agent's work was
	// cancelled before, which took part of the second that the end may take.
	agentGrace = 300 * time.Millisecond
	// maxAgentLine cuts what an agent prints without an end of line.
	maxAgentLine = 8 << 10
)

// What the user can do when the agent has ended. Its prompt is not sent again: the
// agent held the conversation in its memory, and the prompt may have ended it.
const (
	editorAdvice = "your next prompt starts it again; --log FILE keeps all that it prints"
	shellAdvice  = "try the command by itself"
)

// keepAgent lets the client start the agent at the first request, and again when it has
// ended. The answer to initialize does not wait for it.
func keepAgent(p *frame.Program, c *cli.Context, l *Link, conf *Configuration, client *transport.ClientOptions, workspaces *agentproc.Workspaces) error {
	command := conf.Command
	opts := &agentproc.Options{Command: command, Workspaces: workspaces, Stderr: &agentLog{log: l.Options.Log},
		Advice: shellAdvice, Patience: client.Timeout}
	if conf.Name != "" { // the configuration has the command
		opts.Base = conf.base()
	}
	if err := whereAgentRuns(p, c, l, opts); err != nil {
		return err
	}
	switch {
	case isServe(c):
		opts.Advice = editorAdvice
	case frame.IsTerminal(p.Stderr):
		opts.Waiting = func(waited time.Duration) { startingLine(p, waited) }
	}
	if (l.Options.ForwardMCP || l.Options.EditorTools != nil) && isServe(c) && readsGeminiHome(command, l.Options.Dialect) {
		home := &geminiHome{}
		opts.Prepare, opts.Remove, l.Options.MCPFile = home.prepare, home.path, home
		l.Closers = append(l.Closers, home.remove)
	}
	keeper, err := agentproc.NewKeeper(opts)
	if err != nil {
		return frame.Usagef("%v", err)
	}
	l.Closers = append(l.Closers, func() error { return keeper.Stop(agentGrace) })
	client.Resolve, client.Process = keeper.URL, keeper
	l.Options.Enter = func(dir string) {
		if err := keeper.Enter(dir, agentGrace); err != nil {
			l.Options.Log.Warn("the agent is to be started again", "err", err)
		}
	}
	// The URL changes with every start, and the command may hold a credential.
	l.Name = fmt.Sprintf("command:%x", sha256.Sum256([]byte(command)))[:len("command:")+16]
	if l.Way == "--agent " {
		l.Way = "--agent-command ..."
	}
	return nil
}

// isServe reports whether an editor is served, as opposed to a command.
func isServe(c *cli.Context) bool {
	return c.Command.Name == "" || c.Command.Name == c.App.Name || c.Command.Name == MCPCommand
}

// MCPCommand is the name of the command that serves MCP.
const MCPCommand = "mcp"

// startingLine tells a person at a terminal what the program waits for. The line is
// wiped afterwards.
func startingLine(p *frame.Program, waited time.Duration) {
	const line = "starting the agent… %d s"
	if waited == 0 {
		fmt.Fprintf(p.Stderr, "\r%*s\r", len(line)+4, "")
		return
	}
	fmt.Fprintf(p.Stderr, "\r"+line, int(waited.Seconds()))
}

// An agentLog writes to the log what an agent prints, line by line.
type agentLog struct {
	log  *slog.Logger
	mu   sync.Mutex
	line []byte
}

var _ io.Writer = (*agentLog)(nil)

func (a *agentLog) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for rest := p; len(rest) > 0; {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		a.line = append(a.line, line[:min(len(line), maxAgentLine-len(a.line))]...)
		rest = after
		if !whole {
			break
		}
		if text := bytes.TrimSpace(a.line); len(text) > 0 {
			a.log.Info("the agent prints", "line", string(text))
		}
		a.line = a.line[:0]
	}
	return len(p), nil
}

// SuperviseWord begins the command line of the process that holds an agent for us. The
// app does not list it as a command: people have no use for it, and options and
// variables before a command must not reach it.
const SuperviseWord = "supervise"

// Supervise runs the agent in args, as [agentproc.Supervise] defines them, until stdin
// ends, and returns its exit status. It writes nothing on stdout.
func Supervise(args []string, stdin io.Reader, stderr io.Writer) int {
	out, ok := stderr.(*os.File)
	if !ok || len(args) == 0 {
		fmt.Fprintln(stderr, "a2astdio: supervise is how a2astdio holds the agent of --agent-command: use that")
		return frame.ExitUsage
	}
	return agentproc.Supervise(args, stdin, out)
}
