package view

import (
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/internal/trace"
)

const (
	// recentEvents bounds the events that a line can be linked to, recentSaid the lines of
	// the editor that a request can. A bridge translates at once, so older ones cannot be
	// it.
	recentEvents = 4096
	recentSaid   = 256
)

// A Linker finds which records of one wire became a record of the other. Of lines to the
// editor the bridge has recorded it; requests to the agent are compared with what the
// editor said.
type Linker struct {
	events map[trace.EventRef]int64 // records of events
	order  []trace.EventRef
	editor []said // oldest first
}

// said is what the editor said.
type said struct {
	n          int64
	name, text string
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
	case it.From == LaneEditor:
		if len(l.editor) >= recentSaid {
			l.editor = slices.Delete(l.editor, 0, recentSaid/2)
		}
		l.editor = append(l.editor, said{it.N, it.Name, it.Text})
	case it.To == LaneAgent && it.Type == TypeRequest:
		for _, s := range slices.Backward(l.editor) {
			if s.became(it) {
				return []int64{s.n}
			}
		}
	case it.To == LaneEditor:
		for _, ref := range it.from {
			if n, ok := l.events[ref]; ok {
				from = append(from, n)
			}
		}
	}
	return from
}

// became reports whether a request to the agent was made of a prompt, an answer or a
// cancel.
func (s *said) became(it *Item) bool {
	switch {
	case len(it.Calls) > 0:
		return s.name == "session/request_permission" || s.name == "toolCall/confirm"
	case strings.Contains(s.name, "cancel"):
		return strings.HasSuffix(strings.ToLower(it.Name), "cancel") || it.Name == "CancelTask"
	}
	prompt := s.name == "session/prompt" || strings.HasPrefix(s.name, "message/")
	return prompt && s.text != "" && it.Text != "" && (strings.HasPrefix(it.Text, s.text) || strings.HasPrefix(s.text, it.Text))
}
