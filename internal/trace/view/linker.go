package view

import "github.com/a2astdio/a2astdio/internal/trace"

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
