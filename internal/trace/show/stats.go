package show

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/a2astdio/a2astdio/internal/trace/view"
)

const (
	// maxRows bounds the rows of a table.
	maxRows = 15
	// maxRowName bounds a name in a table, and roomRow is what the figures beside it take.
	maxRowName = 40
	roomRow    = 50
)

// Stats writes the figures of a trace.
func (p *Printer) Stats(s *view.Stats, spans []view.Span) error {
	var b strings.Builder
	for _, phrase := range []string{s.Start.Time.UTC().Format("2006-01-02 15:04:05 UTC"), p.opts.Plain("a2astdio " + s.Start.Version + ", " + s.Start.System + ", " + s.Start.Mode),
		fmt.Sprintf("%d records in %s, %d that went wrong", s.Records, view.Duration(s.Last), s.Bad)} {
		b.WriteString(p.line(phrase))
	}
	var rows []string
	for _, name := range []string{view.FromEditor, view.ToEditor, view.ToAgent, view.FromAgent} {
		if f := s.Flows[name]; f.Records > 0 {
			rows = append(rows, fmt.Sprintf("%s\t%d\t%s", name, f.Records, size(f.Bytes)))
		}
	}
	p.table(&b, "What passed", "\tmessages\tbytes", rows)
	for _, kind := range []struct{ kind, title, head string }{
		{view.SpanTurn, "Turns", "\tfrom\ttook\tend"}, {view.SpanCall, "Tool calls", "\tfrom\ttook\tend"},
		{view.SpanApproval, "Waits for approval", "\tfrom\ttook\tend"}, {view.SpanReconnect, "Without a connection", "\tfrom\ttook\tend"},
		{view.SpanLeg, "Streams of the agent", "\tfirst event\tevents\tlongest silence\tend"},
	} {
		rows = nil
		for i := range spans {
			if sp := &spans[i]; sp.Kind == kind.kind && (sp.Kind != view.SpanLeg || sp.Events > 0) {
				rows = append(rows, p.span(sp))
			}
		}
		p.table(&b, kind.title, kind.head, rows)
	}
	_, err := io.WriteString(p.w, b.String())
	return err
}

// span is a span's row.
func (p *Printer) span(s *view.Span) string {
	room := maxRowName
	if p.opts.Width > 0 { // a name may be cut; a figure that is cut says nothing
		room = max(8, min(room, p.opts.Width-roomRow))
	}
	end := view.OneLine(p.opts.Plain(s.Status), maxRowName)
	name := view.OneLine(p.opts.Plain(s.Name), room)
	if s.Kind == view.SpanLeg {
		return fmt.Sprintf("(%d) %s\t%s\t%d\t%s\t%s", s.Exchange, name, view.Duration(s.FirstEvent-s.Start), s.Events, view.Duration(s.Silence), end)
	}
	if s.End == 0 {
		return fmt.Sprintf("%s\t%s\t\topen", name, stamp(s.Start))
	}
	return fmt.Sprintf("%s\t%s\t%s\t%s", name, stamp(s.Start), view.Duration(s.End-s.Start), end)
}

// table writes rows, whose cells tabs separate, under a title and a head.
func (p *Printer) table(b *strings.Builder, title, head string, rows []string) {
	if len(rows) == 0 {
		return
	}
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 1, 2, ' ', 0)
	fmt.Fprintln(w, head)
	for _, row := range rows[:min(len(rows), maxRows)] {
		fmt.Fprintln(w, row)
	}
	_ = w.Flush() // into memory
	b.WriteString("\n" + p.color(bold, title) + "\n")
	for line := range strings.Lines(table.String()) {
		b.WriteString(p.line("  " + strings.TrimRight(line, " \n")))
	}
	if left := len(rows) - maxRows; left > 0 {
		b.WriteString(p.line(fmt.Sprintf("  and %d more", left)))
	}
}

// line cuts a line to the terminal.
func (p *Printer) line(s string) string {
	if p.opts.Width > 0 {
		s, _ = fit(s, p.opts.Width)
	}
	return s + "\n"
}

func size(n int64) string {
	switch {
	case n < 10_000:
		return fmt.Sprintf("%d", n)
	case n < 10_000_000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1_000_000)
}
