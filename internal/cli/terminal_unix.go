//go:build !windows

package cli

import (
	"io"
	"os"
)

// openTerminal opens the process's terminal, also when stdin and stdout are something
// else.
func openTerminal() (io.ReadWriteCloser, error) {
	return os.OpenFile("/dev/tty", os.O_RDWR, 0)
}
