package frame

import "golang.org/x/sys/unix"

// flushInput drops what a terminal has not given to a read yet.
func flushInput(fd uintptr) {
	_ = unix.IoctlSetInt(int(fd), unix.TCFLSH, unix.TCIFLUSH) // what is no terminal has nothing typed
}
