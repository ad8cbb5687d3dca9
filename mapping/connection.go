package mapping

// A Phase is what has become of the connection to the agent.
type Phase string

// The phases of a connection.
const (
	PhaseLost     Phase = "lost"
	PhaseRetrying Phase = "retrying"
	PhaseWaiting  Phase = "waiting" // nobody listens where the agent was
	PhaseResumed  Phase = "resumed"
	PhasePolling  Phase = "polling" // the task is asked for, since it cannot be followed
	PhaseSilent   Phase = "silent"  // no loss: nothing has come for Connection.Silent
)

// Connection is what happened to the connection to the agent.
type Connection struct {
	Phase   Phase
	Attempt int
	// Why is why it was lost, or is tried again. Editors do not get it.
	Why string
	// Silent is in seconds.
	Silent int
	// Gap is set with resumed where something was said that the agent does not
	// hold any more.
	Gap bool
}
