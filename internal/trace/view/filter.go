package view

import (
	"bytes"
	"path"
	"strings"

	"github.com/a2astdio/a2astdio/internal/trace"
)

// Values of [Filter.Direction].
const (
	FromEditor = "from-editor"
	ToEditor   = "to-editor"
	FromAgent  = "from-agent"
	ToAgent    = "to-agent"
)

// A Filter picks records. An empty member picks all.
type Filter struct {
	// Method is a method, or the kind of an update or event, with * for any text.
	Method string
	// Task and Session are IDs, or their beginnings.
	Task, Session string
	Direction     string
	// Text is part of the record.
	Text string
	// Bad picks errors, cuts and refusals.
	Bad bool

	task map[int64]string // of exchanges
}

// Picks reports whether to show a record. It needs all records in their order: an
// event's task is that of its exchange.
func (f *Filter) Picks(r *trace.Record, it *Item) bool {
	task := it.Task
	if f.Task != "" && it.Exchange > 0 {
		if f.task == nil {
			f.task = map[int64]string{}
		}
		switch {
		case task != "":
			f.task[it.Exchange] = task
		default:
			task = f.task[it.Exchange]
		}
		if it.reason != "" {
			delete(f.task, it.Exchange)
		}
	}
	switch {
	case f.Method != "" && !matches(f.Method, it.Name) && !matches(f.Method, r.Method),
		f.Task != "" && !strings.HasPrefix(task, f.Task),
		f.Session != "" && !strings.HasPrefix(it.Session, f.Session),
		f.Bad && !it.Bad,
		f.Direction != "" && f.Direction != direction(it):
		return false
	}
	return f.Text == "" || f.holds(r, it)
}

func matches(pattern, name string) bool {
	// path.Match stops * at a slash, which methods have.
	ok, err := path.Match(strings.ReplaceAll(pattern, "/", "\x00"), strings.ReplaceAll(name, "/", "\x00"))
	return err == nil && ok && name != ""
}

func direction(it *Item) string {
	switch {
	case it.From == LaneEditor:
		return FromEditor
	case it.To == LaneEditor:
		return ToEditor
	case it.From == LaneAgent:
		return FromAgent
	case it.To == LaneAgent:
		return ToAgent
	}
	return ""
}

func (f *Filter) holds(r *trace.Record, it *Item) bool {
	text := strings.ToLower(f.Text)
	b, _ := r.Payload()
	return bytes.Contains(bytes.ToLower(b), []byte(text)) ||
		strings.Contains(strings.ToLower(it.Name+" "+it.Text+" "+r.URL), text)
}
