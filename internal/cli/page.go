package cli

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

const (
	// fieldIndent is the column of the fields' values.
	fieldIndent = 14
	// maxValue cuts a long value, which nobody reads to its end.
	maxValue = 300
)

// A page is text for people: aligned, as wide as help, and without control characters,
// since most of it comes from the agent.
type page struct{ b strings.Builder }

func (p *page) String() string { return p.b.String() }

func (p *page) heading(text string) {
	if p.b.Len() > 0 {
		p.b.WriteByte('\n')
	}
	p.b.WriteString(plainText(text) + "\n")
}

// field writes a name and its value; nothing for an empty value.
func (p *page) field(name, value string) {
	if value != "" {
		p.hanging(fmt.Sprintf("%-*s", fieldIndent, name), fieldIndent, value)
	}
}

// hanging writes a text. Its first line begins with lead, the others with indent
// blanks.
func (p *page) hanging(lead string, indent int, text string) {
	for i, line := range wrap(plainText(text), helpWidth-indent) {
		switch {
		case i > 0 && line == "":
		case i > 0:
			p.b.WriteString(strings.Repeat(" ", indent))
		default:
			p.b.WriteString(plainText(lead))
		}
		p.b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

func (p *page) text(indent int, text string) {
	p.hanging(strings.Repeat(" ", indent), indent, text)
}

// wrap breaks lines between words. It keeps existing line breaks, and the blanks at the
// beginning of a line. It does not break a long word, which is likely to be copied.
func wrap(text string, width int) (lines []string) {
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

// short makes one line of a text, and cuts it.
func short(text string, limit int) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	return string([]rune(text)[:limit-1]) + "…"
}

// size writes a number of bytes for people.
func size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	case n < 1000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1000_000)
}

func (p *program) show(page *page) error {
	_, err := io.WriteString(p.stdout, p.masked(page.String()))
	return err
}

func (p *program) printJSON(v any) error {
	raw, err := encode(v)
	if err != nil {
		return err
	}
	return p.document(raw)
}

// document writes a JSON document to stdout: indented on a terminal, otherwise on one
// line.
func (p *program) document(raw []byte) error {
	var b bytes.Buffer
	var err error
	if isTerminal(p.stdout) {
		err = json.Indent(&b, raw, "", "  ")
	} else {
		err = json.Compact(&b, raw)
	}
	if err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err = p.jsonOut().Write(b.Bytes())
	return err
}

// jsonOut is stdout for JSON. For a terminal it escapes control characters.
func (p *program) jsonOut() io.Writer {
	if isTerminal(p.stdout) {
		return escaper{p.stdout}
	}
	return p.stdout
}

// An escaper escapes what controls terminals in JSON. It takes whole lines.
type escaper struct{ w io.Writer }

func (e escaper) Write(b []byte) (int, error) {
	var out strings.Builder
	for _, r := range string(b) {
		if r != '\n' && r != '\t' && plainText(string(r)) != string(r) {
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

// when writes a time stamp for people, in local time.
func when(timestamp, layout string) string {
	t, err := time.Parse(time.RFC3339, timestamp)
	if err != nil {
		return timestamp
	}
	return t.Local().Format(layout)
}

// partSays describes a part that is no text.
func partSays(part *a2a.Part) string {
	f := part.File
	switch {
	case part.Kind == a2a.PartData:
		return "data: " + short(string(part.Data), maxValue)
	case part.Kind != a2a.PartFile:
		return "something of an unknown kind: " + short(string(part.Raw), maxValue)
	}
	text := "a file"
	if f.Name != "" {
		text += ", " + f.Name
	}
	if f.MediaType != "" {
		text += ", " + f.MediaType
	}
	if f.URI != "" {
		return text + ", at " + f.URI
	}
	return text + ", " + size(int64(base64.StdEncoding.DecodedLen(len(f.Bytes))-strings.Count(f.Bytes[max(0, len(f.Bytes)-2):], "=")))
}

// toolState is a call's state in a word.
func toolState(c *mapping.ToolCall) string {
	if c.Asks {
		return "waits for approval"
	}
	return strings.ToLower(c.Status.String())
}
