//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// pipeHolds reports whether a pipe or a socket has unread bytes. It reads none.
func pipeHolds(f *os.File) bool {
	n, err := unix.IoctlGetInt(int(f.Fd()), fionread)
	return err == nil && n > 0
}
