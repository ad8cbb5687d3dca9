// Package fastpath holds what events of package a2a carry for speed, for this module's
// packages only: transport sets it, mapping reads it. A value of a2a returns it by its
// method FastPath, whose result other programs cannot name.
package fastpath

// Event belongs to an a2a.Event, whose type E is.
type Event[E any] struct {
	// Shape, if not nil, is shared by a stream's events that differ only in the non-empty
	// text of their one part, the ID of the message or the artifact, times, and strings and numbers in
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
	// Large is what is large in the event that is read.
	Large Large
	// Proto: the events are written as the proto of A2A 0.3 is, which wraps data.
	Proto bool
}

// Fresh returns a source of events that are spelled alike; nil if nothing is to be known
// of them.
func (s *Source) Fresh() *Source {
	if s == nil || !s.Proto {
		return nil
	}
	return &Source{Proto: true}
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
