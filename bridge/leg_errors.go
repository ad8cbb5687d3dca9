package bridge

import (
	"errors"
	"fmt"
	"strings"

	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

var errDropped = errors.New("the leg was dropped")

// cutError is a connection that was lost. It is a [transport.ErrInterrupted],
// without its words.
type cutError struct{ text string }

func (e *cutError) Error() string { return e.text }
func (e *cutError) Unwrap() error { return transport.ErrInterrupted }

// undeliveredError is for a message that seems not to have come, or whose answer had
// begun and cannot be found.
type undeliveredError struct {
	taskID string
	begun  bool
}

func (e *undeliveredError) Error() string {
	if e.begun {
		return fmt.Sprintf("agent: task %s is as it was: the answer to the message was lost, and the message is not sent again", e.taskID)
	}
	return fmt.Sprintf("agent: task %s is as it was: the message to it was probably not delivered, and is not sent again", e.taskID)
}

func (e *undeliveredError) Unwrap() error { return transport.ErrInterrupted }

// malformedError is for a task that could be followed only up to an event that cannot
// be read.
type malformedError struct {
	taskID      string
	event, then error
}

func (e *malformedError) Error() string {
	then := e.then
	if lost := (*taskLostError)(nil); errors.As(then, &lost) {
		then = lost.err
	}
	return fmt.Sprintf("%v: the rest of the answer is lost, because task %s could not be followed past it (%s); whoever runs the agent should know",
		e.event, e.taskID, strings.TrimPrefix(then.Error(), "agent: "))
}

func (e *malformedError) Unwrap() []error { return []error{e.event, e.then} }

// explain returns the first cause of a leg's failure where its last error is a
// consequence: a task that is gone, or cannot be asked for, after an event that could
// not be read. That a task is gone is no failure if a look at it has told that it was over.
func (l *leg) explain(err error) error {
	if l.malformed == nil && l.lookedOver && !l.unheard && errors.As(err, new(*taskLostError)) {
		return nil
	}
	if err == nil || l.malformed == nil || l.taskID == "" || errors.Is(err, errDropped) || errors.Is(err, transport.ErrExited) || errors.Is(err, transport.ErrMalformed) {
		return err
	}
	return &malformedError{l.taskID, l.malformed, err}
}

// forgive forgets an event that could not be read once the task was followed past it;
// err is what has ended the stream since.
func (l *leg) forgive(err error) {
	if !errors.Is(err, transport.ErrMalformed) {
		l.malformed = nil
	}
}

// taskLostError is a task that the agent does not know any more.
type taskLostError struct {
	taskID string
	err    *a2a.Error
}

func (e *taskLostError) Error() string {
	return fmt.Sprintf("agent: task %s is gone (%s, %d): it has probably been restarted, and what it was doing is lost", e.taskID, e.err.Message, e.err.Code)
}

func (e *taskLostError) Unwrap() error { return e.err }
