package frame

import "golang.org/x/sys/windows"

// flushInput drops what a console has not given to a read yet.
func flushInput(fd uintptr) {
	_ = windows.FlushConsoleInputBuffer(windows.Handle(fd)) // what is no console has nothing typed
}
