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
	// round is how often children are looked for while the agent is being ended:
	// one whose parent has just died is ours without a word from the kernel.
	round = 10 * time.Millisecond
	// hopeless is how long after SIGKILL the supervisor still tries. What is left
	// then is another user's, or hangs in the kernel.
	hopeless = time.Second
)

// A supervisor is one goroutine. It alone reaps and it alone kills, so that no
// number that it kills has been given to another process meanwhile.
type supervisor struct {
	agent  int  // its process, and its group
	reaped bool // then the number is no longer its own
	status int

	ending   bool
	asked    map[int]bool // who got SIGTERM; the agent's group is under 0
	deadline time.Time    // of SIGKILL
}

func supervise(path string, argv []string, orders <-chan time.Duration, out *os.File) int {
	// The parent-death signal comes when the thread that started the agent ends.
	// This goroutine keeps it, and lasts as long as the process.
	runtime.LockOSThread()
	becomeSupervisor()

	// Asked for before there is a child. One place is enough: a signal that finds
	// it taken has its children reaped with those of the one before.
	children, terminate := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(children, syscall.SIGCHLD)
	signal.Notify(terminate, syscall.SIGTERM)
	// What terminals send, to whole groups, is the bridge's to act on, and so is
	// a reader of our output that is gone. They are caught and dropped: if they
	// were ignored, the agent would inherit that.
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
	// Not package os/exec: it wants to wait for its processes itself.
	pid, err := syscall.ForkExec(path, argv, &syscall.ProcAttr{
		Env:   os.Environ(),
		Files: []uintptr{null.Fd(), out.Fd(), out.Fd()},
		Sys:   agentAttr(),
	})
	if err != nil {
		return nil, err
	}
	// Until it is known better: it was killed, or could not even be.
	return &supervisor{agent: pid, asked: make(map[int]bool), status: 128 + int(syscall.SIGKILL)}, nil
}

// end begins the end, or brings it nearer.
func (s *supervisor) end(grace time.Duration) {
	deadline := time.Now().Add(grace)
	if !s.ending || deadline.Before(s.deadline) {
		s.deadline = deadline
	}
	s.ending = true
}

// reap takes in the children that have ended, and reports whether nobody is left.
// A subreaper without children has no descendants.
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
			// What it has left behind belonged to it.
			s.end(lastGrace)
		default:
			delete(s.asked, pid)
		}
	}
}

// press asks everybody to end, once, and after the deadline makes them. Children
// of children come up as ours when their parents are gone.
func (s *supervisor) press() {
	force := !time.Now().Before(s.deadline)
	if !s.reaped || !isSubreaper {
		// The members of a group that are not our children live as long as its
		// number. Once the agent is reaped, a subreaper finds them as children; the
		// others have only this, and the number is not reused that soon.
		s.kill(0, -s.agent, force)
	}
	for _, pid := range ownChildren() {
		group, _ := syscall.Getpgid(pid)
		if force || group != s.agent || !s.asked[0] { // else it was asked with its group
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

// signalName is for a status that stands for a signal.
func signalName(status int) string {
	if status <= 128 || status > 128+31 {
		return ""
	}
	return " (" + syscall.Signal(status-128).String() + ")"
}

// supervisorAttr gives the supervisor a session of its own: no terminal and no
// kill of the editor's process group reaches it.
func supervisorAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
