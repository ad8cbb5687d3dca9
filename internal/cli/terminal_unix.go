//go:build !windows

package cli

import (
	"io"
	"os"
	"os/signal"
	"syscall"
)

// openTerminal opens the process's terminal, also when stdin and stdout are something
// else.
func openTerminal() (io.ReadWriteCloser, error) {
	return os.OpenFile("/dev/tty", os.O_RDWR, 0)
}

// notifyResumed tells c whenever the process goes on after it was stopped.
func notifyResumed(c chan<- os.Signal) { signal.Notify(c, syscall.SIGCONT) }
