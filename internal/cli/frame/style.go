package frame

import "os"

// A Style writes words in colour, or as they are.
type Style bool

func (s Style) Red(text string) string { return s.paint("31", text) }

func (s Style) Green(text string) string { return s.paint("32", text) }

func (s Style) Yellow(text string) string { return s.paint("33", text) }

func (s Style) Cyan(text string) string { return s.paint("36", text) }

func (s Style) Bold(text string) string { return s.paint("1", text) }

func (s Style) Dim(text string) string { return s.paint("2", text) }

func (s Style) paint(code, text string) string {
	if !s || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// StyleOf is the style of a stream (https://no-color.org).
func StyleOf(stream any) Style {
	return Style(IsTerminal(stream) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb")
}
