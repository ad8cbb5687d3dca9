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

// An Outage is what a user has heard of the connection.
type Outage struct {
	Told            bool // that it is lost
	reached, polled bool
}

// Tell takes what happened, and reports whether the user is to be told now that the
// connection is lost: when nobody listens any more, or once, at the given attempt, and not
// where the agent is there and cannot be followed, so that it is asked from time to time.
func (o *Outage) Tell(c *Connection, attempt int) bool {
	switch c.Phase {
	case PhaseLost:
		*o = Outage{}
	case PhaseResumed:
		o.Told, o.reached = false, true
	case PhasePolling:
		o.polled = true
	case PhaseWaiting:
		o.Told = true
		return true
	case PhaseRetrying:
		if !o.Told && c.Attempt >= attempt && !(o.reached && o.polled) {
			o.Told = true
			return true
		}
	}
	return false
}
