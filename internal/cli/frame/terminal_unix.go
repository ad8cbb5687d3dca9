//go:build !windows

package frame

import (
	"io"
	"os"
	"os/signal"
	"syscall"
)

// OpenTerminal opens the process's terminal, also when stdin and stdout are something
// else.
func OpenTerminal() (io.ReadWriteCloser, error) {
	return os.OpenFile("/dev/tty", os.O_RDWR, 0)
}

// NotifyResumed tells c whenever the process goes on after it was stopped.
func NotifyResumed(c chan<- os.Signal) { signal.Notify(c, syscall.SIGCONT) }
