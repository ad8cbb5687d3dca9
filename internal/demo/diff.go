package demo

import (
	"fmt"
	"strings"
)

// diffContext is the number of unchanged lines around a change.
const diffContext = 3

// unified returns a unified diff of one hunk, from the first to the last differing
// line. It is not minimal, but a demo's edits are small.
func unified(name string, old *string, content string) string {
	before, after, from := []string{}, lines(content), "/dev/null"
	if old != nil {
		before, from = lines(*old), "a/"+name
	}
	same := 0
	for same < len(before) && same < len(after) && before[same] == after[same] {
		same++
	}
	tail := 0
	for tail < len(before)-same && tail < len(after)-same && before[len(before)-1-tail] == after[len(after)-1-tail] {
		tail++
	}
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ b/%s\n", from, name)
	if same == len(before) && same == len(after) {
		return b.String()
	}
	lead, trail := min(same, diffContext), min(tail, diffContext)
	start := same - lead
	fmt.Fprintf(&b, "@@ -%s +%s @@\n", span(start, len(before)-tail+trail), span(start, len(after)-tail+trail))
	put := func(sign string, lines []string) {
		for _, line := range lines {
			b.WriteString(sign + line)
			if !strings.HasSuffix(line, "\n") {
				b.WriteString("\n\\ No newline at end of file\n")
			}
		}
	}
	put(" ", before[start:same])
	put("-", before[same:len(before)-tail])
	put("+", after[same:len(after)-tail])
	put(" ", before[len(before)-tail:len(before)-tail+trail])
	return b.String()
}

// span writes a range of lines. The line before an empty range names it.
func span(start, end int) string {
	if start == end {
		return fmt.Sprintf("%d,0", start)
	}
	return fmt.Sprintf("%d,%d", start+1, end-start)
}

// lines splits text into lines that keep their line feeds.
func lines(s string) []string {
	l := strings.SplitAfter(s, "\n")
	if l[len(l)-1] == "" {
		l = l[:len(l)-1]
	}
	return l
}
