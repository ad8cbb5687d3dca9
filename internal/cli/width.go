package cli

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// columnsOf is how many columns a terminal gives to text. It is counted by runes: an emoji
// that is made of several is taken for wider than most terminals draw it, which makes a
// line shorter than it could be, and never too long. To count by what people see as one
// character needs tables that make the program 100 kB larger.
func columnsOf(text string) (n int) {
	for _, r := range text {
		n += displaywidth.Rune(r)
	}
	return n
}

// cutTo cuts text that takes more columns than there are, and marks where.
func cutTo(text string, columns int) string {
	const mark = "…" // one column
	if columnsOf(text) <= columns {
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
