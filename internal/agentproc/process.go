package agentproc

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Options tell how to start an agent.
type Options struct {
	// Command starts the agent and keeps running. It consists of words as in a shell, but
	// no shell runs it; leading VAR=value words are its environment. {port} stands for a
	// free port, which is also in PORT and CODER_AGENT_PORT. An agent that chooses its own
	// port must print its URL.
	Command string
	// Dir is its directory. A workspace may have files that programs run without being
	// told, so it is one of ours unless the user wants the agent in the workspace.
	Dir string
	// Base is what relative paths in Command begin from; empty refuses them.
	Base string
	// Workspaces are where the user works: no entry of PATH may lead there. nil: nowhere.
	Workspaces *Workspaces
	// Allow is asked before each start; an error forbids it. nil: it is allowed.
	Allow func(ctx context.Context) error
	// Env is its environment; nil is [Environ].
	Env []string
	// Prepare is called before each start with the agent's environment. The agent also
	// gets what it returns, which wins. nil: nothing.
	Prepare func(env []string) ([]string, error)
	// Remove returns the directory that Prepare has made. It is removed if this process is
	// killed while the agent runs. nil: there is none.
	Remove func() string
	// Stderr gets the agent's stdout and stderr; nil drops them. A writer that blocks will
	// block the agent, as a terminal would.
	Stderr io.Writer
	// Advice tells the user what to do when the agent has ended by itself, for
	// [Process.Err].
	Advice string
	// Patience bounds each wait in [Keeper.URL]. A slower agent goes on, and a later call
	// may find its card. 0 is no bound.
	Patience time.Duration
	// Waiting is called each second while [Keeper.URL] waits, with the time so far, and
	// with 0 at the end. Calls do not overlap.
	Waiting func(time.Duration)
	// Self is how to run [Supervise] in a process of its own; nil is this program with the
	// word supervise.
	Self []string
}

// A Process is a started agent. Its methods may be called concurrently.
type Process struct {
	name   string // for messages
	advice string
	began  time.Time
	cmd    *exec.Cmd
	finder *finder
	output *output

	mu    sync.Mutex // for writing to the leash, and for advice
	leash *os.File

	done chan struct{} // closed when all of it has ended
	err  error         // set before done is closed
}

// Start starts the agent and does not wait for it. Stop, the end of ctx, or any end of
// this process ends it. So ctx should not be one that a signal ends, if the agent has
// to be told something before.
func Start(ctx context.Context, opts *Options) (*Process, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	env, words, err := opts.parse(port)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(cmp.Or(opts.Dir, ".")); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("agent: it cannot run in %s, which is no directory", opts.Dir)
	}
	p := &Process{
		name:   strings.TrimSuffix(filepath.Base(words[0]), ".exe"),
		advice: opts.Advice,
		began:  time.Now(),
		output: &output{log: opts.Stderr},
		done:   make(chan struct{}),
	}
	if len(words) > 1 {
		p.name += " …" // arguments may hold what nobody should read
	}
	if p.cmd, err = supervisorCommand(opts); err != nil {
		return nil, err
	}
	p.cmd.Dir = opts.Dir
	// The command's variables win: of two values, exec takes the last.
	p.cmd.Env = slices.Concat(opts.inherited(), []string{"PORT=" + port, "CODER_AGENT_PORT=" + port}, env)
	if opts.Prepare != nil {
		more, err := opts.Prepare(p.cmd.Env)
		if err != nil {
			return nil, err
		}
		p.cmd.Env = append(p.cmd.Env, more...)
	}
	if opts.Remove != nil {
		p.cmd.Args = append(p.cmd.Args, removeWord, opts.Remove())
	}
	p.cmd.Args = slices.Concat(p.cmd.Args, []string{"--"}, words)
	p.cmd.SysProcAttr = supervisorAttr()
	output, err := p.start()
	if err != nil {
		return nil, fmt.Errorf("agent: its supervisor %s cannot be started: %w", p.cmd.Path, err)
	}

	p.finder = newFinder(context.WithoutCancel(ctx), port)
	p.output.watch = p.finder.add
	p.finder.addPort(port)
	for _, v := range env {
		// A port that the command chooses itself; what answers there may still be
		// somebody else, so it is not one of ours.
		if name, value, _ := strings.Cut(v, "="); (name == "PORT" || name == "CODER_AGENT_PORT") && value != port {
			p.finder.addPort(value)
		}
	}
	detach := context.AfterFunc(ctx, p.hangUp)
	// Ends with the supervisor, soon after the agent, or after Stop has killed it.
	go func() {
		p.wait(output)
		detach()
		close(p.done)
	}()
	return p, nil
}

// supervisorCommand is the command that starts the agent.
func supervisorCommand(opts *Options) (*exec.Cmd, error) {
	if opts.Self != nil {
		return exec.Command(opts.Self[0], opts.Self[1:]...), nil
	}
	path, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("agent: this program does not know its own path, which it needs to start one: %w", err)
	}
	cmd := exec.Command(path, "supervise")
	cmd.Args[0] = os.Args[0] // the path may have followed a link
	return cmd, nil
}

// start runs the supervisor, and returns the pipe of the agent's output.
func (p *Process) start() (*os.File, error) {
	held, leash, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer held.Close()
	output, print, err := os.Pipe()
	if err != nil {
		leash.Close()
		return nil, err
	}
	defer print.Close()
	// The agent gets the supervisor's stderr as stdout and stderr. Our own stdout belongs
	// to the editor.
	p.cmd.Stdin, p.cmd.Stderr = held, print
	if err := p.cmd.Start(); err != nil {
		leash.Close()
		output.Close()
		return nil, err
	}
	p.leash = leash
	return output, nil
}

// freePort returns a free port. Somebody else may take it before the agent does: then
// the agent reports that, and ends.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("agent: no port for it: %w", err)
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, cmp.Or(err, l.Close())
}

// inherited is the environment that the agent inherits.
func (o *Options) inherited() []string {
	env := o.Env
	if env == nil {
		env = Environ()
	}
	return o.Workspaces.Outside(env)
}
