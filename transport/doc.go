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
// want to tell them apart.
//
// # The life of a request to an agent
//
//	Client.Send ── the card is known? ── Client.Card (once; callers share it)
//	    │               └─ an interface of it is chosen, and with it a protocol
//	    ▼
//	ask (ask.go): what the agent refuses for how it was asked is asked once in
//	    │         another way, and what it took is kept: a version, a header
//	    ▼
//	protocol (protocol.go, write.go): the shapes of a version, and its headers
//	    ▼
//	binding (binding_*.go): the operation and its shapes as an HTTP request
//	    ▼
//	retry (retry.go): what may be repeated, and when; never a message twice
//	    ▼
//	guard (guard.go): no request and no credential leaves the agent's origin;
//	                  it notes whether a byte of the request was written
//	    ▼
//	ClientOptions.Wrap (the trace), then the network
//	    ▼
//	answer (answer.go): a stream, a result, the agent's error, or not A2A at all;
//	    │               which, says the binding
//	    ▼
//	Stream ── frames (sse.go) ── views (event.go, parts.go) ── a2a.Event
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
