package view

import (
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/internal/trace"
)

// recent bounds the records among which a message's origin is searched. A bridge
// translates at once, so older ones cannot be it.
const recent = 256

// A Linker finds which records of one wire became a record of the other. It uses what
// the bridge has recorded of that. Otherwise it compares content: the same text, the
// same tool call.
type Linker struct {
	events map[trace.EventRef]int64 // records of events
	order  []trace.EventRef
	agent  []linked // the newest of the agent's, oldest first
	editor []linked // the newest that the editor said, oldest first
}

// linked is a record that may become a later one.
type linked struct {
	n     int64
	said  string // the text that no record was linked to yet
	text  string
	calls []Call
	state string
	name  string
}

// NewLinker returns a Linker.
func NewLinker() *Linker { return &Linker{events: map[trace.EventRef]int64{}} }

// Add takes the next item and returns the records that it was made from.
func (l *Linker) Add(it *Item) []int64 {
	switch {
	case it.From == LaneAgent && (it.Type == TypeEvent || it.Type == TypeReply):
		ref := trace.EventRef{it.Exchange, it.Event}
		if len(l.order) >= 16*recent {
			delete(l.events, l.order[0])
			l.order = l.order[1:]
		}
		l.events[ref] = it.N
		l.order = append(l.order, ref)
		l.agent = remember(l.agent, it)
	case it.From == LaneEditor:
		l.editor = remember(l.editor, it)
	case it.To == LaneAgent && it.Type == TypeRequest:
		return l.request(it)
	case it.To == LaneEditor:
		return l.update(it)
	}
	return nil
}

func remember(list []linked, it *Item) []linked {
	if len(list) >= recent {
		list = slices.Delete(list, 0, recent/2)
	}
	return append(list, linked{n: it.N, said: it.Said, text: it.Text, calls: it.Calls, state: it.State, name: it.Name})
}

// request finds what the editor said that became a request to the agent: a prompt with
// the same text, or an answer.
func (l *Linker) request(it *Item) []int64 {
	for i := len(l.editor) - 1; i >= 0; i-- {
		e := &l.editor[i]
		switch {
		case len(it.Calls) > 0 && (e.name == "session/request_permission" || e.name == "toolCall/confirm"),
			len(it.Calls) == 0 && e.text != "" && it.Text != "" && (e.name == "session/prompt" || strings.HasPrefix(e.name, "message/")) && (strings.HasPrefix(it.Text, e.text) || strings.HasPrefix(e.text, it.Text)),
			strings.HasSuffix(strings.ToLower(it.Name), "cancel") && strings.Contains(e.name, "cancel"), strings.HasSuffix(it.Name, "CancelTask") && strings.Contains(e.name, "cancel"):
			return []int64{e.n}
		}
	}
	return nil
}

// update finds what the agent said that became an update.
func (l *Linker) update(it *Item) []int64 {
	if len(it.from) > 0 {
		var list []int64
		for _, ref := range it.from {
			if n, ok := l.events[ref]; ok {
				list = append(list, n)
			}
		}
		return list
	}
	switch {
	case it.Said != "":
		return l.text(it.Said)
	case len(it.Calls) > 0:
		return l.newest(func(a *linked) bool {
			return slices.ContainsFunc(a.calls, func(c Call) bool { return c.ID == it.Calls[0].ID })
		})
	case it.Name == "session/prompt" || it.Name == "event/state" || strings.HasPrefix(it.Name, "message/") && it.Type == TypeReply:
		return l.newest(func(a *linked) bool { return a.state != "" })
	}
	return nil
}

func (l *Linker) newest(is func(*linked) bool) []int64 {
	for i := len(l.agent) - 1; i >= 0; i-- {
		if is(&l.agent[i]) {
			return []int64{l.agent[i].n}
		}
	}
	return nil
}

// text finds the consecutive events whose texts make up a text.
func (l *Linker) text(said string) []int64 {
	var list []int64
	for i := range l.agent {
		a := &l.agent[i]
		switch {
		case a.said == "" || said == "":
		case strings.HasPrefix(said, a.said):
			said, a.said = said[len(a.said):], ""
			list = append(list, a.n)
		case strings.HasPrefix(a.said, said):
			a.said, said = a.said[len(said):], ""
			list = append(list, a.n)
		case strings.Contains(a.said, said) || strings.Contains(said, a.said):
			list, a.said = append(list, a.n), ""
		}
	}
	return list
}
