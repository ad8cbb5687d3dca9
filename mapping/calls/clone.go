package calls

import (
	"reflect"
	"strings"
)

// This file compares and copies tool calls. An event is a view of a buffer that is read
// into again, so whatever is kept is a copy; values that the call had before are shared
// with it, since most events of a call repeat what it said.

// difference returns what of a call is shown otherwise than before.
func difference(was, now *ToolCall) (changed Change) {
	if was.Name != now.Name || was.Description != now.Description || was.DisplayName != now.DisplayName ||
		was.Kind != now.Kind || was.Input != now.Input {
		changed |= Head
		if was.Asks && now.Asks {
			changed |= Content // a question is shown with what the call says of itself
		}
	}
	if was.Status != now.Status {
		changed |= State
	}
	if was.OutputSoFar != now.OutputSoFar || was.Extra != now.Extra || !deepEqual(was.Output, now.Output) ||
		!deepEqual(was.Error, now.Error) || !deepEqual(was.Confirmation, now.Confirmation) {
		changed |= Content
	}
	if was.OutputSoFar != "" && now.OutputSoFar == "" {
		changed |= Cleared
	}
	return changed
}

// deepEqual compares what two pointers point to.
func deepEqual[T any](a, b *T) bool { return a == b || reflect.DeepEqual(a, b) }

// AsksTheSame reports whether a call asks what it did. Words that it has left out since do
// not count: the user has seen them.
func AsksTheSame(was, now *ToolCall) bool {
	sameOrLeftOut := func(was, now string) bool { return now == "" || now == was }
	return was == now || was.Name == now.Name && was.Input == now.Input && sameOrLeftOut(was.Description, now.Description) &&
		sameOrLeftOut(was.DisplayName, now.DisplayName) && was.Extra == now.Extra && was.QuestionID == now.QuestionID && deepEqual(was.Confirmation, now.Confirmation)
}

// clone returns a copy whose strings do not point into an event. Values that old (which
// may be nil) has as well are shared with it.
func (c *ToolCall) clone(old *ToolCall) *ToolCall {
	if old == nil {
		old = new(ToolCall)
	}
	d := *c
	d.sent = Sent{}
	for _, p := range [...]struct {
		now *string
		was string
	}{{&d.ID, c.Shown}, {&d.Name, old.Name}, {&d.Description, old.Description}, {&d.DisplayName, old.DisplayName}, {&d.Kind, old.Kind},
		{&d.Note, old.Note}, {&d.QuestionID, old.QuestionID}, {(*string)(&d.Input), string(old.Input)}, {(*string)(&d.Extra), string(old.Extra)}} {
		*p.now = reuse(*p.now, p.was)
	}
	if c.outputJSON == "" { // else it is our own copy: see growingText
		d.OutputSoFar = reuse(c.OutputSoFar, old.OutputSoFar)
	}
	copyAll(reflect.ValueOf(&d.Output).Elem())
	copyAll(reflect.ValueOf(&d.Error).Elem())
	if c.Confirmation != old.Confirmation {
		copyAll(reflect.ValueOf(&d.Confirmation).Elem())
	}
	return &d
}

// reuse returns was if now is the same, or else a copy of now.
func reuse(now, was string) string {
	if now == was {
		return was
	}
	return strings.Clone(now)
}

// copyAll copies, in place, all that a value points to, and its strings: of a question or a result,
// which few events have.
func copyAll(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(strings.Clone(v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			ours := reflect.New(v.Type().Elem())
			ours.Elem().Set(v.Elem())
			copyAll(ours.Elem())
			v.Set(ours)
		}
	case reflect.Slice:
		v.Set(reflect.AppendSlice(reflect.Zero(v.Type()), v))
		for i := range v.Len() {
			copyAll(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			copyAll(v.Field(i))
		}
	}
}

// size is how many bytes a call takes, without what is always short.
func (c *ToolCall) size() int {
	n := len(c.Input) + len(c.OutputSoFar) + len(c.Extra)
	q := c.Confirmation
	if q == nil {
		return n
	}
	n += len(q.Unread)
	if e := q.Edit; e != nil {
		n += len(e.NewContent) + len(e.Formatted)
		if e.OldContent != nil {
			n += len(*e.OldContent)
		}
	}
	if q.Execute != nil {
		n += len(q.Execute.Command)
	}
	if q.Generic != nil {
		n += len(q.Generic.Description)
	}
	return n
}
