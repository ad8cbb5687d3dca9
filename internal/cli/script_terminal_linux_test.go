package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
)

// atTerminal runs a command at a terminal of its own, where a file is typed: terminal FILE COMMAND...
// Its stdout is what the terminal shows, to the end (testscript's ttyout may lose that), its stderr what
// the command writes elsewhere, its status the command's.
func atTerminal() {
	status, err := runAtTerminal(os.Args[1], os.Args[2:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(status)
}

func runAtTerminal(file string, command []string) (status int, err error) {
	typed, err := os.ReadFile(file)
	if err != nil {
		return 1, err
	}
	master, slave, err := pty.Open()
	if err != nil {
		return 1, err
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = os.Stderr, os.Stderr, []*os.File{slave}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
	if err := cmd.Start(); err != nil {
		return 1, err
	}
	slave.Close()
	go func() { _, _ = master.Write(append(typed, 4)) }() // ends with this process; 4 ends the input
	_, _ = io.Copy(os.Stdout, master)                     // it fails when the last one has closed the terminal
	_ = cmd.Wait()
	return cmd.ProcessState.ExitCode(), nil
}

// shownSoFar is what a terminal has got so far.
type shownSoFar struct {
	mu    sync.Mutex
	b     bytes.Buffer
	grown chan struct{}
}

// Write implements [io.Writer].
func (s *shownSoFar) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.grown != nil {
		close(s.grown)
		s.grown = nil
	}
	return s.b.Write(b)
}

func (s *shownSoFar) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// wait waits for a text, from a place on, and returns the place behind it.
func (s *shownSoFar) wait(text string, from int) (int, error) {
	timeout := time.After(talkTimeout)
	for {
		s.mu.Lock()
		i := bytes.Index(s.b.Bytes()[from:], []byte(text))
		if s.grown == nil {
			s.grown = make(chan struct{})
		}
		grown := s.grown
		s.mu.Unlock()
		if i >= 0 {
			return from + i + len(text), nil
		}
		select {
		case <-grown:
		case <-timeout:
			return 0, fmt.Errorf("the terminal never showed %q, but\n%s", text, s)
		}
	}
}
