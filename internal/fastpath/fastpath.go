// Package fastpath holds what events of package a2a carry for speed, for this module's
// packages only: transport sets it, mapping reads it. A value of a2a returns it by its
// method FastPath, whose result other programs cannot name.
package fastpath

import (
	"slices"
	"strings"
	"unsafe"
)

// Event belongs to an a2a.Event, whose type E is.
type Event[E any] struct {
	// Shape, if not nil, is shared by a stream's events that differ only in the non-empty
	// text of their one part, the message's ID, times, and strings and numbers in
	// metadata.
	Shape *Shape
	// Redecode decodes the whole event again, in its version.
	Redecode func(raw string) *E
	// Source is the stream's; nil for an event of no stream.
	Source *Source
}

// A Source is shared by a stream's events. One goroutine at a time may use them.
type Source struct {
	// Text is the buffer for texts with escapes. It is valid as long as the events: until
	// the next are read.
	Text []byte
	// Proto: the events are written as the proto of A2A 0.3 is, which wraps data.
	Proto bool
	// Begun, if not empty, is a string in the JSON of an earlier event, without its closing
	// quote, that later ones go on with: the output of a tool, sent whole each time.
	Begun string
	// objects are repeated ones, such as a tool's schema: they are compared, not walked.
	objects []string
	next    int
}

// maxRepeats bounds the objects to the newest: most turns use a few tools.
const maxRepeats = 4

// maxBrackets bounds an object's nesting, which a comparison does not count.
const maxBrackets = 500

// Add adds an object as written in an event of the stream, without a copy.
func (s *Source) Add(object string) {
	switch known := s.Objects(); {
	case s == nil:
	case slices.ContainsFunc(known, func(o string) bool { return unsafe.StringData(o) == unsafe.StringData(object) }):
	case strings.Count(object, "{")+strings.Count(object, "[") > maxBrackets:
	case len(known) < maxRepeats:
		s.objects = append(known, object)
	default:
		s.objects[s.next] = object
		s.next = (s.next + 1) % maxRepeats
	}
}

// Begin notes a string that later events go on with, without its closing quote. It is not
// copied.
func (s *Source) Begin(text string) {
	if s != nil {
		s.Begun = text
	}
}

// Fresh returns a source of events that are spelled alike; nil if nothing is to be known
// of them.
func (s *Source) Fresh() *Source {
	if s == nil || !s.Proto {
		return nil
	}
	return &Source{Proto: true}
}

// Objects returns the newest objects.
func (s *Source) Objects() []string {
	if s == nil {
		return nil
	}
	return s.objects
}

// A Shape stands for events of one shape. Only its address matters.
type Shape struct{ _ byte }

// Parts belongs to an a2a.Parts, of parts of type P.
type Parts[P any] struct {
	// Step decodes the first part of raw and returns the rest; the protocol version that
	// read the list sets it. ok is false if there is none.
	Step func(raw string, from *Source, part *P) (rest string, ok bool)
	// Source is the event's, for Step.
	Source *Source
	// Only, if set, is the only part, decoded already.
	Only *P
	// List are parts that are decoded already; they come before all others.
	List []P
	// Bare: no part has metadata, so one search of a large text is enough.
	Bare bool
}

// Part belongs to an a2a.Part.
type Part struct {
	// Plain: the text's JSON may be copied into any line. It is valid, without halves of
	// surrogate pairs, and without U+2028 and U+2029, which end a line for some readers.
	Plain bool
	// Lazy: the caller looks at the text's JSON first, so that the text itself may be left
	// empty. Large texts that mostly repeat known text should not be decoded.
	Lazy bool
}
