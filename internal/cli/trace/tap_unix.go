//go:build unix

package trace

import (
	"os"
	"syscall"
)

// passedOn are the signals that tap passes on to the command.
func passedOn() []os.Signal {
	return []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH, syscall.SIGCONT}
}
