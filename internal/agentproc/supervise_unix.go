//go:build unix

package agentproc

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

const (
	// round is how often children are looked for while the agent is ended: the kernel does
	// not tell when an orphan becomes our child.
	round = 10 * time.Millisecond
	// hopeless is how long the supervisor tries after SIGKILL. What is left then is
	// another user's, or hangs in the kernel.
	hopeless = time.Second
)

// A supervisor is one goroutine. It alone reaps and kills, so it never kills a process
// that has got a reaped one's number.
type supervisor struct {
	agent  int  // its process, and its group
	reaped bool // then its number may be another's
	status int

	ending   bool
	asked    map[int]bool // processes that got SIGTERM; the agent's group is 0
	deadline time.Time    // of SIGKILL
}

func supervise(path string, argv []string, orders <-chan time.Duration, out *os.File) int {
	// The parent-death signal comes when the thread that started the agent ends. This
	// goroutine keeps its thread until the process ends.
	runtime.LockOSThread()
	becomeSupervisor()

	// Asked for before there is a child. One slot is enough: the pending signal covers all
	// ended children.
	children, terminate := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(children, syscall.SIGCHLD)
	signal.Notify(terminate, syscall.SIGTERM)
	// Terminals send these to whole groups, and the bridge acts on them; SIGPIPE tells
	// that the reader of our output has ended. They are caught and dropped: the agent
	// would inherit an ignored signal.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE)

	s, err := startAgent(path, argv, out)
	if err != nil {
		fmt.Fprintf(out, "a2astdio: %s cannot be run: %v\n", path, err)
		return statusCannotRun
	}
	tick := time.NewTimer(time.Hour)
	tick.Stop()
	for {
		select {
		case <-children:
		case grace := <-orders:
			s.end(grace)
		case <-terminate:
			s.end(lastGrace)
		case <-tick.C:
		}
		if s.reap() {
			return s.status
		}
		if s.ending {
			if time.Since(s.deadline) > hopeless {
				return s.status
			}
			s.press()
			tick.Reset(round)
		}
	}
}

func startAgent(path string, argv []string, out *os.File) (*supervisor, error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	// Not package os/exec, which waits for its processes itself.
	pid, err := syscall.ForkExec(path, argv, &syscall.ProcAttr{
		Env:   os.Environ(),
		Files: []uintptr{null.Fd(), out.Fd(), out.Fd()},
		Sys:   agentAttr(),
	})
	if err != nil {
		return nil, err
	}
	// Until more is known: it was killed, or could not even be killed.
	return &supervisor{agent: pid, asked: make(map[int]bool), status: 128 + int(syscall.SIGKILL)}, nil
}

// end begins the end, or shortens the grace.
func (s *supervisor) end(grace time.Duration) {
	deadline := time.Now().Add(grace)
	if !s.ending || deadline.Before(s.deadline) {
		s.deadline = deadline
	}
	s.ending = true
}

// reap reaps ended children, and reports whether none is left. A subreaper without
// children has no descendants.
func (s *supervisor) reap() bool {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil: // ECHILD
			return isSubreaper || syscall.Kill(-s.agent, 0) != nil
		case pid == 0:
			return false
		case pid == s.agent:
			s.reaped = true
			s.status = status.ExitStatus()
			if status.Signaled() {
				s.status = 128 + int(status.Signal())
			}
			// Its children end, too.
			s.end(lastGrace)
		default:
			delete(s.asked, pid)
		}
	}
}

// press sends SIGTERM to each process once, and SIGKILL after the deadline. Orphans
// become our children.
func (s *supervisor) press() {
	force := !time.Now().Before(s.deadline)
	if !s.reaped || !isSubreaper {
		// The group's number stays valid while a member lives. Once the agent is reaped, a
		// subreaper finds the members as children. Other systems have only this number, which
		// is not reused that soon.
		s.kill(0, -s.agent, force)
	}
	for _, pid := range ownChildren() {
		group, _ := syscall.Getpgid(pid)
		if force || group != s.agent || !s.asked[0] { // otherwise it was asked with its group
			s.kill(pid, pid, force)
		}
	}
}

func (s *supervisor) kill(who, pid int, force bool) {
	switch {
	case force:
		_ = syscall.Kill(pid, syscall.SIGKILL)
	case !s.asked[who]:
		s.asked[who] = true
		_ = syscall.Kill(pid, syscall.SIGTERM)
	}
}

// signalName names the signal of a status.
func signalName(status int) string {
	if status <= 128 || status > 128+31 {
		return ""
	}
	return " (" + syscall.Signal(status-128).String() + ")"
}

// supervisorAttr gives the supervisor a session of its own, so that neither a terminal
// nor a kill of the editor's process group reaches it.
func supervisorAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
