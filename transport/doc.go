// Package transport answers two questions: how does A2A travel to an agent, and how is
// it spelled on the way. It does not interpret: the packages above decide what an event
// means and what to do about it.
//
// [Client] carries A2A to and from an agent. The editor's end is package stdio.
//
// # For a caller
//
// [NewClient] makes a client of an agent's URL, or of a card in a file.
// [Client.Send] sends a message; [Stream.Read] then returns events until io.EOF.
// [Client.Get], [Client.List], [Client.Cancel] and [Client.Resubscribe] are about
// tasks. What the agent refuses is an [a2a.Error]; other errors wrap
// [ErrUnreachable], [ErrInterrupted] or [ErrPossiblyDelivered] where a caller may
// want to tell them apart. docs/architecture.md has the way of a prompt, and of an
// event, through the files.
//
// # Views
//
// An event is found in the bytes that were read, not copied out of them: see
// [Stream.Read] for how long it is valid. Each frame is checked to be JSON once,
// and walked with a scanner that relies on that (package rawjson).
//
// # Goroutines
//
// The client starts two kinds, and [Client.Close] waits for both: the fetch of
// the card, which ends with its time limit, and the drains of streams that
// nobody wants any more ([Stream.Drain]), which end with their stream. The
// stream itself is read by whoever calls [Stream.Read].
package transport
