//go:build unix

package companion

import (
	"errors"
	"os"
	"syscall"
)

// probe reports whether a process is there; one of another user's is.
func probe(p *os.Process) bool {
	err := p.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, syscall.EPERM)
}
