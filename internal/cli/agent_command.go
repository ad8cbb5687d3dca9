package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/agentproc"
	"github.com/a2astdio/a2astdio/transport"
)

const (
	// agentGrace is what the agent gets between SIGTERM and SIGKILL at the end.
	// Its work has been cancelled by then, which took some of the second in which
	// all is to be over.
	agentGrace = 300 * time.Millisecond
	// agentPatience is how long an editor's prompt waits for an agent that is
	// starting, before the user is told. npx may be downloading for minutes; the
	// next prompt waits again. In a shell the user sees that nothing comes, and
	// has Ctrl-C.
	agentPatience = time.Minute
	// maxAgentLine cuts what an agent prints without an end of line, for the log.
	maxAgentLine = 8 << 10
)

// What the user can do when the agent has ended. It is not started again: the
// conversation was in its memory, and what ended it once may well do so again.
const (
	editorAdvice = "to start it again restart a2astdio, which your editor calls the agent; --log FILE keeps all that it prints"
	shellAdvice  = "try the command by itself, in the same directory"
)

// whichAgent reads --agent and --agent-command. There can be one of them; but a
// variable is what holds if nothing is said, so an option of either kind wins
// over it.
func whichAgent(c *cli.Context) (agent, command string, err error) {
	agent, command = stringOf(c, "agent"), stringOf(c, "agent-command")
	if agent == "" || command == "" {
		return agent, command, nil
	}
	variable := func(name, value string) bool { return os.Getenv(env(name)[0]) == value }
	switch a, b := variable("agent", agent), variable("agent-command", command); {
	case a && !b:
		return "", command, nil
	case b && !a:
		return agent, "", nil
	}
	return "", "", usagef("--agent and --agent-command cannot both say where the agent is: give one of them, with its variable or without")
}

// startAgentCommand starts the agent, which takes no longer than a process takes
// to start, and has the client wait for it when it is needed.
func (l *link) startAgentCommand(c *cli.Context, command string, client *transport.ClientOptions) error {
	opts := &agentproc.Options{Command: command, Dir: l.options.Workspace, Stderr: &agentLog{log: l.options.Log}, Advice: shellAdvice}
	if c.Command.Name == "" || c.Command.Name == c.App.Name {
		opts.Advice = editorAdvice
	}
	if c.Command.Name != "send" {
		opts.Patience = agentPatience
	}
	// Not with c's context: when a signal ends that, the agent is still to be
	// told that its work is cancelled.
	process, err := agentproc.Start(context.WithoutCancel(c.Context), opts)
	if err != nil {
		return usagef("%v", err)
	}
	l.closers = append(l.closers, func() error { return process.Stop(agentGrace) })
	client.Resolve, client.Process = process.URL, process
	// The URL changes with every start, and the command may hold a credential.
	l.name = fmt.Sprintf("command:%x", sha256.Sum256([]byte(command)))[:len("command:")+16]
	l.way = "--agent-command ..."
	return nil
}

// An agentLog writes what an agent prints to the log, line by line.
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
