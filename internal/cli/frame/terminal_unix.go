//go:build !windows

package frame

import (
	"io"
	"os"
)

// OpenTerminal opens the process's terminal, also when stdin and stdout are something
// else.
func OpenTerminal() (io.ReadWriteCloser, error) {
	return os.OpenFile("/dev/tty", os.O_RDWR, 0)
}
