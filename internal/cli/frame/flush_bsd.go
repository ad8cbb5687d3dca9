//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package frame

import "golang.org/x/sys/unix"

// flushInput drops what a terminal has not given to a read yet.
func flushInput(fd uintptr) {
	_ = unix.IoctlSetPointerInt(int(fd), unix.TIOCFLUSH, unix.TCIFLUSH) // what is no terminal has nothing typed
}
