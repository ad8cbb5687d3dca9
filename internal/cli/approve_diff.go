package cli

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/ask"
)

// unified is the change of a file as a diff of its texts. The agent's own diff is shown
// only where it is all that is known: elsewhere the user would approve what it leaves
// out.
func unified(f *mapping.FileDiff) string {
	if f.OldContent == nil && f.NewContent == "" {
		return f.Formatted
	}
	from, old, name := "/dev/null", "", path.Base(cmp.Or(f.FilePath, f.FileName))
	if f.OldContent != nil {
		from, old = "a/"+name, *f.OldContent
	}
	return udiff.Unified(from, "b/"+name, old, f.NewContent)
}

// diff shows what would change.
func diff(s style, f *mapping.FileDiff) string {
	lines := strings.Split(strings.TrimRight(ask.Visible(unified(f)), "\n"), "\n")
	more := ""
	if n := len(lines) - maxShown; n > 0 {
		lines, more = lines[:maxShown], fmt.Sprintf("    ... and %d lines more\n", n)
	}
	var b strings.Builder
	for _, l := range lines {
		l = plainText(l)
		switch {
		case strings.HasPrefix(l, "+"):
			l = s.green(l)
		case strings.HasPrefix(l, "-"):
			l = s.red(l)
		case strings.HasPrefix(l, "@@"):
			l = s.cyan(l)
		}
		b.WriteString("    " + l + "\n")
	}
	return b.String() + more
}

// changed counts the lines that a change adds and removes.
func changed(f *mapping.FileDiff) (added, removed int) {
	inHunk := false // above the first are the names of files
	for line := range strings.Lines(unified(f)) {
		switch {
		case strings.HasPrefix(line, "@@"):
			inHunk = true
		case inHunk && line[0] == '+':
			added++
		case inHunk && line[0] == '-':
			removed++
		}
	}
	return added, removed
}
