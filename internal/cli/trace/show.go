package trace

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/internal/trace/check"
	"github.com/a2astdio/a2astdio/internal/trace/view"
)

func traceShow(p *frame.Program, c *cli.Context) error {
	r, file, err := openTraceFile(p, c)
	if err != nil {
		return err
	}
	defer r.Close()
	if c.Bool("follow") && file == "-" {
		return frame.Usagef("--follow needs a file: stdin is read until it ends anyway")
	}
	s := &shower{c: c, r: r, json: frame.AsJSON(c), out: bufio.NewWriter(p.Stdout)}
	s.printer = &printer{w: s.out, style: frame.StyleOf(p.Stdout), calls: map[string]string{}}
	s.width, _ = strconv.Atoi(os.Getenv("COLUMNS")) // 0 for what is no number
	if s.width <= 0 && frame.IsTerminal(p.Stdout) {
		s.width = frame.WidthOf(p.Stdout)
	}
	if s.width > 0 {
		s.width = max(s.width, minWidth)
	}
	s.check = check.New(&check.Options{Report: func(f *check.Finding) { s.found = append(s.found, *f) }})
	err = cmp.Or(s.run(), s.out.Flush())
	noteTrace(p, r)
	return err
}

// A shower is one run of trace show.
type shower struct {
	*printer
	c     *cli.Context
	r     *trace.Reader
	json  bool
	out   *bufio.Writer
	check *check.Checker
	found []check.Finding // with the last record
}

var errFound = errors.New("found")

func (s *shower) run() error {
	for {
		rec, err := s.r.Next()
		switch {
		case err == nil:
			if err = s.record(rec); errors.Is(err, errFound) {
				return nil
			}
		case err == io.EOF && s.c.Bool("follow"):
			if err = s.out.Flush(); err == nil {
				err = s.r.Wait(s.c.Context)
			}
		case err == io.EOF && frame.IsSet(s.c, "record"):
			return errors.New("trace: there is no record " + s.c.String("record"))
		case err == io.EOF:
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (s *shower) record(rec *trace.Record) error {
	if s.mode == "" { // the first record tells the kind of trace
		if s.mode = cmp.Or(rec.Mode, "bridge"); !s.json && !frame.IsSet(s.c, "record") {
			s.legend(rec, time.Local)
		}
	}
	it := view.Of(rec)
	s.found = s.found[:0]
	s.check.Add(rec)
	for _, f := range s.found {
		it.Bad = it.Bad || f.Record == rec.N
	}
	switch {
	case frame.IsSet(s.c, "record"):
		if rec.N != int64(s.c.Int("record")) {
			return nil
		}
		var all bytes.Buffer
		_ = json.Indent(&all, s.r.Line(), "", "  ") // it was read as JSON
		fmt.Fprintln(s.out, safe.Plain(all.String()))
		s.findings()
		return errFound
	case s.c.Bool("failed") && !it.Bad && len(s.found) == 0:
	case s.json:
		fmt.Fprintf(s.out, "%s\n", s.r.Line())
	default:
		if rec.Kind != trace.KindStart && rec.Kind != trace.KindStop { // the legend has told it
			s.item(&it)
		}
		s.findings()
	}
	_, err := s.out.Write(nil) // the error of any of these writes
	return err
}

const (
	// gapShown is the least silence that gets a line of its own, in microseconds.
	gapShown = 1_000_000
	// minWidth is the least width of a line; narrower terminals break it.
	minWidth = 30
	// maxCalls bounds the remembered names of tool calls.
	maxCalls = 10_000
)

// A printer writes items as lines, with arrows between editor, bridge and agent. Its writer keeps
// the first error.
type printer struct {
	w     io.Writer
	width int // the terminal's; 0: no limit
	style frame.Style
	mode  string // of the trace: which lanes there are
	last  int64  // the time of the last line's record
	any   bool
	calls map[string]string // names of tool calls, by ID, for decisions about them
}

// findings writes what check has found, below the record with which it was found.
func (s *shower) findings() {
	for i := range s.found {
		paint := s.style.Red
		if s.found[i].Weight == check.Warning {
			paint = s.style.Yellow
		}
		fmt.Fprintln(s.w, paint(s.cut("      ! "+safe.Plain(s.found[i].String()), "")))
	}
}

// item writes a record's line; before it, a line for a long silence.
func (p *printer) item(it *view.Item) {
	if gap := it.Micros - p.last; p.any && gap >= gapShown {
		fmt.Fprintln(p.w, p.style.Dim(fmt.Sprintf("%9s  nothing for %s", "", duration(gap))))
	}
	p.last, p.any = it.Micros, true
	lead := fmt.Sprintf("%5d %9s %s ", it.N, fmt.Sprintf("%d.%03d", it.Micros/1e6, it.Micros/1e3%1e3), p.lanes(it))
	if p.width > 0 && p.width < 60 { // the number matters least
		lead = lead[6:]
	}
	name, text := it.Name, p.about(it)
	if it.ID != "" && it.Type != view.TypeEvent {
		name += " #" + strings.Trim(it.ID, `"`)
	}
	if it.Exchange > 0 && (it.Type == view.TypeEvent || it.Type == view.TypeHTTP || it.ID == "") {
		name += fmt.Sprintf(" (%d)", it.Exchange)
	}
	if name = p.cut(safe.Plain(name), lead); text != "" {
		text = p.cut("  "+safe.Plain(text), lead+name)
	}
	paint, paintText := p.paints(it)
	fmt.Fprintln(p.w, p.style.Dim(lead)+paint(name)+paintText(text))
}

// duration writes a number of microseconds for people.
func duration(micros int64) string {
	d := time.Duration(micros) * time.Microsecond
	if d < time.Minute {
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// about returns an item's text; a decision's with its call.
func (p *printer) about(it *view.Item) string {
	for _, c := range it.Calls {
		if c.Name != "" && (len(p.calls) < maxCalls || p.calls[c.ID] != "") {
			p.calls[c.ID] = c.Name
		}
	}
	if it.Type != view.TypeDecision || len(it.Calls) == 0 {
		return it.Text
	}
	return strings.Trim(p.calls[it.Calls[0].ID]+": "+it.Text, ": ")
}

// cut cuts a text to what is left of a line behind another one.
func (p *printer) cut(s, before string) string {
	room := p.width - frame.ColumnsOf(before)
	switch {
	case p.width == 0:
		return s
	case room < 2:
		return ""
	}
	return frame.CutTo(s, room)
}

// lanes draws the arrow between sender and receiver.
func (p *printer) lanes(it *view.Item) string {
	arrow := cmp.Or(map[string]string{
		view.LaneEditor + view.LaneBridge: "E──▶B    ",
		view.LaneBridge + view.LaneEditor: "E◀──B    ",
		view.LaneBridge + view.LaneAgent:  "    B──▶A",
		view.LaneAgent + view.LaneBridge:  "    B◀──A",
		view.LaneAgent + view.LaneEditor:  "E◀──B    ",
	}[it.From+it.To], "    B    ")
	switch p.mode {
	case "client", "proxy": // there is no editor
		return strings.TrimPrefix(arrow, "    ")
	case "tap":
		return strings.Replace(arrow, "B    ", "A", 1)
	}
	return arrow
}

// paints returns the colours of an item's name and text. They are the terminal's own, which fit
// its background.
func (p *printer) paints(it *view.Item) (name, text func(string) string) {
	as := func(s string) string { return s }
	if text = p.style.Dim; it.Said != "" {
		text = as
	}
	switch {
	case it.Bad:
		return p.style.Red, p.style.Red
	case it.Mark == "ask", it.Mark == "reconnect":
		return p.style.Yellow, text
	case len(it.Calls) > 0:
		return p.style.Magenta, text
	case it.Type == view.TypeRequest:
		return p.style.Cyan, text
	case it.Type == view.TypeReply:
		return p.style.Green, text
	case it.Type == view.TypeHTTP, it.Type == view.TypeNote:
		return p.style.Dim, text
	}
	return as, text
}

// legend takes a trace's first record, and explains the letters. in is the user's time zone.
func (p *printer) legend(start *trace.Record, in *time.Location) {
	what := cmp.Or(map[string]string{"tap": "E client, A the command", "proxy": "B proxy, A agent", "client": "B this program, A agent"}[start.Mode],
		"E editor, B bridge, A agent")
	begun := start.Time.In(in).Format("2006-01-02 15:04:05 MST")
	text := fmt.Sprintf("%s  a2astdio %s, %s; times are seconds since then\n", begun, safe.Plain(start.Version), what)
	if p.width > 0 && len(text) > p.width {
		text = begun + "\n" + what + "\n"
	}
	fmt.Fprint(p.w, p.style.Dim(text))
}
