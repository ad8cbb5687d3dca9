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
	// Push asks the agent to push what becomes of the task; nil: it is not asked. Its
	// TaskID is left out. 1.x takes one authentication scheme.
	Push *PushConfig
	// AcceptedOutputModes limits the media types of the answer; empty: any.
	AcceptedOutputModes []string
	// HistoryLength is how many messages of a task's history the answer may hold; nil
	// leaves it to the agent.
	HistoryLength *int
	// RequestMetadata goes beside the message, for the request.
	RequestMetadata map[string]json.RawMessage
	// Trace is what the message is part of, for the agent's own telemetry.
	Trace TraceContext
}

// A TraceContext is a place in a distributed trace, as the values of the headers
// traceparent and tracestate (W3C Trace Context). What is no such value is not sent.
type TraceContext struct{ Parent, State string }

// An OutPart is a piece of an outgoing message: exactly one of Text, Data and
// File is set. Text may be empty only if the other two are.
type OutPart struct {
	Text string
	Data json.RawMessage
	File *File
	// Metadata is the part's own: a JSON object, or nil.
	Metadata json.RawMessage
}
