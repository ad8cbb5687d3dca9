package a2a

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
