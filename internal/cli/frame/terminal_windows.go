package frame

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/windows"
)

// OpenTerminal opens the process's console, which has one name to read and one to
// write.
func OpenTerminal() (io.ReadWriteCloser, error) {
	in, err := os.OpenFile("CONIN$", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	out, err := os.OpenFile("CONOUT$", os.O_RDWR, 0)
	if err != nil {
		in.Close()
		return nil, err
	}
	return console{in, out}, nil
}

type console struct{ in, out *os.File }

func (c console) Read(p []byte) (int, error)  { return c.in.Read(p) }
func (c console) Write(p []byte) (int, error) { return c.out.Write(p) }
func (c console) Close() error                { return errors.Join(c.in.Close(), c.out.Close()) }

var _ io.ReadWriteCloser = console{}

// Fd is the descriptor for reading.
func (c console) Fd() uintptr { return c.in.Fd() }

// NotifyResumed does nothing: a process is not stopped here.
func NotifyResumed(chan<- os.Signal) {}

// flushInput drops what a console has not given to a read yet.
func flushInput(fd uintptr) {
	_ = windows.FlushConsoleInputBuffer(windows.Handle(fd)) // what is no console has nothing typed
}
