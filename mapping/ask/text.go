package ask

import (
	"cmp"
	"fmt"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"github.com/a2astdio/a2astdio/mapping/calls"
)

// This file is for text that people read, in whatever editor.

// Named is a name for people, who would not see that it is empty.
func Named(s string) string { return cmp.Or(s, "(no name)") }

// TitleMax is how much of a command or an argument a title takes: a line of an
// editor's panel.
const TitleMax = 200

// OneLine returns the first line of a text, shortened, with all its characters made visible.
func OneLine(s string) string {
	s, _, more := strings.Cut(strings.TrimSpace(s), "\n")
	s = Visible(s)
	if len(s) > TitleMax {
		s, more = strings.ToValidUTF8(s[:TitleMax], ""), true
	}
	if more {
		s += " …"
	}
	if s == "" {
		return "tool"
	}
	return s
}

// Split divides text at most n bytes in, not inside a character.
func Split(text string, n int) (head, rest string) {
	if len(text) <= n {
		return text, ""
	}
	for back := 0; back < utf8.UTFMax && !utf8.RuneStart(text[n]); back++ {
		n--
	}
	return text[:n], text[n:]
}

// MoreNote says how much was left out.
func MoreNote(n int) string { return "[" + strconv.Itoa(n) + " bytes more are not shown]" }

// AtMost is the beginning of a text, n bytes at most, and how much was left out.
func AtMost(text string, n int) string {
	head, rest := Split(text, n)
	if rest != "" {
		head += "\n" + MoreNote(len(rest))
	}
	return head
}

// AtLast is the end of a text, n bytes or few more, behind how much was left out. The end of a long
// output is what tells how it went.
func AtLast(text string, n int) string {
	if len(text) <= n {
		return text
	}
	head, end := Split(text, len(text)-n)
	return MoreNote(len(head)) + "\n" + end
}

// LongestTicks is the length of the longest row of backticks in s.
func LongestTicks(s string) (longest int) {
	for {
		at := strings.IndexByte(s, '`')
		if at < 0 {
			return longest
		}
		s = s[at:]
		n := 1
		for n < len(s) && s[n] == '`' {
			n++
		}
		longest, s = max(longest, n), s[n:]
	}
}

// FirstLines returns a change as it is shown where it is shown as lines, made visible.
func FirstLines(change string) string {
	lines := strings.SplitN(strings.TrimRight(change, "\n"), "\n", ChangeLines+1)
	more := ""
	if len(lines) > ChangeLines {
		more = fmt.Sprintf("\n[… %d lines more are not shown]", strings.Count(lines[ChangeLines], "\n")+1)
		lines = lines[:ChangeLines]
	}
	for i, l := range lines {
		lines[i], _ = beginningAndEnd(l, lineMax)
	}
	return strings.Join(lines, "\n") + more
}

// Beginning returns what the agent says as it is shown, made visible.
func Beginning(said string) string { return beginningOnly(said, saidMax) }

// Unified is the change of a file as a diff of its texts. The agent's own diff is shown
// only where it is all that is known: elsewhere the user would approve what it leaves
// out.
func Unified(f *calls.FileDiff) string {
	if f.OldContent == nil && f.NewContent == "" {
		return f.Formatted
	}
	from, old, name := "/dev/null", "", path.Base(cmp.Or(f.FilePath, f.FileName))
	if f.OldContent != nil {
		from, old = "a/"+name, *f.OldContent
	}
	return udiff.Unified(from, "b/"+name, old, f.NewContent)
}
