package a2a

import "encoding/json"

// An Outgoing is a message that we send. The protocol version decides how it is
// spelled; what a version has no word for is refused, never dropped.
type Outgoing struct {
	// ID is the message's ID. Servers may recognise a repeated one, so it is
	// chosen once per message, by the caller.
	ID string
	// TaskID continues a task; ContextID alone starts a new task in a context.
	TaskID    string
	ContextID string
	// ReferenceTaskIDs name earlier tasks that the message builds on.
	ReferenceTaskIDs []string
	Parts            []OutPart
	// Metadata is keyed by extension URI, or by what a dialect uses.
	Metadata map[string]json.RawMessage
	// Extensions are the URIs whose data the message carries.
	Extensions []string
	// Prompt is set for what the user wrote, as opposed to an answer to the
	// agent's question. It is not sent.
	Prompt bool
	// AcceptedOutputModes limits the media types of the answer; empty: any.
	AcceptedOutputModes []string
}

// An OutPart is a piece of an outgoing message: exactly one of Text, Data and
// File is set. Text may be empty only if the other two are.
type OutPart struct {
	Text string
	Data json.RawMessage
	File *File
}
