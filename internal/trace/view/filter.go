package view

import (
	"path"
	"strings"

	"github.com/a2astdio/a2astdio/internal/trace"
)

// A Filter picks records. An empty member picks all.
type Filter struct {
	// Method is a method, or the kind of an update or event, with * for any text.
	Method string
	// Session is an ID, or its beginning.
	Session string
	// Bad picks errors, cuts and refusals.
	Bad bool
}

// Picks reports whether to show a record.
func (f *Filter) Picks(r *trace.Record, it *Item) bool {
	return (f.Method == "" || matches(f.Method, it.Name) || matches(f.Method, r.Method)) &&
		strings.HasPrefix(it.Session, f.Session) && (it.Bad || !f.Bad)
}

func matches(pattern, name string) bool {
	// path.Match stops * at a slash, which methods have.
	ok, err := path.Match(strings.ReplaceAll(pattern, "/", "\x00"), strings.ReplaceAll(name, "/", "\x00"))
	return err == nil && ok && name != ""
}

// recentEvents bounds the events that a line can be linked to. A bridge translates at
// once, so older ones cannot be it.
const recentEvents = 4096

// A Linker finds the records of the agent's events that a line to the editor, as the
// bridge has recorded, was made from.
type Linker struct {
	events map[trace.EventRef]int64 // records of events
	order  []trace.EventRef
}

// NewLinker returns a Linker.
func NewLinker() *Linker { return &Linker{events: map[trace.EventRef]int64{}} }

// Add takes the next item and returns the records that it was made from.
func (l *Linker) Add(it *Item) (from []int64) {
	switch {
	case it.From == LaneAgent && (it.Type == TypeEvent || it.Type == TypeReply):
		ref := trace.EventRef{it.Exchange, it.Event}
		if len(l.order) >= recentEvents {
			delete(l.events, l.order[0])
			l.order = l.order[1:]
		}
		l.events[ref] = it.N
		l.order = append(l.order, ref)
	case it.To == LaneEditor:
		for _, ref := range it.from {
			if n, ok := l.events[ref]; ok {
				from = append(from, n)
			}
		}
	}
	return from
}
