// Package fastpath holds what events of package a2a carry for speed alone, and for
// the packages of this module alone: transport sets it, mapping reads it. Each value
// of a2a that has any gives it by its method FastPath, whose result other programs
// cannot name.
package fastpath

import (
	"slices"
	"strings"
	"unsafe"
)

// Event is that of an a2a.Event, whose type E is.
type Event[E any] struct {
	// Shape, if not nil, is shared by events of a stream that are the same but for
	// the text of their one part, which is not empty, the message's ID, times, and
	// strings and numbers in metadata.
	Shape *Shape
	// Redecode reads the whole event anew, in the version that it came in.
	Redecode func(raw string) *E
	// Source is the stream's; nil if the event is of none.
	Source *Source
}

// A Source is what the events of a stream share. One goroutine at a time may look into
// them.
type Source struct {
	// Text is where texts with escapes are decoded. What is in it lives as long as the
	// events do: until the next are read.
	Text []byte
	// objects come again and again, such as a tool's schema: they are compared, and not
	// walked.
	objects []string
	next    int
}

// maxRepeats is how many objects there are, the newest: most turns use a few tools.
const maxRepeats = 4

// maxBrackets bounds how deep one nests: where it is compared, nobody counts.
const maxBrackets = 500

// Add adds an object as it was written in an event of the stream. It is not copied.
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

// Objects returns those that were added last.
func (s *Source) Objects() []string {
	if s == nil {
		return nil
	}
	return s.objects
}

// A Shape is what events of one shape share. Only its address matters.
type Shape struct{ _ byte }

// Parts is that of an a2a.Parts, of parts of type P.
type Parts[P any] struct {
	// Step decodes the first part of raw and returns what is left; it is set by the
	// protocol version that read the list. ok is false if there is none.
	Step func(raw string, from *Source, part *P) (rest string, ok bool)
	// Source is the event's, for Step.
	Source *Source
	// Only, if set, is the one part that there is, decoded already.
	Only *P
	// Bare says that no part has metadata: one search of a large text is enough.
	Bare bool
}

// Part is that of an a2a.Part.
type Part struct {
	// Plain says that the text's JSON may be copied into any line: it is known to be
	// valid, without halves of surrogate pairs, and to have no U+2028 and U+2029, which
	// end a line for some readers.
	Plain bool
	// Lazy is set by whoever asks for the next part and looks at the text's JSON first:
	// the text itself may be left empty then, because large texts that mostly repeat
	// what is known should not be decoded.
	Lazy bool
}
