//go:build unix

package tap

import (
	"os"
	"syscall"
)

func statusOf(s *os.ProcessState) int {
	if s == nil {
		return 1
	}
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}
