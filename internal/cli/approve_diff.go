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
	c := &diffReader{after: textLines(f.NewContent)}
	if f.OldContent != nil {
		c.before = textLines(*f.OldContent)
	}
	hunks := false
	for _, line := range textLines(f.Formatted) {
		var start, length int
		switch n, _ := fmt.Sscanf(line, "@@ -%d,%d", &start, &length); {
		case n > 0:
			hunks = true
			if n == 1 || length > 0 {
				start-- // the lines before it; a hunk without old lines names the one before
			}
			if !c.goTo(start) {
				return false
			}
		case hunks && !c.read(line): // above the first hunk are the names of files
			return false
		}
	}
	return slices.Equal(c.before, c.after)
}

// A diffReader follows a diff through both texts.
type diffReader struct {
	before, after []string // what was not read yet
	at            int      // how many lines of the old text were read
}

// goTo reads the old text up to a line. Nothing changes between two hunks.
func (c *diffReader) goTo(line int) bool {
	for c.at < line {
		if len(c.before) == 0 || !c.read(" "+c.before[0]) {
			return false
		}
	}
	return true
}

// read reads a line of a hunk. It returns false if the texts do not have it.
func (c *diffReader) read(line string) bool {
	if line == "" {
		return false
	}
	switch text := line[1:]; line[0] {
	case ' ':
		c.at++
		return take(&c.before, text) && take(&c.after, text)
	case '-':
		c.at++
		return take(&c.before, text)
	case '+':
		return take(&c.after, text)
	case '\\': // no newline at the end
		return true
	}
	return false
}

func take(from *[]string, line string) bool {
	if len(*from) == 0 || (*from)[0] != line {
		return false
	}
	*from = (*from)[1:]
	return true
}

// textLines splits a text into lines, without their line ends.
func textLines(s string) []string {
	var lines []string
	for line := range strings.Lines(s) {
		lines = append(lines, strings.TrimRight(line, "\r\n"))
	}
	return lines
}
