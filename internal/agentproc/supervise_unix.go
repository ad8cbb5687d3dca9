//go:build unix

package agentproc

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

const (
	// round is how often the agent's group is looked at while it is ended: the kernel does
	// not tell when its last member is gone.
	round = 10 * time.Millisecond
	// hopeless is how long the agent's own end is waited for after SIGKILL: it may be
	// another user's by now, or hang in the kernel.
	hopeless = 300 * time.Millisecond
)

// supervise runs the agent until it ends, order is closed or SIGTERM comes, and returns as
// [Supervise] does.
func supervise(path string, argv []string, order <-chan struct{}, out *os.File) int {
	// The parent-death signal comes when the thread that started the agent ends. This
	// goroutine keeps its thread until the process ends.
	runtime.LockOSThread()
	nameSupervisor()
	terminate := make(chan os.Signal, 1)
	signal.Notify(terminate, syscall.SIGTERM)
	// Terminals send these to whole groups, and the bridge acts on them; SIGPIPE tells
	// that the reader of our output has ended. They are caught and dropped: the agent
	// would inherit an ignored signal.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE)

	agent := &exec.Cmd{Path: path, Args: argv, Stdout: out, Stderr: out, SysProcAttr: agentAttr()}
	if err := agent.Start(); err != nil {
		fmt.Fprintf(out, "a2astdio: %s cannot be run: %v\n", path, err)
		return statusCannotRun
	}
	ended := make(chan struct{})
	go func() { // ends with the agent, or with the process
		_ = agent.Wait() // its status is in ProcessState
		close(ended)
	}()
	select {
	case <-ended:
	case <-order:
	case <-terminate:
	}
	endGroup(agent.Process.Pid)
	select {
	case <-ended:
	case <-time.After(hopeless):
		return 128 + int(syscall.SIGKILL) // it could not even be killed
	}
	if status := agent.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
		return 128 + int(status.Signal())
	}
	return agent.ProcessState.ExitCode()
}

// endGroup sends SIGTERM to the agent's process group, and SIGKILL after the grace, unless
// no member is left before. The group's number is valid while a member lives, and is not
// given to others that soon after. (SIGKILL is not waited for: where nobody reaps orphans,
// as in some containers, dead members count.)
func endGroup(group int) {
	_ = syscall.Kill(-group, syscall.SIGTERM)
	late := time.After(grace)
	tick := time.NewTicker(round)
	defer tick.Stop()
	for syscall.Kill(-group, 0) == nil {
		select {
		case <-late:
			_ = syscall.Kill(-group, syscall.SIGKILL)
			return
		case <-tick.C:
		}
	}
}

// signalName names the signal that an exit status stands for; "" for none.
func signalName(status int) string {
	if status <= 128 || status > 128+31 {
		return ""
	}
	return " (" + syscall.Signal(status-128).String() + ")"
}

// supervisorAttr gives the supervisor a session of its own, so that neither a terminal
// nor a kill of the editor's process group reaches it.
func supervisorAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// ownGroup has the end of cmd's context kill a process group of its own.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
