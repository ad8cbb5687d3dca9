package frame

import (
	"io"
	"os"

	"golang.org/x/term"
)

func IsTerminal(stream any) bool {
	if w, ok := stream.(*screenWriter); ok {
		return w.terminal
	}
	f, ok := FileOf(stream)
	return ok && term.IsTerminal(int(f.Fd()))
}

func FileOf(stream any) (*os.File, bool) {
	if s, ok := stream.(*seat); ok {
		stream = s.k.tty
	}
	f, ok := stream.(*os.File)
	return f, ok
}

// SameStream reports whether two streams are one. Then a line of the one may interrupt
// a line of the other.
func SameStream(a, b any) bool {
	f, ok := a.(*os.File)
	g, also := b.(*os.File)
	if !ok || !also {
		return false
	}
	one, err := f.Stat()
	other, failed := g.Stat()
	return err == nil && failed == nil && os.SameFile(one, other)
}

// Descriptor is the terminal's file descriptor for reading.
func Descriptor(tty io.ReadWriteCloser) (int, bool) {
	switch t := tty.(type) {
	case *os.File:
		return int(t.Fd()), true
	case interface{ Fd() uintptr }:
		return int(t.Fd()), true
	}
	return 0, false
}

// WidthOf is how many columns a terminal has; 80 if the terminal does not tell.
func WidthOf(stream any) int {
	if f, ok := FileOf(stream); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			return w
		}
	}
	return HelpWidth
}
