package frame

import (
	"io"
	"os"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"golang.org/x/term"
)

// IsTerminal reports whether a stream is a terminal, or a screen's writer to one.
func IsTerminal(stream any) bool {
	if w, ok := stream.(*screenWriter); ok {
		return w.terminal
	}
	f, ok := FileOf(stream)
	return ok && term.IsTerminal(int(f.Fd()))
}

// FileOf returns the file that a stream is; false if it is none.
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

// Descriptor returns a terminal's file descriptor for reading; false if it has none.
func Descriptor(tty io.ReadWriteCloser) (int, bool) {
	if f, ok := tty.(interface{ Fd() uintptr }); ok { // a file, too
		return int(f.Fd()), true
	}
	return 0, false
}

// WidthOf returns how many columns a terminal has; 80 if it does not tell.
func WidthOf(stream any) int {
	if f, ok := FileOf(stream); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			return w
		}
	}
	return HelpWidth
}

// A Style writes words in colour, or as they are.
type Style bool

func (s Style) Red(text string) string     { return s.paint("31", text) }
func (s Style) Green(text string) string   { return s.paint("32", text) }
func (s Style) Yellow(text string) string  { return s.paint("33", text) }
func (s Style) Magenta(text string) string { return s.paint("35", text) }
func (s Style) Cyan(text string) string    { return s.paint("36", text) }
func (s Style) Bold(text string) string    { return s.paint("1", text) }
func (s Style) Dim(text string) string     { return s.paint("2", text) }

func (s Style) paint(code, text string) string {
	if !s || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// StyleOf returns the style of a stream (https://no-color.org).
func StyleOf(stream any) Style {
	return Style(IsTerminal(stream) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb")
}

// ColumnsOf returns how many columns a terminal gives to a text. It counts runes: most
// terminals draw an emoji of several runes narrower, so a line may be shorter than it
// could be, never too long. Counting what people see as one character needs tables of
// 100 kB.
func ColumnsOf(text string) (n int) {
	for _, r := range text {
		n += displaywidth.Rune(r)
	}
	return n
}

// CutTo cuts text to a number of columns, and marks the cut.
func CutTo(text string, columns int) string {
	const mark = "…" // one column
	if ColumnsOf(text) <= columns {
		return text
	}
	n := 1
	for i, r := range text {
		if n += displaywidth.Rune(r); n > columns {
			return strings.TrimSuffix(text[:i], "\u200d") + mark
		}
	}
	return text
}
