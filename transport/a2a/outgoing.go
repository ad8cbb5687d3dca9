package a2a

import (
	"encoding/json"
	"strings"
)

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

// Text is the text of all parts.
func (m *Outgoing) Text() string {
	var text strings.Builder
	for _, p := range m.Parts {
		text.WriteString(p.Text)
	}
	return text.String()
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
	// MediaType is that of Data, where the agent wants it named; A2A 1.x alone has a place for it.
	MediaType string
	// Metadata is the part's own: a JSON object, or nil.
	Metadata json.RawMessage
}

// A TaskQuery says which tasks to list. The zero value means all that the
// caller may see, in pages of the agent's own size.
type TaskQuery struct {
	// ContextID limits the list to the tasks of one context.
	ContextID string
	// State limits it to tasks that are in that state.
	State State
	// PageSize is how many tasks to return at most; 0 leaves it to the agent.
	// A2A 1.0 allows 100.
	PageSize int
	// PageToken is the [TaskPage.NextPageToken] of the page before.
	PageToken string
	// HistoryLength is how many messages of each task come with it; nil leaves
	// it to the agent.
	HistoryLength *int
	// StatusAfter limits the list to tasks whose status is newer, in RFC 3339; ""
	// leaves it out. Agents of 0.3 may not know it.
	StatusAfter string
	// IncludeArtifacts asks for the tasks' artifacts too, which may be large.
	IncludeArtifacts bool
}

// A TaskPage is one page of a list of tasks, the newest first.
type TaskPage struct {
	// Tasks are copies, not views of a stream. What cannot be read as a task is an
	// EventUnknown.
	Tasks []Event
	// NextPageToken asks for the page after this one; empty on the last.
	NextPageToken string
	// TotalSize is how many tasks there are on all pages, 0 if the agent does
	// not say.
	TotalSize int
}

// A PushConfig is where an agent is to report what becomes of a task: it posts
// each change to a web address.
type PushConfig struct {
	TaskID string
	// ID tells several configurations of a task apart. The agent chooses one if
	// it is empty.
	ID  string
	URL string
	// Token is sent along by the agent, so that the receiver can tell the reports that
	// it asked for.
	Token string
	// Authentication is how the agent identifies itself at URL; nil: not at all.
	Authentication *PushAuthentication
}

// PushAuthentication is what an agent puts into the Authorization header of what
// it posts.
type PushAuthentication struct {
	Scheme      string // of HTTP, such as Bearer
	Credentials string
}
