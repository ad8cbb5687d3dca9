package bridge

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// outage is what is known of a connection that was lost.
type outage struct {
	why              error     // the newest cause
	subscribeErr     error     // of the newest subscription
	malformed        error     // what broke the stream, if that was an event that cannot be read
	unreachableSince time.Time // since when nothing listens at its address; zero: something does
	attempt          int
}

// cutError is a connection that was lost. It is a [transport.ErrInterrupted], without its words.
type cutError struct{ text string }

func (e *cutError) Error() string { return e.text }
func (e *cutError) Unwrap() error { return transport.ErrInterrupted }

// undeliveredError is for a message that seems not to have come, or whose answer had begun and
// cannot be found.
type undeliveredError struct{ taskID string }

func (e *undeliveredError) Error() string {
	return fmt.Sprintf("agent: task %s is as it was: the message to it was probably not delivered, or its answer was lost. It is not sent again", e.taskID)
}

func (e *undeliveredError) Unwrap() error { return transport.ErrInterrupted }

// taskLostError is a task that the agent does not know any more, behind a cut or when a message goes on
// with it. trpc-agent-go deletes one with its connection.
type taskLostError struct {
	taskID string
	err    *a2a.Error
}

func (e *taskLostError) Error() string {
	return fmt.Sprintf("agent: task %s is gone (%s, %d): the agent has been restarted, or has deleted it (some do when a connection is lost), and with it what it had not said yet", e.taskID, e.err.Message, e.err.Code)
}

func (e *taskLostError) Unwrap() error { return e.err }

// isLasting reports whether asking for a task again would give the same error.
func isLasting(err error) bool {
	return hasNone(err) || a2a.ErrorOf(err).Unauthenticated() || comesAgain(err)
}

// comesAgain reports whether an answer would be the same for the same request, though the agent may have the
// method: it is too large, or a status alone, which is a server's word on the request. One that says more, or none,
// may pass. Agno's URL takes messages alone, and 400 is what it says else. 405 and 501 are about the verb, by which
// the task was made: a page that a gateway has put there while the agent is away says them.
func comesAgain(err error) bool { // rule: comesAgain
	refusal := a2a.ErrorOf(err)
	return errors.Is(err, transport.ErrTooLarge) || refusal != nil && refusal.Code == 0 &&
		slices.Contains([]int{http.StatusBadRequest, http.StatusGone, http.StatusUnprocessableEntity}, refusal.HTTPStatus)
}

// hasNone reports whether an error says that the agent has no such task, or no such method.
func hasNone(err error) bool {
	return a2a.ErrorOf(err).Has(a2a.CodeTaskNotFound, a2a.CodeMethodNotFound, a2a.CodeUnsupportedOperation)
}

// isUndelivered reports whether a request has surely not reached the agent, and may reach it when it is
// repeated: nothing of it was written, and the agent's process has not ended. A web page in the agent's
// place, and what transport itself refuses, come again.
func isUndelivered(err error) bool {
	unwritten := errors.Is(err, transport.ErrUnreachable) || errors.Is(err, transport.ErrCredentials) // a provider may be down
	return unwritten && !errors.Is(err, transport.ErrExited)
}

// noWayBack is the error of a leg whose connection was cut, at an agent that offers no way to
// go on. It has refused that because it does not know the task any more, or has no such method.
func (l *leg) noWayBack() error {
	text := "agent: the connection was lost, and this agent offers neither to follow a task again nor to ask for one: " +
		"what task %s has said since is lost, and it may still run"
	if a2a.ErrorOf(l.outage.subscribeErr).Has(a2a.CodeTaskNotFound) {
		text = "agent: the connection was lost, task %s is not found any more, and this agent does not offer to ask for one: what it has said since is lost"
	}
	return &cutError{fmt.Sprintf(text, l.taskID)}
}
