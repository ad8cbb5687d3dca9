package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/mapping"
)

// isFormatted reports whether the agent's formatted diff is the change that its texts
// make. If it is not, the user would approve what was not shown. A change without texts
// has nothing to compare with.
func isFormatted(f *mapping.FileDiff) bool {
	if f.OldContent == nil && f.NewContent == "" {
		return true
	}
	var before []string
	if f.OldContent != nil {
		before = textLines(*f.OldContent)
	}
	after := textLines(f.NewContent)
	take := func(from *[]string, line string) bool {
		if len(*from) == 0 || (*from)[0] != line {
			return false
		}
		*from = (*from)[1:]
		return true
	}
	at, hunks := 0, false // at: lines of the old text that were read
	for _, line := range textLines(f.Formatted) {
		sign, text := "", ""
		if line != "" {
			sign, text = line[:1], line[1:]
		}
		var start, length int
		switch n, _ := fmt.Sscanf(line, "@@ -%d,%d", &start, &length); {
		case n == 2 && length > 0 || n == 1:
			start--
			fallthrough
		case n > 0:
			// Nothing changes between two hunks.
			hunks = true
			for ; at < start; at++ {
				if len(before) == 0 || !take(&after, before[0]) {
					return false
				}
				before = before[1:]
			}
		case !hunks, sign == "\\": // names of files; no newline at the end
		case sign == " " && take(&before, text) && take(&after, text), sign == "-" && take(&before, text):
			at++
		case sign == "+" && take(&after, text):
		default:
			return false
		}
	}
	return slices.Equal(before, after)
}

// textLines splits a text into lines, without their line ends.
func textLines(s string) []string {
	var lines []string
	for line := range strings.Lines(s) {
		lines = append(lines, strings.TrimRight(line, "\r\n"))
	}
	return lines
}
