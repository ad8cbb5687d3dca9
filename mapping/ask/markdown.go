package ask

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/mapping/calls"
)

// Markdown says as Markdown what the user is asked. All that the agent says stands in
// fences, and short values in spans of code, behind words of ours and in paragraphs of
// their own: nothing in them ends these, so that nothing can hide the lines behind. A
// change is there only if the agent shows it as text alone: editors show others.
func Markdown(c *calls.ToolCall, options []Option) string {
	if q := c.Confirmation; q != nil && q.Edit.OnlyFormatted() {
		return WholeMarkdown(c, options)
	}
	return markdown(Lines(c, options))
}

// WholeMarkdown is Markdown with each change, for clients that show no others.
func WholeMarkdown(c *calls.ToolCall, options []Option) string {
	lines := Lines(c, options)
	if q := c.Confirmation; q != nil && q.Edit != nil {
		at := slices.IndexFunc(lines, func(l Line) bool { return l.Said })
		if at < 0 {
			at = len(lines)
		}
		lines = slices.Insert(lines, at, Line{Label: "the change", Text: FirstLines(Unified(q.Edit)), Language: "diff", Block: true})
	}
	return markdown(lines)
}

func markdown(lines []Line) string {
	var b strings.Builder
	for i, l := range lines {
		if i > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(strings.ToUpper(l.Label[:1]) + l.Label[1:])
		switch {
		case l.Text == "":
			b.WriteString(".")
		case !l.Block && isShort(l.Text):
			b.WriteString(": `" + l.Text + "`")
		default:
			b.WriteString(":\n\n")
			fenced(&b, l.Language, l.Text)
		}
	}
	return b.String()
}

// fenced adds text as it is, whatever it holds.
func fenced(b *strings.Builder, language, text string) {
	fence := strings.Repeat("`", max(LongestTicks(text)+1, 3))
	b.WriteString(fence + language + "\n" + text + "\n" + fence)
}

// isShort reports whether a text fits into a line, and is whole there.
func isShort(text string) bool {
	return utf8.RuneCountInString(text) <= TitleMax && !strings.ContainsAny(text, "`\n\t") && strings.TrimSpace(text) == text &&
		!strings.Contains(text, "  ")
}
