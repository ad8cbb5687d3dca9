package agentproc

import (
	"cmp"
	"context"
	"crypto/rand"
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

// markName is the environment variable by which processes of an agent are known.
const markName = "A2ASTDIO_SUPERVISED"

// Options are how to start an agent.
type Options struct {
	// Command is what starts the agent, and stays: words as in a shell, but
	// without one; leading VAR=value words are its environment. {port} stands for
	// a free port, which is also in PORT and CODER_AGENT_PORT. An agent that
	// chooses its port itself must print its URL.
	Command string
	// Dir is where it runs; empty is the current directory.
	Dir string
	// Env is its environment; nil is ours, without the A2ASTDIO_ variables, which
	// are about us and may hold credentials.
	Env []string
	// Prepare is called before each start, with the environment that the agent is to
	// have; what it returns is added, and wins. nil: nothing is.
	Prepare func(env []string) ([]string, error)
	// Remove returns the directory that Prepare has made, which is removed if this
	// process is killed while the agent lives. nil: there is none.
	Remove func() string
	// Stderr gets what the agent prints, on stdout or stderr; nil drops it. A
	// writer that blocks stops the agent in the end, as a terminal would.
	Stderr io.Writer
	// Advice is what the user can do when the agent has ended by itself, for
	// [Process.Err].
	Advice string
	// Patience bounds each wait in [Keeper.URL]. An agent that needs longer is
	// not ended for it, and a later call may find its card. 0 is no bound.
	Patience time.Duration
	// Waiting is called each second while [Keeper.URL] waits, with how long it has,
	// and with 0 when it waits no more. It is called from one goroutine at a time.
	Waiting func(time.Duration)
	// Self is how to run [Supervise] in a process of its own; nil is the word
	// supervise behind this program's path.
	Self []string
}

// A Process is an agent that was started. Its methods may be called concurrently.
type Process struct {
	name   string // for messages
	mark   string
	advice string
	began  time.Time
	cmd    *exec.Cmd
	finder *finder
	output *output

	mu    sync.Mutex // for writing to the leash
	leash *os.File

	done chan struct{} // closed when all of it has ended
	err  error         // set before done is closed
}

// Start starts the agent and does not wait for it. It is ended by Stop, with ctx,
// or when this process ends, however that happens. So ctx should not be one that
// a signal ends, if there is something to tell the agent before.
func Start(ctx context.Context, opts *Options) (*Process, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	env, words, err := parseCommand(opts.Command, port)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(cmp.Or(opts.Dir, ".")); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("agent: it cannot run in %s, which is no directory", opts.Dir)
	}
	p := &Process{
		name:   strings.TrimSuffix(filepath.Base(words[0]), ".exe"),
		mark:   markName + "=" + rand.Text(),
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
	// What stands in the command wins: of two values, exec takes the last.
	p.cmd.Env = slices.Concat(inherited(opts.Env), []string{"PORT=" + port, "CODER_AGENT_PORT=" + port}, env, []string{p.mark})
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
	cmd.Args[0] = os.Args[0] // the path may be that of what a link leads to
	return cmd, nil
}

// start runs the supervisor, and returns the pipe of what the agent prints.
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
	// The supervisor hands its stderr to the agent as both. Its stdout is not
	// ours, which is the editor's.
	p.cmd.Stdin, p.cmd.Stderr = held, print
	if err := p.cmd.Start(); err != nil {
		leash.Close()
		output.Close()
		return nil, err
	}
	p.leash = leash
	return output, nil
}

// freePort returns a port on which nobody listens. Until the agent does, somebody
// else may: then the agent says so, and ends.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("agent: no port for it: %w", err)
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, cmp.Or(err, l.Close())
}

func inherited(env []string) []string {
	if env != nil {
		return env
	}
	return Environ()
}
