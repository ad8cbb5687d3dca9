package cli

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/ask"
)

// maxShown bounds how many lines of a change stand above the question; more would
// scroll the rest away. The agent's own files have all of it, and the user can reject
// it.
const maxShown = 60

// askTerminal puts questions to the user, and closes the terminal. It returns at once
// when ctx ends.
func askTerminal(ctx context.Context, tty io.ReadWriteCloser, questions []mapping.Question) ([]mapping.Answer, error) {
	defer tty.Close()
	answers, ended, err := await(ctx, func() (answers []mapping.Answer, err error) {
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
			if err := showQuestion(tty, q, content); err != nil {
				return mapping.Answer{}, err
			}
		}
		if _, err := fmt.Fprintf(tty, "%s ", styleOf(tty).bold("Which? ["+keys(&q)+"]")); err != nil {
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
		case line != "":
			if _, err := fmt.Fprintf(tty, "  %s is none of these; ? shows them again\n", short(plainText(line), minText)); err != nil {
				return mapping.Answer{}, err
			}
		}
	}
}

// showQuestion shows the call and its choices. All of it comes from the agent.
func showQuestion(tty io.Writer, q mapping.Question, content *string) error {
	s, width := styleOf(tty), widthOf(tty)
	var b strings.Builder
	b.WriteString("\n" + describe(s, q.Call, content))
	for i, o := range q.Options {
		lead := fmt.Sprintf("  %d", i+1)
		if k := keyOf(&q, o); k != "" {
			lead += " or " + k
		}
		writeChoice(&b, s, width, lead, ask.Visible(o.Name), ask.Visible(o.Description))
	}
	if q.TakesContent() {
		writeChoice(&b, s, width, "  e", "Edit the text first, in $VISUAL or $EDITOR", "")
	}
	writeChoice(&b, s, width, "  ?", "Show this again", "")
	_, err := io.WriteString(tty, b.String())
	return err
}

// choiceIndent is the column of the choices' names.
const choiceIndent = 10

// writeChoice writes a choice, wrapped to the terminal: its key, name and meaning. The
// texts come from the agent.
func writeChoice(b *strings.Builder, s style, width int, key, name, description string) {
	for i, line := range wrap(plainText(name), max(width-choiceIndent, minText)) {
		if i > 0 {
			key = ""
		}
		fmt.Fprintf(b, "%s%s%s\n", s.bold(key), strings.Repeat(" ", choiceIndent-len(key)), line)
	}
	if description == "" {
		return
	}
	for _, line := range wrap(plainText(description), max(width-choiceIndent, minText)) {
		b.WriteString(strings.Repeat(" ", choiceIndent) + s.dim(line) + "\n")
	}
}

// minText is the least width of a column of text.
const minText = 20

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
func keys(q *mapping.Question) string {
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

// describe tells what the agent wants to do. content, if not nil, is the proposed text
// as the user has edited it.
func describe(s style, c *mapping.ToolCall, content *string) string {
	var b strings.Builder
	b.WriteString(s.bold(plainText("The agent asks: "+ask.Visible(toolName(c)))) + "\n")
	indent := func(text string, paint func(string) string) {
		for i, line := range strings.Split(plainText(ask.Visible(text)), "\n") {
			if i > 0 {
				b.WriteString("  ")
			}
			b.WriteString("  " + paint(line) + "\n")
		}
	}
	plain := func(text string) string { return text }
	q := c.Confirmation
	if q == nil {
		return b.String()
	}
	if q.Execute != nil {
		indent("$ "+q.Execute.Command, s.yellow)
		if q.Execute.WorkingDirectory != "" {
			indent("in "+q.Execute.WorkingDirectory, s.dim)
		}
	}
	if q.Edit != nil {
		indent(cmp.Or(q.Edit.FilePath, q.Edit.FileName), s.yellow)
		edit := *q.Edit
		if content != nil {
			edit.NewContent, edit.Formatted = *content, ""
		}
		b.WriteString(diff(s, &edit))
	}
	if q.MCP != nil {
		indent(q.MCP.ToolName+" of the MCP server "+q.MCP.ServerName, s.yellow)
	}
	if q.Generic != nil {
		indent(q.Generic.Description, s.yellow)
	}
	if q.Execute == nil && q.Edit == nil && c.Input != "" {
		indent("with "+string(c.Input), plain)
	}
	if q.Unread != "" {
		indent("and says of it: "+string(q.Unread), plain)
	}
	for _, w := range ask.Warnings(c) {
		indent("Warning: "+w, s.red)
	}
	return b.String()
}
