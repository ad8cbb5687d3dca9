package frame

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/internal/safe"
)

const (
	// FieldIndent is the column of the fields' values.
	FieldIndent = 14
	// MaxValue cuts a long value, which nobody reads to its end.
	MaxValue = 300
)

// A Page is text for people: aligned, as wide as help, and without control characters,
// since most of it comes from the agent.
type Page struct{ B strings.Builder }

func (p *Page) String() string { return p.B.String() }

func (p *Page) Heading(text string) {
	if p.B.Len() > 0 {
		p.B.WriteByte('\n')
	}
	p.B.WriteString(safe.Plain(text) + "\n")
}

// Section writes a page under a heading; nothing if it is empty.
func (p *Page) Section(heading string, of *Page) {
	if of.B.Len() > 0 {
		p.Heading(heading)
		p.B.WriteString(of.String())
	}
}

// Field writes a name and its value; nothing for an empty value.
func (p *Page) Field(name, value string) {
	if value != "" {
		p.Hanging(fmt.Sprintf("%-*s", FieldIndent, name), FieldIndent, value)
	}
}

// Hanging writes a text. Its first line begins with lead, the others with indent
// blanks. A longer lead, as of an agent's long name, is a line of its own.
func (p *Page) Hanging(lead string, indent int, text string) {
	if utf8.RuneCountInString(lead) > indent && text != "" {
		p.B.WriteString(strings.TrimRight(safe.Plain(lead), " ") + "\n")
		lead = strings.Repeat(" ", indent)
	}
	for _, line := range Wrap(safe.Plain(text), HelpWidth-indent) {
		p.B.WriteString(strings.TrimRight(safe.Plain(lead)+line, " ") + "\n")
		lead = strings.Repeat(" ", indent)
	}
}

func (p *Page) Text(indent int, text string) {
	p.Hanging(strings.Repeat(" ", indent), indent, text)
}

// Wrap breaks lines between words. It keeps existing line breaks, and the blanks at the
// beginning of a line. It does not break a long word, which is likely to be copied.
func Wrap(text string, width int) (lines []string) {
	text = strings.TrimRight(text, "\n")
	for line := range strings.SplitSeq(text, "\n") {
		if utf8.RuneCountInString(line) <= width {
			lines = append(lines, line)
			continue
		}
		trimmed := strings.TrimLeft(line, " ")
		begin := strings.Repeat(" ", min(len(line)-len(trimmed), width/2))
		current, n := begin, len(begin)
		for word := range strings.SplitSeq(trimmed, " ") {
			w := utf8.RuneCountInString(word)
			switch {
			case n == len(begin):
			case n+1+w > width:
				lines = append(lines, current)
				current, n = begin, len(begin)
			default:
				current, n = current+" ", n+1
			}
			current, n = current+word, n+w
		}
		lines = append(lines, current)
	}
	return lines
}

// Size writes a number of bytes for people.
func Size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	case n < 1000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1000_000)
}

func (p *Program) Show(page *Page) error {
	_, err := io.WriteString(p.Stdout, p.masked(page.String()))
	return err
}

func (p *Program) PrintJSON(v any) error {
	raw, err := rawjson.Marshal(v)
	if err != nil {
		return err
	}
	return p.Document(raw)
}

// Document writes a JSON document to stdout: indented on a terminal, otherwise on one
// line.
func (p *Program) Document(raw []byte) error {
	var b bytes.Buffer
	var err error
	if IsTerminal(p.Stdout) {
		err = json.Indent(&b, raw, "", "  ")
	} else {
		err = json.Compact(&b, raw)
	}
	if err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err = p.JSONOut().Write(b.Bytes())
	return err
}

// JSONOut returns stdout for JSON. For a terminal it escapes control characters.
func (p *Program) JSONOut() io.Writer {
	if IsTerminal(p.Stdout) {
		return escaper{p.Stdout}
	}
	return p.Stdout
}

// An escaper escapes what controls terminals in JSON. It takes whole lines.
type escaper struct{ w io.Writer }

func (e escaper) Write(b []byte) (int, error) {
	var out strings.Builder
	for _, r := range string(b) {
		if r != '\n' && r != '\t' && safe.Plain(string(r)) != string(r) {
			fmt.Fprintf(&out, `\u%04x`, r)
			continue
		}
		out.WriteRune(r)
	}
	if _, err := io.WriteString(e.w, out.String()); err != nil {
		return 0, err
	}
	return len(b), nil
}

// When writes a time stamp for people, in local time.
func When(timestamp, layout string) string {
	t, err := time.Parse(time.RFC3339, timestamp)
	if err != nil {
		return timestamp
	}
	return t.Local().Format(layout)
}

// WriteJSON writes a JSON document as a line.
func WriteJSON(w io.Writer, v any) error {
	b, err := rawjson.Marshal(v)
	if err == nil {
		_, err = w.Write(append(b, '\n'))
	}
	return err
}

func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
