package reach

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/agentproc"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
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
	opts := &agentproc.Options{Command: command, Workspaces: workspaces, Advice: shellAdvice, Patience: client.Timeout,
		Print: func(line string) { l.Options.Log.Info("the agent prints", "line", strings.TrimSpace(line)) }}
	if conf.Name != "" { // the configuration has the command
		opts.Base = conf.base()
	}
	if err := whereAgentRuns(p, c, l, opts); err != nil {
		return err
	}
	if isServe(c) {
		opts.Advice = editorAdvice
	}
	if (l.Options.ForwardMCP || l.Options.EditorTools != nil) && isServe(c) && readsGeminiHome(command, l.Options.Dialect) {
		home := &geminiHome{}
		opts.Prepare, l.Options.MCPFile = home.prepare, home
		l.Closers = append(l.Closers, home.remove)
	}
	keeper, err := agentproc.NewKeeper(opts)
	if err != nil {
		return frame.Usagef("%v", err)
	}
	l.Closers = append(l.Closers, keeper.Stop)
	client.Resolve, client.Process = keeper.URL, keeper
	l.Options.Enter = func(dir string) {
		if err := keeper.Enter(dir); err != nil {
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

// workingNeutral is the value of --working-directory without the workspace.
const workingNeutral = "neutral"

// whereAgentRuns chooses the directory in which the agent is started: an empty one of
// ours, or the workspace, once the user has allowed that. npx prefers a repository's own
// node_modules/.bin, and an .npmrc there chooses the registry.
func whereAgentRuns(p *frame.Program, c *cli.Context, l *Link, opts *agentproc.Options) error {
	neutral, err := agentproc.Dir()
	if err != nil {
		return frame.Usagef("--agent-command: %v", err)
	}
	if c.String("working-directory") == workingNeutral {
		opts.Dir = neutral
		return nil
	}
	l.Consent = newConsent(filepath.Join(filepath.Dir(neutral), "workspaces"), opts.Command, l.Options.Workspace)
	opts.Dir = l.Consent.dir // wherever a link leads when the agent is started again
	if opts.Base == "" {
		opts.Base = opts.Dir
	}
	opts.Allow = l.Consent.allowed
	if !isServe(c) {
		opts.Allow = func(ctx context.Context) error { return allowAtTerminal(ctx, p, l.Consent) }
	}
	return nil
}

// maxShownDir bounds a directory's name in a question; systems have shorter ones.
const maxShownDir = 4096

// A consent is the user's decision that a command may run in a workspace. It is kept by
// the workspace's real path and the command, so that neither a link nor another program
// has it.
type consent struct {
	command, dir string
	file         string

	mu      sync.Mutex // held while the user is asked
	refused bool       // once is enough
}

var _ bridge.Login = (*consent)(nil)

func newConsent(store, command, dir string) *consent {
	if path, err := filepath.EvalSymlinks(dir); err == nil {
		dir = path
	}
	return &consent{command: command, dir: dir, file: filepath.Join(store, fmt.Sprintf("%x", sha256.Sum256([]byte(command+"\x00"+dir))))}
}

// about is what the user reads before the question itself.
func (w *consent) about() string {
	return fmt.Sprintf("The agent is started in %s, by: %s. Programs that run there may run what this directory has (scripts, tools, settings), as you.",
		safe.Line(w.dir, maxShownDir), agentproc.Describe(w.command))
}

const trusted = "Do you trust what is in it?"

// A NotAllowed error says that the user has to allow something first. To an editor it is
// as a missing sign-in.
type NotAllowed struct{ text string }

func (e *NotAllowed) Error() string { return e.text }
func (e *NotAllowed) Unwrap() error { return &a2a.Error{HTTPStatus: 401} }

// allowed returns nil if the user has allowed it.
func (w *consent) allowed(context.Context) error {
	_, err := os.Stat(w.file)
	switch {
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("bridge: whether the agent may run in %s cannot be read: %w", w.dir, err)
	}
	return &NotAllowed{fmt.Sprintf("bridge: the agent may not run in %s yet (working-directory): allow it in your editor, or run a2astdio doctor there in a terminal, with the same options", w.dir)}
}

// ask asks the user, unless there is a decision already, and keeps a yes.
func (w *consent) ask(ctx context.Context, confirm func(about string) (bool, error)) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.allowed(ctx); err == nil || w.refused {
		return err
	}
	yes, err := confirm(w.about())
	if err != nil {
		return err
	}
	if w.refused = !yes; !yes {
		return w.allowed(ctx)
	}
	if err := safe.Replace(w.file, []byte(w.dir+"\n"+agentproc.Describe(w.command)+"\n")); err != nil {
		return fmt.Errorf("bridge: that the agent may run in %s cannot be kept: %w", w.dir, err)
	}
	return nil
}

// allowAtTerminal asks at the terminal; without one nobody can answer.
func allowAtTerminal(ctx context.Context, p *frame.Program, w *consent) error {
	return w.ask(ctx, func(about string) (bool, error) {
		a, done := p.NewAsker(ctx, false)
		defer done()
		if !a.Asks() {
			return false, nil
		}
		yes, err := a.Confirm(about, trusted)
		if errors.Is(err, frame.ErrGivenUp) {
			err = nil // a no
		}
		return yes, err
	})
}

func (w *consent) Methods(bool) []acp.AuthMethod {
	return []acp.AuthMethod{{ID: "a2astdio-workspace", Name: "Allow the agent in this workspace", Description: "The agent is to run in " + w.dir}}
}

func (w *consent) Needed(ctx context.Context, _ *a2a.Card) error { return w.allowed(ctx) }

func (w *consent) SignIn(ctx context.Context, user bridge.Asker) error {
	w.mu.Lock()
	w.refused = false // the user begins anew
	w.mu.Unlock()
	return w.ask(ctx, func(about string) (bool, error) {
		yes, err := user.Confirm(ctx, safe.Plain(about+" "+trusted))
		if errors.Is(err, bridge.ErrCannotAsk) {
			err = nil // a no, which says where else the user can allow it
		}
		return yes, err
	})
}

func (w *consent) SignOut(context.Context) error {
	if err := os.Remove(w.file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
