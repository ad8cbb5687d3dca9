package talk

import (
	"strings"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/ask"
)

// diff shows what would change: its first lines, or all of it.
func diff(s frame.Style, width int, f *mapping.FileDiff, whole bool) string {
	text := ask.FirstLines(ask.Unified(f))
	if whole {
		text = all(f)
	}
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		paint := asIs
		switch {
		case strings.HasPrefix(line, "+"):
			paint = s.Green
		case strings.HasPrefix(line, "-"):
			paint = s.Red
		case strings.HasPrefix(line, "@@"):
			paint = s.Cyan
		}
		writeRows(&b, "    ", agentIndent, hang(line, width-agentIndent), paint)
	}
	return b.String()
}

func all(f *mapping.FileDiff) string { return ask.Visible(strings.TrimRight(ask.Unified(f), "\n")) }

// changed counts the lines that a change adds and removes.
func changed(f *mapping.FileDiff) (added, removed int) {
	inHunk := false // above the first are the names of files
	for line := range strings.Lines(ask.Unified(f)) {
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
