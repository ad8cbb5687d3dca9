// Package show writes a trace for a terminal: a line a record, with arrows between
// editor, bridge and agent.
package show

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/internal/trace/check"
	"github.com/a2astdio/a2astdio/internal/trace/view"
)

const (
	// gapShown is the least silence that gets a line of its own.
	gapShown = 1_000_000
	// minWidth is the least width of a line; narrower terminals break it.
	minWidth = 30
)

type Options struct {
	// Width is the terminal's; 0: no limit.
	Width int
	Color bool
	// In is the user's time zone; nil: the local one.
	In *time.Location
	// Alone: there is no editor's wire, and no lane for it. Tap: the other end of the
	// editor's wire is the tapped command.
	Alone, Tap bool
	// Plain makes text safe for a terminal; nil: text stays as it is.
	Plain func(string) string
}

// A Printer writes items as lines.
type Printer struct {
	w    io.Writer
	opts Options
	last int64 // the time of the last line's record
	any  bool
	// calls are the names of tool calls, by ID, for decisions about them.
	calls map[string]string
}

// New returns a Printer.
func New(w io.Writer, opts *Options) *Printer {
	p := &Printer{w: w, calls: map[string]string{}}
	if opts != nil {
		p.opts = *opts
	}
	if p.opts.Plain == nil {
		p.opts.Plain = func(s string) string { return s }
	}
	if p.opts.Width > 0 {
		p.opts.Width = max(p.opts.Width, minWidth)
	}
	return p
}

// The colours are the terminal's own, which fit its background.
const (
	red     = "31"
	green   = "32"
	yellow  = "33"
	magenta = "35"
	cyan    = "36"
	dim     = "2"
	bold    = "1"
)

func (p *Printer) color(code, s string) string {
	if !p.opts.Color || code == "" || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// Finding writes what check has found, below the record with which it was found.
func (p *Printer) Finding(f *check.Finding) error {
	code, text := red, p.opts.Plain(f.String())
	if f.Weight == check.Warning {
		code = yellow
	}
	lead := "      ! "
	if p.opts.Width > 0 {
		text, _ = fit(text, p.opts.Width-utf8.RuneCountInString(lead))
	}
	_, err := io.WriteString(p.w, p.color(code, lead+text)+"\n")
	return err
}

// Item writes a record's line; before it, a line for a long silence.
func (p *Printer) Item(it *view.Item) error {
	var b strings.Builder
	if gap := it.Micros - p.last; p.any && gap >= gapShown {
		b.WriteString(p.color(dim, fmt.Sprintf("%9s  nothing for %s", "", duration(gap))) + "\n")
	}
	p.last, p.any = it.Micros, true
	lead := fmt.Sprintf("%5d %9s %s ", it.N, stamp(it.Micros), p.lanes(it))
	if p.opts.Width > 0 && p.opts.Width < 60 { // the number matters least
		lead = lead[6:]
	}
	name, text := p.opts.Plain(it.Name), p.opts.Plain(p.about(it))
	if it.ID != "" && it.Type != view.TypeEvent {
		name += " #" + p.opts.Plain(strings.Trim(it.ID, `"`))
	}
	if it.Exchange > 0 && (it.Type == view.TypeEvent || it.Type == view.TypeHTTP || it.ID == "") {
		name += fmt.Sprintf(" (%d)", it.Exchange)
	}
	room := -1
	if p.opts.Width > 0 {
		room = p.opts.Width - utf8.RuneCountInString(lead)
	}
	name, room = fit(name, room)
	if text != "" {
		text, _ = fit("  "+text, room)
	}
	b.WriteString(p.color(dim, lead) + p.color(colorOf(it), name) + p.color(textColor(it), text) + "\n")
	_, err := io.WriteString(p.w, b.String())
	return err
}

// duration writes a number of microseconds for people.
func duration(micros int64) string {
	d := time.Duration(micros) * time.Microsecond
	if d < time.Minute {
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// maxCalls bounds the remembered names of tool calls.
const maxCalls = 10_000

// about returns an item's text; a decision's with its call.
func (p *Printer) about(it *view.Item) string {
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

// fit cuts a text to the room that is left, and returns the rest of the room.
func fit(s string, room int) (string, int) {
	if room < 0 {
		return s, room
	}
	n := utf8.RuneCountInString(s)
	switch {
	case n <= room:
		return s, room - n
	case room < 2:
		return "", 0
	}
	return string([]rune(s)[:room-1]) + "…", 0
}

// stamp writes a time since the beginning, in seconds.
func stamp(micros int64) string { return fmt.Sprintf("%d.%03d", micros/1e6, micros/1e3%1e3) }

// lanes draws the arrow between sender and receiver.
func (p *Printer) lanes(it *view.Item) string {
	editor, agent := "E", "A"
	arrow := map[[2]string]string{
		{view.LaneEditor, view.LaneBridge}: editor + "──▶B    ",
		{view.LaneBridge, view.LaneEditor}: editor + "◀──B    ",
		{view.LaneBridge, view.LaneAgent}:  "    B──▶" + agent,
		{view.LaneAgent, view.LaneBridge}:  "    B◀──" + agent,
		{view.LaneAgent, view.LaneEditor}:  editor + "◀──B    ",
	}[[2]string{it.From, it.To}]
	arrow = cmp.Or(arrow, "    B    ")
	switch {
	case p.opts.Alone:
		return strings.TrimPrefix(arrow, "    ")
	case p.opts.Tap:
		return strings.NewReplacer("B    ", "A").Replace(arrow)
	}
	return arrow
}

func colorOf(it *view.Item) string {
	switch {
	case it.Bad:
		return red
	case it.Mark == "ask", it.Mark == "reconnect":
		return yellow
	case len(it.Calls) > 0:
		return magenta
	case it.Type == view.TypeRequest:
		return cyan
	case it.Type == view.TypeReply:
		return green
	case it.Type == view.TypeHTTP, it.Type == view.TypeNote:
		return dim
	}
	return ""
}

func textColor(it *view.Item) string {
	switch {
	case it.Bad:
		return red
	case it.Said != "":
		return ""
	}
	return dim
}

// Legend explains the letters.
func (p *Printer) Legend(start *trace.Record) error {
	what := "E editor, B bridge, A agent"
	switch start.Mode {
	case "tap":
		what = "E client, A the command"
	case "proxy":
		what = "B proxy, A agent"
	case "client":
		what = "B this program, A agent"
	}
	in := cmp.Or(p.opts.In, time.Local)
	begun := start.Time.In(in).Format("2006-01-02 15:04:05 MST")
	text := fmt.Sprintf("%s  a2astdio %s, %s; times are seconds since then\n", begun, p.opts.Plain(start.Version), what)
	if p.opts.Width > 0 && len(text) > p.opts.Width {
		text = begun + "\n" + what + "\n"
	}
	_, err := io.WriteString(p.w, p.color(dim, text))
	return err
}

// Record writes one record completely: its members, then the payload, indented if it is
// JSON.
func (p *Printer) Record(r *trace.Record, it *view.Item) error {
	head := *r
	head.JSON, head.Text, head.Base64 = nil, "", nil
	members, err := json.Marshal(head)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n", p.color(bold, p.opts.Plain(strings.TrimSpace(fmt.Sprintf("record %d: %s %s", r.N, it.Name, it.Text)))))
	if err := json.Indent(&b, members, "", "  "); err != nil {
		return err
	}
	b.WriteString("\n")
	payload, whole := r.Payload()
	if len(payload) > 0 {
		b.WriteString("\n" + p.color(bold, fmt.Sprintf("payload, %d bytes", r.Length())))
		if !whole {
			fmt.Fprintf(&b, "%s", p.color(dim, fmt.Sprintf(", of which these are the first %d", len(payload))))
		}
		b.WriteString("\n")
		var pretty bytes.Buffer
		if json.Indent(&pretty, payload, "", "  ") == nil {
			payload = pretty.Bytes()
		}
		b.WriteString(p.opts.Plain(string(payload)) + "\n")
	}
	_, err = p.w.Write(b.Bytes())
	return err
}
