package shown

import (
	"cmp"
	"strings"
)

// This file decides which message in a history is ours.

// Sent names the message that is being sent, by its ID and its text: live is its stream from
// here, and a gap that is not owed is weighed no more. In a turn the first is the prompt.
func (s *Shown) Sent(id, text string) {
	s.sent = ours{strings.Clone(id), strings.Clone(text)}
	if s.prompt.id == "" {
		s.prompt = s.sent
	}
	if s.gap != owed {
		s.gap = none
	}
}

// ours is a message of ours.
type ours struct{ id, text string }

// behind is the index behind our message in a list, 0 if no message of the user's is there. It
// is found by its ID, else by its text, else it is the user's newest.
func (o *ours) behind(list []Item) int {
	newest, byText := 0, 0
	for i := range list {
		switch in := &list[i]; {
		case in.Kind != User:
		case in.ID == o.id:
			return i + 1
		case o.is(in):
			byText = i + 1
		default:
			newest = i + 1
		}
	}
	return cmp.Or(byText, newest)
}

// is reports whether a message of the user's is ours, by ID or text; any is, while ours has no
// ID.
func (o *ours) is(in *Item) bool {
	return o.id == "" || in.ID == o.id || o.text != "" && in.Parts.Text() == o.text
}

// RestorePrompt names the message that has begun the turn, by its ID. By its text nothing is known of it: a
// history that gives it another ID is taken as without this.
func (s *Shown) RestorePrompt(id string) { s.prompt = ours{id: strings.Clone(id)} }
