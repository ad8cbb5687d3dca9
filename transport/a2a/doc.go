// Package a2a holds the terms of the Agent2Agent protocol, independent of its version.
//
// A2A 0.3 and 1.x spell the same things differently. Package transport knows
// the spellings; everything above it uses the terms of this package only: an
// [Event] is what an agent said, an [Outgoing] is what we say, a [Card] is who
// the agent is. State names are those of A2A 0.3, which are also what people
// read in logs.
//
// # Views
//
// What comes from a stream is a view: the strings of an [Event], and of
// everything reached through it, point into the buffer that the event was read
// into, and are valid until the next read of that stream. Whoever keeps one for
// longer clones it ([strings.Clone], [Event.Clone]).
package a2a
