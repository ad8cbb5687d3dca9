package cli

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// Text for people is written for 80 columns. It is wrapped anew for a narrower
// terminal, which would break words.

const (
	// narrowIndent is the second column's indent where it has no room beside the first.
	narrowIndent = 8
	// raggedness is how many columns before the edge a line may end and still continue in
	// the next one.
	raggedness = 6
)

// column finds where a line's text begins: behind its first words, if blanks separate
// them from the rest, or behind two such columns.
var column = regexp.MustCompile(`^ *\S+(?: \S+)* {2,}(?:\S+(?: \S+)? {2,})?`)

// A paragraph is a run of lines, each of which continues the one before.
type paragraph struct {
	lead string // what stands before the text: blanks, or a first column
	text string
	last string // its last line
}

// narrow wraps a text of 80 columns for fewer. Its lines end where the next word has no
// room, or up to ragged columns before.
func narrow(text string, width, ragged int) string {
	if width >= helpWidth {
		return text
	}
	var all []*paragraph
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		lead := line[:len(line)-len(strings.TrimLeft(line, " "))]
		rest := line[len(lead):]
		if n := len(all); n > 0 && all[n-1].goesOn(lead, rest, ragged) {
			all[n-1].text, all[n-1].last = all[n-1].text+" "+rest, line
			continue
		}
		if first := column.FindString(line); first != "" {
			lead, rest = first, line[len(first):]
		}
		all = append(all, &paragraph{lead, rest, line})
	}
	var b strings.Builder
	for _, p := range all {
		p.write(&b, width)
	}
	return b.String()
}

// goesOn reports whether a line continues the paragraph: it stands below the text, and
// its first word had no room above.
func (p *paragraph) goesOn(lead, rest string, ragged int) bool {
	word, _, _ := strings.Cut(rest, " ")
	return word != "" && p.text != "" && utf8.RuneCountInString(p.lead) == len(lead) && !column.MatchString(lead+rest) &&
		utf8.RuneCountInString(p.last)+1+utf8.RuneCountInString(word) > helpWidth-ragged
}

func (p *paragraph) write(b *strings.Builder, width int) {
	lead, text := p.lead, p.text
	indent, first := utf8.RuneCountInString(lead), strings.TrimRight(lead, " ")
	switch {
	case indent+utf8.RuneCountInString(text) <= width:
		b.WriteString(strings.TrimRight(lead+text, " ") + "\n")
		return
	case first == "" && indent == 2: // a command, which is likely to be copied
		b.WriteString(lead + text + "\n")
		return
	case first != "" && indent > width/2:
		b.WriteString(first + "\n")
		indent = narrowIndent
		lead = strings.Repeat(" ", indent)
	}
	for i, line := range wrap(text, width-indent) {
		if i > 0 {
			lead = strings.Repeat(" ", indent)
		}
		b.WriteString(lead + line + "\n")
	}
}

// fitting wraps text to the width of stdout.
func (p *program) fitting(text string, ragged int) string {
	if !isTerminal(p.stdout) {
		return text
	}
	return narrow(text, widthOf(p.stdout), ragged)
}
