package talk

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/ask"
)

// askTerminal puts questions to the user, and closes the terminal. It returns at once
// when ctx ends.
func askTerminal(ctx context.Context, tty io.ReadWriteCloser, questions []mapping.Question) (answers []mapping.Answer, err error) {
	defer tty.Close()
	asker := &frame.Asker{Ctx: ctx, TTY: tty, Lines: bufio.NewReader(tty), Out: tty}
	for _, q := range questions {
		a, err := askOne(asker, q)
		if err != nil {
			return nil, cmp.Or(ctx.Err(), err)
		}
		answers = append(answers, a)
	}
	return answers, nil
}

// askOne shows a question and reads until there is an answer. The end of input is no
// answer.
func askOne(a *frame.Asker, q mapping.Question) (mapping.Answer, error) {
	style, width := frame.StyleOf(a.TTY), frame.WidthOf(a.TTY)
	// What cannot be written is reported by Line.
	show := func() {
		_, _ = io.WriteString(a.TTY, "\n"+describe(style, width, &q))
		a.Fresh()
	}
	for show(); ; {
		line, err := a.Line(style.Bold("Which? ["+keys(&q)+"]")+" ", show)
		if errors.Is(err, frame.ErrGivenUp) {
			return mapping.Answer{Call: q.Call}, nil
		}
		if err != nil {
			return mapping.Answer{}, err
		}
		line = strings.ToLower(line)
		if o, ok := choice(line, &q); ok {
			return mapping.Answer{Call: q.Call, OptionID: o.ID}, nil
		}
		switch {
		case line == "?":
			show()
		case line == "v" && editOf(&q) != nil:
			_, _ = io.WriteString(a.TTY, diff(style, width, editOf(&q), true))
		case line != "":
			_, _ = fmt.Fprintf(a.TTY, "  %s is none of these; ? shows them again\n", safe.Short(safe.Plain(line), MinText))
		}
	}
}

// choiceIndent is the column of the choices' names.
const choiceIndent = 10

// writeChoice writes a choice, wrapped to the terminal: its key, name and meaning. The
// texts come from the agent.
func writeChoice(b *strings.Builder, s frame.Style, width int, key, name, description string) {
	writeRows(b, s.Bold(key)+strings.Repeat(" ", choiceIndent-len(key)), choiceIndent, hangWords(name, width-choiceIndent), asIs)
	if description != "" {
		writeRows(b, strings.Repeat(" ", choiceIndent), choiceIndent, hangWords(description, width-choiceIndent), s.Dim)
	}
}

// writeRows writes rows: the first behind a lead, and the others indented.
func writeRows(b *strings.Builder, lead string, indent int, rows []string, paint func(string) string) {
	for _, row := range rows {
		b.WriteString(lead + paint(row) + "\n")
		lead = strings.Repeat(" ", indent)
	}
}

func asIs(row string) string { return row }

// MinText is the least width of a column of text.
const MinText = 20

// A letter is ours for an option that is certain to mean this.
type letter struct {
	key, word string
	option    mapping.Option
}

func letters(q *mapping.Question) (list []letter) {
	if once, ok := q.AllowOnce(); ok {
		list = append(list, letter{"y", "yes", once})
	}
	list = append(list, letter{"n", "no", q.Reject()})
	if always, ok := q.AllowAlways(); ok {
		list = append(list, letter{"a", "always", always})
	}
	return list
}

// further lists the keys that are no answer, and what they do.
func further(q *mapping.Question) (list [][2]string) {
	if f := editOf(q); f != nil && ask.FirstLines(ask.Unified(f)) != all(f) {
		list = append(list, [2]string{"v", "Show all of the change"})
	}
	return append(list, [2]string{"?", "Show this again"})
}

func keys(q *mapping.Question) string {
	var list []string
	switch n := len(q.Options); n {
	case 0:
	case 1:
		list = append(list, "1")
	default:
		list = append(list, fmt.Sprintf("1-%d", n))
	}
	for _, l := range letters(q) {
		list = append(list, l.key)
	}
	for _, key := range further(q) {
		list = append(list, key[0])
	}
	return strings.Join(list, ",")
}

// choice finds the option that a line names, by number or by one of our words.
func choice(line string, q *mapping.Question) (mapping.Option, bool) {
	if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(q.Options) {
		return q.Options[n-1], true
	}
	for _, l := range letters(q) {
		if line == l.key || line == l.word {
			return l.option, true
		}
	}
	return mapping.Option{}, false
}

// describe shows what the agent asks, and the choices. Our words begin in the third
// column, and what is the agent's stands behind them, or further to the right.
func describe(s frame.Style, width int, q *mapping.Question) string {
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
	if f := editOf(q); f != nil {
		b.WriteString(diff(s, width, f, false))
	}
	for _, l := range lines[said:] {
		writeLine(&b, s, width, l)
	}
	for i, o := range q.Options {
		lead := fmt.Sprintf("  %d", i+1)
		if at := slices.IndexFunc(letters(q), func(l letter) bool { return l.option.ID == o.ID }); at >= 0 {
			lead += " or " + letters(q)[at].key
		}
		writeChoice(&b, s, width, lead, ask.OneLine(o.Name), ask.Beginning(o.Description))
	}
	for _, key := range further(q) {
		writeChoice(&b, s, width, "  "+key[0], key[1], "")
	}
	return b.String()
}

// editOf returns the change that is asked about, nil if there is none.
func editOf(q *mapping.Question) *mapping.FileDiff {
	if q.Call.Confirmation == nil {
		return nil
	}
	return q.Call.Confirmation.Edit
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
	writeRows(b, ourIndent, agentIndent, hang(text, width-agentIndent), paint)
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
		for i := 0; i < len(line); {
			next := i + unbroken(line[i:])
			w := frame.ColumnsOf(line[i:next])
			if n+w > width {
				rows = append(rows, line[from:i])
				from, n = i, 0
			}
			i, n = next, n+w
		}
		rows = append(rows, line[from:])
	}
	return rows
}

// unbroken is how many bytes at the beginning of a text stay in one row: those of a character, also of
// one that [ask.Visible] has written as \u{…}.
func unbroken(text string) (size int) {
	if strings.HasPrefix(text, `\u{`) {
		if end := strings.IndexByte(text[:min(len(text), len(`\u{10FFFF}`))], '}'); end > 0 {
			return end + 1
		}
	}
	_, size = utf8.DecodeRuneInString(text)
	return size
}

// Values of --approve.
const (
	ApproveAsk    = "ask"
	approveOnce   = "once"
	approveAlways = "always"
	ApproveReject = "reject"
)

// An Approver answers questions as --approve says.
type Approver struct {
	How      string
	Terminal func() (io.ReadWriteCloser, error)
	Say      func(format string, args ...any)
	screen   *frame.Screen // nil: nobody else writes to the terminal
	refused  []string      // titles that were not allowed because there was no terminal
	// interrupted: Ctrl-C came while a question was open; its line has ended.
	Interrupted bool
}

// Ask answers each question. It returns at once when ctx ends. A question without an
// answer has no option: the bridge rejects the call and says so in the result.
func (a *Approver) Ask(ctx context.Context, questions []mapping.Question) ([]mapping.Answer, error) {
	if a.How == ApproveAsk {
		tty, err := a.Terminal()
		if err == nil {
			defer a.screen.Hold()()
			answers, err := askTerminal(ctx, tty, questions)
			a.Interrupted = ctx.Err() != nil
			return answers, err
		}
	}
	answers := make([]mapping.Answer, 0, len(questions))
	for _, q := range questions {
		option := a.option(&q)
		if option == "" {
			a.tell(&q)
		}
		answers = append(answers, mapping.Answer{Call: q.Call, OptionID: option})
	}
	return answers, nil
}

// tell says why a question gets no answer, and what would answer it; once for a title.
func (a *Approver) tell(q *mapping.Question) {
	title := mapping.Title(q.Call)
	if slices.Contains(a.refused, title) {
		return
	}
	a.refused = append(a.refused, title)
	_, certain := q.AllowOnce()
	switch title = safe.Short(title, frame.MaxValue); {
	case a.How != ApproveAsk:
		a.Say("not allowed, because no option of the agent's is certain to allow it: %s; --approve ask asks you on a terminal", title)
	case certain:
		a.Say("not allowed, because there is no terminal to ask you on: %s; --approve once would allow it", title)
	default:
		a.Say("not allowed, because there is no terminal to ask you on: %s; run it on one, since no option is certain to allow it", title)
	}
}

// option picks what the user has said in advance, and nothing wider; "" if no option of
// the agent's means that for certain.
func (a *Approver) option(q *mapping.Question) string {
	switch a.How {
	case ApproveReject:
		return q.Reject().ID
	case approveAlways:
		if o, ok := q.AllowAlways(); ok {
			return o.ID
		}
		fallthrough
	case approveOnce:
		if o, ok := q.AllowOnce(); ok {
			return o.ID
		}
	}
	return ""
}
