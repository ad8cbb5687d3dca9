package show

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/internal/trace/view"
)

const (
	// maxRows bounds the rows of a table: the longest are shown.
	maxRows = 15
	// minName is what stays of the names in a table's first column.
	minName = 8
)

func (p *Printer) Stats(s *view.Stats, spans []view.Span) error {
	var b strings.Builder
	d := view.Duration
	p.phrases(&b, s.Start.Time.UTC().Format("2006-01-02 15:04:05 UTC"), "a2astdio "+p.opts.Plain(s.Start.Version), p.opts.Plain(s.Start.System), s.Start.Mode)
	p.phrases(&b, fmt.Sprintf("%d records in %s", s.Records, d(s.Last)), fmt.Sprintf("%d that went wrong", s.Bad))

	p.table(&b, "What passed", []string{"", "messages", "bytes"}, rows(slices.Values([]string{view.FromEditor, view.ToEditor, view.ToAgent, view.FromAgent}), func(name string) []string {
		f := s.Flows[name]
		if f == nil {
			return nil
		}
		return []string{name, fmt.Sprint(f.Records), size(f.Bytes)}
	}))
	names := slices.SortedFunc(maps.Keys(s.Counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(s.Counts[b], s.Counts[a]), cmp.Compare(a, b))
	})
	p.table(&b, "How often", []string{"", "times"}, rows(slices.Values(names), func(name string) []string {
		return []string{name, fmt.Sprint(s.Counts[name])}
	}))
	p.table(&b, "How long replies took", []string{"", "times", "p50", "p99", "longest"}, rows(slices.Values(slices.Sorted(maps.Keys(s.Methods))), func(name string) []string {
		h := s.Methods[name]
		return []string{name, fmt.Sprint(h.N), d(h.Quantile(0.5)), d(h.Quantile(0.99)), d(h.Max)}
	}))
	p.table(&b, "Streams of the agent", []string{"", "first event", "events", "between: p50", "p99", "longest", "end"}, rows(slices.Values(s.Streams), func(st *view.Stream) []string {
		row := []string{fmt.Sprintf("(%d) %s", st.Exchange, st.Name), d(st.FirstEvent), fmt.Sprint(st.Events), "", "", "", st.Reason}
		if st.Between.N > 0 {
			row[3], row[4], row[5] = d(st.Between.Quantile(0.5)), d(st.Between.Quantile(0.99)), d(st.Silence)
		}
		return row
	}))
	if s.Between.N > 0 {
		b.WriteString("\n")
		p.phrases(&b, "Between events: p50 "+d(s.Between.Quantile(0.5)), "p99 "+d(s.Between.Quantile(0.99)), "longest "+d(s.Between.Max))
	}
	p.table(&b, "Longest silences", []string{"", "after record", ""}, rows(slices.Values(s.Gaps), func(g view.Gap) []string {
		return []string{d(g.Micros), fmt.Sprint(g.After), g.Name}
	}))
	p.spans(&b, spans)
	_, err := io.WriteString(p.w, b.String())
	return err
}

// phrases writes phrases, as many on a line as have room.
func (p *Printer) phrases(b *strings.Builder, list ...string) {
	line := ""
	for _, phrase := range list {
		switch {
		case phrase == "":
		case line == "":
			line = phrase
		case p.opts.Width > 0 && len(line)+2+len(phrase) >= p.opts.Width:
			b.WriteString(line + ",\n")
			line = phrase
		default:
			line += ", " + phrase
		}
	}
	b.WriteString(line + "\n")
}

// spans writes the durations of spans.
func (p *Printer) spans(b *strings.Builder, spans []view.Span) {
	for _, kind := range []struct{ kind, title string }{
		{view.SpanTurn, "Turns"}, {view.SpanCall, "Tool calls"}, {view.SpanApproval, "Waits for approval"}, {view.SpanReconnect, "Without a connection"},
	} {
		p.table(b, kind.title, []string{"", "from", "took", "end"}, rows(slices.Values(spans), func(s view.Span) []string {
			if s.Kind != kind.kind {
				return nil
			}
			took, end := "", "open"
			if s.End > 0 {
				took, end = view.Duration(s.End-s.Start), s.Status
			}
			return []string{view.OneLine(s.Name, 40), stamp(s.Start), took, view.OneLine(end, 40)}
		}))
	}
}

// rows makes rows; it leaves out nil.
func rows[T any](values func(func(T) bool), row func(T) []string) [][]string {
	var all [][]string
	for v := range values {
		if r := row(v); r != nil {
			all = append(all, r)
		}
	}
	return all
}

// table writes rows under a title, in columns, up to maxRows.
func (p *Printer) table(b *strings.Builder, title string, head []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	left := len(rows) - maxRows
	if left > 0 {
		rows = rows[:maxRows]
	}
	widths := make([]int, len(head))
	for _, row := range append([][]string{head}, rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(p.opts.Plain(cell))))
		}
	}
	if p.opts.Width > 0 { // a name may be cut; a figure that is cut says nothing
		over := 2 - p.opts.Width // the line's beginning
		for i, w := range widths {
			over += w + min(i, 1)*2
		}
		widths[0] = min(widths[0], max(minName, widths[0]-over))
	}
	b.WriteString("\n" + p.color(bold, title) + "\n")
	for k, row := range append([][]string{head}, rows...) {
		line := " "
		for i, cell := range row {
			cell = p.opts.Plain(cell)
			if i == 0 {
				cell, _ = fit(cell, widths[0])
			}
			pad := strings.Repeat(" ", widths[i]-len([]rune(cell)))
			if i == 0 || i == len(row)-1 && widths[i] > 8 {
				line += " " + cell + pad
			} else {
				line += "  " + pad + cell
			}
		}
		if line = strings.TrimRight(line, " "); line == "" {
			continue
		}
		if p.opts.Width > 0 {
			line, _ = fit(line, p.opts.Width)
		}
		if k == 0 {
			line = p.color(dim, line)
		}
		b.WriteString(line + "\n")
	}
	if left > 0 {
		b.WriteString(p.color(dim, fmt.Sprintf("  and %d more\n", left)))
	}
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
