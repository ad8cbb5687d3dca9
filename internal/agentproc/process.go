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
	// Workspaces are where the user works: no entry of PATH may lead there. nil: nowhere, until
	// [Keeper.Enter] names a directory.
	Workspaces *Workspaces
	// Allow is asked before each start; an error forbids it. nil: it is allowed.
	Allow func(ctx context.Context) error
	// Prepare is called before each start with the agent's environment. The agent also gets
	// the variables that it returns, which win. The directory that it has made is removed if
	// this process is killed while the agent runs. nil: nothing is prepared.
	Prepare func(env []string) (more []string, made string, err error)
	// Print gets each line of the agent's stdout and stderr; nil: nobody does. While it blocks,
	// so does the agent, as at a terminal.
	Print func(line string)
	// Advice tells the user what to do when the agent has ended by itself.
	Advice string
	// Patience bounds each wait in [Keeper.URL]. A slower agent goes on, and a later call
	// may find its card. 0 is no bound.
	Patience time.Duration
}

// A process is one life of the agent. It is made before the agent starts.
type process struct {
	notBefore time.Time // when it may start

	name   string // for messages
	began  time.Time
	cmd    *exec.Cmd // nil until the start
	finder *finder
	output *output

	leash io.WriteCloser

	mu     sync.Mutex // for advice
	advice string

	done  chan struct{} // closed when all of it has ended
	err   error         // how it has ended; set before done is closed
	ended time.Time
}

// start starts the agent and does not wait for it. stop, or any end of this process, ends
// it; then note is called, and done closed.
func (p *process) start(opts *Options, note func()) error {
	port, err := freePort()
	if err != nil {
		return err
	}
	env, words, err := opts.parse(port)
	if err != nil {
		return err
	}
	p.name, p.advice, p.began, p.output = strings.TrimSuffix(filepath.Base(words[0]), ".exe"), opts.Advice, time.Now(), &output{print: opts.Print}
	if len(words) > 1 {
		p.name += " …" // arguments may hold what nobody should read
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("agent: this program does not know its own path, which it needs to start one: %w", err)
	}
	cmd := exec.Command(self, SuperviseWord)
	cmd.Args[0] = os.Args[0] // the path may have followed a link
	cmd.Dir = opts.Dir
	// The command's variables win: of two values, exec takes the last.
	cmd.Env = slices.Concat(opts.Workspaces.environ(), []string{"PORT=" + port, "CODER_AGENT_PORT=" + port}, env)
	if opts.Prepare != nil {
		more, made, err := opts.Prepare(cmd.Env)
		if err != nil {
			return err
		}
		cmd.Env, cmd.Args = append(cmd.Env, more...), append(cmd.Args, removeWord, made)
	}
	cmd.Args = slices.Concat(cmd.Args, []string{"--"}, words)
	cmd.SysProcAttr = supervisorAttr()
	pipe, err := p.run(cmd)
	if err != nil {
		return fmt.Errorf("agent: its supervisor %s cannot be started: %w", cmd.Path, err)
	}
	p.finder = newFinder(port)
	p.output.watch = p.finder.add
	p.finder.addPort(port)
	for _, v := range env {
		// A port that the command chooses itself; what answers there may still be
		// somebody else, so it is not one of ours.
		if name, value, _ := strings.Cut(v, "="); (name == "PORT" || name == "CODER_AGENT_PORT") && value != port {
			p.finder.addPort(value)
		}
	}
	// Ends with the supervisor, soon after the agent, or after stop has killed it.
	go func() {
		p.wait(pipe)
		p.ended = time.Now()
		note()
		close(p.done)
	}()
	return nil
}

// run starts the supervisor, and returns the pipe from which the agent's output is to be read.
func (p *process) run(cmd *exec.Cmd) (*os.File, error) {
	output, print, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer print.Close()
	// The agent gets the supervisor's stderr as stdout and stderr. Our own stdout belongs
	// to the editor.
	cmd.Stderr = print
	if p.leash, err = cmd.StdinPipe(); err == nil {
		err = cmd.Start()
	}
	if err != nil {
		output.Close()
		return nil, err
	}
	p.cmd = cmd
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
