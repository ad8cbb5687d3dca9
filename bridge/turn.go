package bridge

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

const (
	// approvalSettle is how long a call must have been waiting for approval, on
	// a stream that stays open, before the user is asked: agents that approve by
	// themselves pass through that state, and Gemini's server asks for an edit
	// and then leaves its stream open for ever.
	approvalSettle = 250 * time.Millisecond
	// cancelGrace is how long after a cancel the agent may go on. Clients close
	// our stdin, or kill, from 2.5 s on (acpx).
	cancelGrace = 2 * time.Second
)

// A turn is one prompt: a loop of legs, with the user's answers between. Its
// states are the places in its code: see the table in the package comment.
type turn struct {
	session  *Session
	agent    *Agent
	editor   Editor
	fold     *mapping.Fold
	writing  mapping.Writing
	card     *a2a.Card
	steps    []mapping.Step
	back     bool // the editor has not heard that the connection is lost, or that it is back
	gapTold  bool // and that text was lost in this cut
	told     bool // the user knows that the agent wants authentication
	answered bool // the user's answers were sent, in this turn
	// isCommand: a slash command, whose task is not the conversation's.
	isCommand bool
	*canceller
}

func newTurn(s *Session) *turn {
	return &turn{session: s, agent: s.agent, fold: s.fold, back: true, canceller: newCanceller()}
}

func (t *turn) release() {
	t.session.mu.Lock()
	defer t.session.mu.Unlock()
	t.session.turn = nil
}

// anewNotice is for agents that keep a conversation in the task that was
// cancelled.
const anewNotice = "[The agent begins anew: what was said before went with the task that was cancelled.]\n\n"

// end says why a leg is not being streamed any more.
type end int

const (
	ended     end = iota // the agent has said so
	paused               // calls wait for the user
	abandoned            // cancelled, and the agent went on for too long
)

// A request is what begins a leg.
type request struct {
	// message is what send sends, nil if it is something else.
	message *a2a.Outgoing
	// taskID is the task that it is about, if that is known.
	taskID string
	// was is the state of that task, if that is known.
	was a2a.State
	// send returns the stream that follows, and its task, if it is known; a nil
	// stream if nothing follows. If send is nil the task is followed as after a cut.
	send func(context.Context) (stream *transport.Stream, taskID string, err error)
}

// run runs a turn. open makes the request that begins it; fresh says that it
// does not go on from a question of the turn before.
func (t *turn) run(ctx context.Context, editor Editor, fresh bool, open func(context.Context) (*request, error)) (Result, error) {
	t.editor = editor
	defer t.session.save()
	ctx, stop := context.WithCancel(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer stop()
	watching.Go(func() { t.watch(ctx, t.agent) }) // ends with ctx

	next, err := t.ready(ctx, open)
	if err != nil {
		if t.isCancelled() {
			return Result{StopReason: acp.StopCancelled, State: a2a.StateCanceled}, nil
		}
		return Result{}, err
	}
	if t.isCancelled() {
		return Result{StopReason: acp.StopCancelled, State: a2a.StateCanceled}, nil // before anything was sent
	}
	if fresh {
		t.fold.Begin()
	}
	t.fold.TaskID = next.taskID
	if next.taskID != "" {
		t.identify(next.taskID)
	}
	if t.session.anew {
		t.session.anew = false
		if err := t.editor.Show(ctx, []mapping.Step{{Kind: mapping.StepNotice, Text: anewNotice}}); err != nil {
			return Result{}, err
		}
	}
	how := ended
	for next != nil {
		next, how, err = t.leg(ctx, next)
	}
	return t.result(ctx, how, err)
}

// ready contacts the agent, if need be, and makes the first request. It gives up
// when the turn is cancelled.
func (t *turn) ready(ctx context.Context, open func(context.Context) (*request, error)) (*request, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() { // ends with ctx, at this function's return
		select {
		case <-t.cancelled:
			stop()
		case <-ctx.Done():
		}
	}()
	card, writing, err := t.agent.Ready(ctx)
	if err != nil {
		return nil, err
	}
	t.card, t.writing = card, writing
	return open(ctx)
}

// say makes the request that sends a message.
func (t *turn) say(m *a2a.Outgoing) *request {
	return &request{message: m, taskID: m.TaskID, was: t.fold.State, send: func(ctx context.Context) (*transport.Stream, string, error) {
		stream, err := t.agent.opts.Client.Send(ctx, m)
		return stream, "", err
	}}
}

// answer makes the request that sends the user's answers to the agent's
// questions.
func (t *turn) answer(answers []mapping.Answer) (*request, error) {
	t.fold.Answered(answers)
	m := &a2a.Outgoing{ID: t.agent.opts.NewID(), TaskID: t.fold.TaskID, ContextID: t.fold.ContextID}
	if err := t.writing.Answers(answers, m); err != nil {
		return nil, err
	}
	return t.say(m), nil
}

// leg makes a request and follows what comes of it until the agent is done or
// waits for the user; then next is the request with the user's answers.
func (t *turn) leg(ctx context.Context, r *request) (next *request, how end, err error) {
	leg := t.agent.follow(r)
	for {
		how, err = t.stream(ctx, leg)
		if err != nil || how != paused {
			leg.leave(true)
			if again := t.session.refused(err, r.message, t.writing); again != nil {
				return t.say(again), ended, nil
			}
			return nil, how, err
		}
		answers, err := t.ask(ctx, leg)
		switch {
		case errors.Is(err, ErrPause):
			leg.leave(false)
			return nil, paused, nil
		case err != nil:
			leg.leave(true)
			return nil, ended, err
		case len(answers) == 0:
			continue // the calls went on without us
		}
		leg.leave(false)
		t.answered = true
		next, err = t.answer(answers)
		return next, ended, err
	}
}

// stream shows what a leg brings until it ends, pauses or is abandoned.
func (t *turn) stream(ctx context.Context, leg *leg) (end, error) {
	settle := time.NewTimer(approvalSettle)
	defer settle.Stop()
	asked := 0 // restarts the timer for calls that asked before this stream
	for {
		switch open := len(t.fold.Open()); {
		case open == 0 || t.isCancelled():
			settle.Stop()
		case asked != t.fold.Asked:
			asked = t.fold.Asked
			settle.Reset(approvalSettle)
		}
		select {
		case n := <-leg.news:
			if err := t.show(ctx, leg, n); err != nil {
				return ended, err
			}
		case <-leg.ended:
			if leg.err == nil && len(t.fold.Open()) > 0 && !t.fold.State.Terminal() && !t.isCancelled() {
				return paused, nil
			}
			return ended, leg.err
		case <-settle.C:
			return paused, nil
		case <-t.graceOver:
			return abandoned, nil
		case <-ctx.Done():
			return ended, ctx.Err()
		}
	}
}

// show turns news into steps and hands them to the editor.
func (t *turn) show(ctx context.Context, leg *leg, n news) error {
	steps := t.steps[:0]
	for i := range n.events {
		if n.echo {
			steps = t.fold.Echo(&n.events[i], steps)
			continue
		}
		steps = t.fold.Event(&n.events[i], steps)
	}
	if len(n.events) > 0 && !n.resumed && !n.echo {
		t.gapTold = false // it flows again
	}
	if n.resumed {
		// Before what is shown of the rest. It is said once a cut, and once more
		// if a gap shows later.
		gap := t.fold.Gap || n.blind
		if t.writing.Dialect == mapping.DialectGemini {
			// Its history has the first chunk of each message, and nothing tells
			// whether there were more while nobody was there.
			gap = !t.back
		}
		gap = gap && !t.gapTold
		if t.gapTold = t.gapTold || gap; gap || !t.back {
			t.back = true
			steps = slices.Insert(steps, 0, mapping.Step{Kind: mapping.StepConnection, TaskID: t.fold.TaskID, ContextID: t.fold.ContextID,
				Connection: mapping.Connection{Phase: "resumed", Gap: gap}})
		}
	}
	if c := n.connection; c != nil {
		t.back = t.back && c.Phase != "lost"
		steps = append(steps, mapping.Step{Kind: mapping.StepConnection, TaskID: t.fold.TaskID, ContextID: t.fold.ContextID, Connection: *c})
	}
	if t.fold.State == a2a.StateAuthRequired && !t.told {
		t.told = true
		steps = append(steps, mapping.Step{Kind: mapping.StepNotice, TaskID: t.fold.TaskID, ContextID: t.fold.ContextID,
			Text: "\n[The agent waits until you have authenticated with it.]\n"})
	}
	if t.fold.TaskID != "" && t.identify(t.fold.TaskID) && !t.isCommand {
		// Before anything is shown: a process that is killed from here on leaves
		// a task to come back to.
		t.session.contextID, t.session.taskID = t.fold.ContextID, t.fold.TaskID
		t.session.save()
	}
	var err error
	if len(steps) > 0 {
		err = t.editor.Show(ctx, steps)
	}
	t.steps = steps
	if t.writing.Dialect == mapping.DialectGemini {
		// That server's tasks/cancel ends the task, and the conversation with
		// it. It stops as well when the connection is ended, unless a tool is at
		// work (its own behaviour: testdata/peers).
		running := t.fold.Running()
		leg.running.Store(running)
		if running {
			t.spare(nil)
		} else {
			t.spare(leg.hangUp)
		}
	}
	select {
	case leg.taken <- struct{}{}:
	case <-leg.ended:
	}
	return err
}

// result puts the end of the turn into words.
func (t *turn) result(ctx context.Context, how end, err error) (Result, error) {
	f, s := t.fold, t.session
	if t.isCommand {
		// The conversation goes on where it was.
		defer func(context, task string, previous []string) {
			s.contextID, s.taskID, s.previous = context, task, previous
		}(s.contextID, s.taskID, s.previous)
	}
	r := Result{StopReason: acp.StopEndTurn, State: f.State, TaskID: f.TaskID, ContextID: f.ContextID, Usage: f.Usage}
	if t.isCancelled() {
		r.StopReason = acp.StopCancelled
		t.settleCancel(ctx, f.State.Terminal() || f.TaskID == "")
		if how == abandoned || t.didCancel() || err != nil {
			s.anew = t.writing.Dialect == mapping.DialectGemini
			s.forget()
		} else {
			s.remember(t.writing)
		}
		return r, nil
	}
	if err != nil {
		gone, refusal := (*goneError)(nil), (*a2a.Error)(nil)
		switch refused := errors.As(err, &refusal) && !refusal.Unauthenticated(); {
		case errors.As(err, &gone) || errors.As(err, &refusal) && f.State == "":
			// The next prompt begins a new task, in the same context.
			s.forget()
		case t.answered && f.Unheard() && (refused || errors.As(err, new(*undeliveredError))):
			// The task waits for an answer that it has not got, and would not take
			// a prompt for it.
			t.agent.abandon(f.TaskID)
			s.anew = t.writing.Dialect == mapping.DialectGemini
			s.forget()
		default:
			s.keep()
		}
		return r, err
	}
	if how == paused {
		for _, call := range f.Open() {
			r.Pending = append(r.Pending, call.ID)
		}
	}
	s.remember(t.writing)
	switch f.State {
	case a2a.StateCanceled:
		r.StopReason = acp.StopCancelled
	case a2a.StateRejected:
		r.StopReason = acp.StopRefusal
		if f.FailText != "" {
			return r, t.editor.Show(ctx, []mapping.Step{{Kind: mapping.StepText, TaskID: f.TaskID, ContextID: f.ContextID, Text: f.FailText}})
		}
	case a2a.StateFailed, a2a.StateAuthRequired:
		return r, &mapping.TaskError{State: f.State, Text: f.FailText, Cause: f.Err}
	}
	if f.Err != "" && len(r.Pending) == 0 {
		// Gemini's server reports a model's error and then ends the turn as if
		// nothing were.
		return r, &mapping.TaskError{State: f.State, Cause: f.Err}
	}
	return r, nil
}

// refused returns the message to send instead of one that the agent has refused
// because of its task, nil if there is none: a task that the agent does not know
// any more (it was restarted), or that is completed and takes no more messages,
// is gone on from in a new one, in the same context. Such a refusal says that
// the message was not accepted, so this is not sending it twice. One for a task
// that waits for input does not: a2a-js may refuse what it has executed.
func (s *Session) refused(err error, m *a2a.Outgoing, w mapping.Writing) *a2a.Outgoing {
	var refusal *a2a.Error
	if m == nil || m.TaskID == "" || !m.Prompt || !errors.As(err, &refusal) || s.fold.State != "" {
		return nil
	}
	switch refusal.Code {
	case a2a.CodeTaskNotFound:
	case a2a.CodeInvalidRequest, a2a.CodeInvalidParams, a2a.CodeUnsupportedOperation:
		if !s.completed {
			return nil
		}
	default:
		return nil
	}
	again := *m
	again.ReferenceTaskIDs = []string{strings.Clone(m.TaskID)}
	again.TaskID, s.taskID, s.fold.TaskID = "", "", ""
	if s.settings(&again, w) != nil {
		return nil
	}
	return &again
}
