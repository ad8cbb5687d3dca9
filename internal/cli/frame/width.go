package frame

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// ColumnsOf is how many columns a terminal gives to a text. It counts runes: most
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
