package a2a

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
