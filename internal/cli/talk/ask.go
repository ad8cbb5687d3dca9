package talk

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/ask"
)

// askTerminal puts questions to the user, and closes the terminal. It returns at once
// when ctx ends.
func askTerminal(ctx context.Context, tty io.ReadWriteCloser, questions []mapping.Question) ([]mapping.Answer, error) {
	defer tty.Close()
	answers, ended, err := frame.Await(ctx, func() (answers []mapping.Answer, err error) {
		lines := bufio.NewReader(tty)
		for _, q := range questions {
			a, err := askOne(ctx, tty, lines, q)
			if err != nil {
				return nil, err
			}
			answers = append(answers, a)
		}
		return answers, nil
	})
	if !ended {
		// The cursor stands behind the question.
		_, _ = io.WriteString(tty, "\n")
	}
	return answers, err
}

// askOne shows a question and reads until there is an answer. The end of input is no
// answer.
func askOne(ctx context.Context, tty io.ReadWriter, lines *bufio.Reader, q mapping.Question) (mapping.Answer, error) {
	content := (*string)(nil) // the proposed text as the user has edited it
	show := true
	for {
		if show {
			if _, err := io.WriteString(tty, "\n"+describe(frame.StyleOf(tty), frame.WidthOf(tty), &q, content)); err != nil {
				return mapping.Answer{}, err
			}
			if frame.Flush(tty) {
				lines.Reset(tty)
			}
		}
		if _, err := fmt.Fprintf(tty, "%s ", frame.StyleOf(tty).Bold("Which? ["+keys(&q, content)+"]")); err != nil {
			return mapping.Answer{}, err
		}
		line, err := lines.ReadString('\n')
		line = strings.ToLower(strings.TrimSpace(line))
		if o, ok := choice(line, &q); ok {
			a := mapping.Answer{Call: q.Call, OptionID: o.ID}
			if o.Allows() {
				a.NewContent = content
			}
			return a, nil
		}
		if errors.Is(err, frame.ErrResumed) {
			show = true
			continue
		}
		if err == io.EOF {
			_, _ = io.WriteString(tty, "\n") // the cursor stands behind the question
			return mapping.Answer{Call: q.Call}, nil
		}
		if err != nil {
			return mapping.Answer{}, err
		}
		switch show = false; {
		case line == "e" && q.TakesContent():
			edited, err := editContent(ctx, tty, &q, content)
			if err != nil {
				_, _ = fmt.Fprintf(tty, "  it cannot be edited: %v\n", err) // the question comes again
				continue
			}
			content, show = edited, true
		case line == "?":
			show = true
		case line == "v" && q.Call.Confirmation.Edit != nil:
			if _, err := io.WriteString(tty, diff(frame.StyleOf(tty), frame.WidthOf(tty), editOf(&q, content), true)); err != nil {
				return mapping.Answer{}, err
			}
		case line != "":
			if _, err := fmt.Fprintf(tty, "  %s is none of these; ? shows them again\n", frame.Short(safe.Plain(line), MinText)); err != nil {
				return mapping.Answer{}, err
			}
		}
	}
}

// choiceIndent is the column of the choices' names.
const choiceIndent = 10

// writeChoice writes a choice, wrapped to the terminal: its key, name and meaning. The
// texts come from the agent.
func writeChoice(b *strings.Builder, s frame.Style, width int, key, name, description string) {
	for i, line := range hangWords(name, width-choiceIndent) {
		if i > 0 {
			key = ""
		}
		fmt.Fprintf(b, "%s%s%s\n", s.Bold(key), strings.Repeat(" ", choiceIndent-len(key)), line)
	}
	if description == "" {
		return
	}
	for _, line := range hangWords(description, width-choiceIndent) {
		b.WriteString(strings.Repeat(" ", choiceIndent) + s.Dim(line) + "\n")
	}
}

// MinText is the least width of a column of text.
const MinText = 20

// keyOf returns our letter for an option, "" if it has none.
func keyOf(q *mapping.Question, o mapping.Option) string {
	if once, ok := q.AllowOnce(); ok && once.ID == o.ID {
		return "y"
	}
	if always, ok := q.AllowAlways(); ok && always.ID == o.ID {
		return "a"
	}
	if q.Reject().ID == o.ID {
		return "n"
	}
	return ""
}

// keys lists the keys that a question takes.
func keys(q *mapping.Question, content *string) string {
	list := ""
	switch n := len(q.Options); n {
	case 0:
	case 1:
		list = "1,"
	default:
		list = fmt.Sprintf("1-%d,", n)
	}
	if _, ok := q.AllowOnce(); ok {
		list += "y,"
	}
	list += "n,"
	if _, ok := q.AllowAlways(); ok {
		list += "a,"
	}
	if q.TakesContent() {
		list += "e,"
	}
	if f := editOf(q, content); f != nil && ask.FirstLines(ask.Unified(f)) != all(f) {
		list += "v,"
	}
	return list + "?"
}

// choice finds the option that a line names, by number or by one of our words.
func choice(line string, q *mapping.Question) (mapping.Option, bool) {
	if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(q.Options) {
		return q.Options[n-1], true
	}
	switch line {
	case "y", "yes":
		return q.AllowOnce()
	case "n", "no":
		return q.Reject(), true
	case "a", "always":
		return q.AllowAlways()
	}
	return mapping.Option{}, false
}

// describe shows what the agent asks, and the choices. Our words begin in the third
// column, and what is the agent's stands behind them, or further to the right. content, if
// not nil, is the proposed text as the user has edited it.
func describe(s frame.Style, width int, q *mapping.Question, content *string) string {
	var b strings.Builder
	b.WriteString(s.Bold("The agent asks:") + "\n")
	lines := ask.Lines(q.Call, nil)
	said := slices.IndexFunc(lines, func(l ask.Line) bool { return l.Said })
	if said < 0 {
		said = len(lines)
	}
	for _, l := range lines[:said] {
		writeLine(&b, s, width, l)
	}
	if f := editOf(q, content); f != nil {
		b.WriteString(diff(s, width, f, false))
	}
	for _, l := range lines[said:] {
		writeLine(&b, s, width, l)
	}
	for i, o := range q.Options {
		lead := fmt.Sprintf("  %d", i+1)
		if k := keyOf(q, o); k != "" {
			lead += " or " + k
		}
		writeChoice(&b, s, width, lead, ask.OneLine(o.Name), ask.Beginning(o.Description))
	}
	if q.TakesContent() {
		writeChoice(&b, s, width, "  e", "Edit the text first, in $VISUAL or $EDITOR", "")
	}
	if f := editOf(q, content); f != nil && ask.FirstLines(ask.Unified(f)) != all(f) {
		writeChoice(&b, s, width, "  v", "Show all of the change", "")
	}
	writeChoice(&b, s, width, "  ?", "Show this again", "")
	return b.String()
}

// editOf is the change that is asked about, nil if there is none.
func editOf(q *mapping.Question, content *string) *mapping.FileDiff {
	if q.Call.Confirmation == nil || q.Call.Confirmation.Edit == nil {
		return nil
	}
	edit := *q.Call.Confirmation.Edit
	if content != nil {
		edit.NewContent, edit.Formatted = *content, ""
	}
	return &edit
}

// writeLine writes a line of ours, with what is the agent's in it.
func writeLine(b *strings.Builder, s frame.Style, width int, l ask.Line) {
	paint := s.Yellow
	switch {
	case strings.HasPrefix(l.Label, "warning"):
		paint = s.Red
	case l.Said:
		paint = s.Dim
	}
	text := l.Label
	if l.Text != "" {
		text += ": " + l.Text
	}
	for i, row := range hang(text, width-agentIndent) {
		if i == 0 {
			b.WriteString(ourIndent + paint(row) + "\n")
		} else {
			b.WriteString(strings.Repeat(" ", agentIndent) + paint(row) + "\n")
		}
	}
}

const (
	ourIndent   = "  "
	agentIndent = 6
)

// hangWords is hang that breaks between words, where it can.
func hangWords(text string, width int) (rows []string) {
	for _, line := range frame.Wrap(text, max(width, MinText)) {
		rows = append(rows, hang(line, width)...)
	}
	return rows
}

// hang breaks a text into rows of at most width columns. Nothing is left out.
func hang(text string, width int) (rows []string) {
	width = max(width, MinText)
	for line := range strings.SplitSeq(safe.Plain(strings.ReplaceAll(text, "\t", "    ")), "\n") {
		from, n := 0, 0
		for i, r := range line {
			w := displaywidth.Rune(r)
			if n+w > width {
				rows = append(rows, line[from:i])
				from, n = i, 0
			}
			n += w
		}
		rows = append(rows, line[from:])
	}
	return rows
}
