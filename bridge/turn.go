package bridge

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/dialect"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A turn is one prompt: a loop of legs, with the user's answers between. Its
// states are the places in its code: see the table in the package comment.
type turn struct {
	session    *Session
	agent      *Agent
	editor     Editor
	fold       *mapping.Fold
	writing    dialect.Writing
	card       *a2a.Card
	steps      []mapping.Step      // room for the next ones
	shows      int                 // how often show was called
	news       int                 // how often for what the agent has said, and a look has not only repeated
	words      int                 // how often something that is not live has shown words of the agent's
	authTold   bool                // the user was told that the agent wants authentication
	delivery   delivery            // of the user's answers in this turn
	stale      int                 // looks in a row that were older than what is known
	view       view                // of what waits for the user
	unanswered []*mapping.ToolCall // calls that were rejected because nobody answered
	rejected   bool                // a call was, by cancelling the task: see cancelToReject
	isCommand  bool                // it runs a slash command, whose task is not the conversation's
	// askedContext is the context that the message goes on in, if the agent has named
	// it. forgottenTold: the user knows that the agent may have lost the conversation.
	askedContext  string
	forgottenTold bool
	isLoaded      bool // it belongs to a prompt of an earlier process: see beginLoaded
	// endShown: the editor was told that it is over, cancels by it what was left, or does not
	// know of it yet. afterEnd: its prompt came when that held of the turn before, or none
	// ran: the user has seen what the agent asks.
	endShown, afterEnd bool
	trace              a2a.TraceContext // the editor's
	// accepted, if set, is called when the prompt is about to be sent.
	accepted func(ctx context.Context)
	// steers takes messages for the task; steering is the one that came last: see leg.await.
	steers   chan *steering
	steering *steering
	sent     sentMessage     // our newest one that was not refused
	ctx      context.Context // of its run
	// execution is what the agent has answered to a slash command, if that was no
	// stream: the fold has it otherwise.
	execution dialect.Execution
	cancelling
}

func newTurn(s *Session) *turn {
	t := &turn{session: s, agent: s.agent, fold: s.fold, steers: make(chan *steering)}
	t.released, t.noteReleased = context.WithCancel(context.Background())
	t.cancelled, t.noteCancelled = context.WithCancel(context.Background())
	t.cancelSent, t.noteCancelSent = context.WithCancel(context.Background())
	t.stillRuns = errUnanswered
	return t
}

// release takes the turn out of its session's queue, so that the next one may run.
func (t *turn) release() {
	t.session.journal.Rest()
	t.session.mu.Lock()
	defer t.session.mu.Unlock()
	t.noteReleased()
	t.session.queue = slices.DeleteFunc(t.session.queue, func(other *turn) bool { return other == t })
	if t.session.shutting && len(t.session.queue) == 0 {
		_ = t.session.journal.Close() // it has been written
	}
}

// A sentMessage is a message of ours.
type sentMessage struct{ id, text string }

// A request is what begins a leg.
type request struct {
	message  *a2a.Outgoing // what send sends; nil: no message
	before   sentMessage   // turn.sent before this one
	answers  bool          // message answers the agent's questions, and is no prompt
	calls    []string      // the IDs of the calls that it answers
	taskID   string        // the task that it is about, "" if that is not known
	was      mapping.Rest  // how that task rested before
	beyond   bool          // the agent has already said something of the task
	readers  *readers      // the streams of the leg before, if there are any
	owes     bool          // the leg before has not looked at all that its streams have said
	steering *steering     // what message says, if it goes to a task at work
	leg      *leg          // if set, is resumed instead of sending anything
	// send makes it. If send is nil the task is followed as after a cut.
	send func(context.Context) (begun, error)
}

// begun is what the beginning of the answer to a request has brought, also beside an error.
type begun struct {
	stream    *transport.Stream                    // nil if nothing follows
	taskID    string                               // if it is known
	steps     []mapping.Step                       // to show
	then      func(context.Context) (begun, error) // what is to be done next, if that is not nil
	execution dialect.Execution
}

// run runs a turn, which the caller releases. open makes the first request, when the agent is
// there; fresh says that it does not go on from a question of the turn before.
func (t *turn) run(ctx context.Context, editor Editor, fresh bool, open func(context.Context) (*request, error)) (Result, error) {
	t.editor = &turnEditor{editor, t}
	defer t.session.save()
	ctx, stop := context.WithCancel(ctx)
	t.ctx = ctx
	defer t.telling.Wait()
	defer stop()
	t.telling.Go(func() { t.sendCancelWhenDue(ctx) }) // ends with ctx

	next, err := t.firstRequest(ctx, open)
	switch {
	case t.rejected:
		return t.finish(ctx, stopped{err: err})
	case t.isCancelled():
		return t.unsent(ctx, next)
	case err != nil:
		return Result{}, err
	}
	if t.accepted != nil {
		t.accepted(ctx)
	}
	if next.leg == nil {
		t.session.giveUpPause()
	}
	if m := next.message; m != nil && m.ContextID != "" && m.ContextID == t.fold.ContextID {
		t.askedContext = m.ContextID
	}
	t.requestPushes(next)
	if fresh {
		t.fold.Begin(next.taskID)
	} else {
		t.fold.SetTask(next.taskID)
	}
	t.session.unseen = false
	t.fold.Speak(t.writing.Dialect)
	if next.taskID != "" {
		t.identify(next.taskID)
		t.session.noteSent(next.message)
	}
	if notices := t.openingNotices(); len(notices) > 0 {
		if err := t.editor.Show(ctx, notices); err != nil {
			return Result{}, err
		}
	}
	var why stopped
	for next != nil {
		next, why = t.runLeg(ctx, next)
	}
	if isDetached(ctx) {
		// The journal ends in the middle of the turn, with which the next process goes on.
		t.session.keepTaskAfterError()
		return Result{}, why.err
	}
	r, err := t.finish(ctx, why)
	if t.isCancelled() && ctx.Err() != nil {
		err = nil // it is due to the end of the process
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return r, cmp.Or(t.editorErr, err)
}

// firstRequest contacts the agent, if need be, sets card and writing, and returns the request that
// open makes. A cancel ends it, with an error.
func (t *turn) firstRequest(ctx context.Context, open func(context.Context) (*request, error)) (*request, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(t.cancelled, stop)()
	card, writing, err := t.contact(ctx)
	if err != nil {
		return nil, err
	}
	t.card, t.writing = card, writing
	return open(ctx)
}

// replyRequest is sendRequest for a prompt, which it puts into the form in which the task waits for
// an answer, if it does.
func (t *turn) replyRequest(ctx context.Context, m *a2a.Outgoing) (*request, error) {
	t.takeUnseen(ctx, m.TaskID)
	if err := t.fold.Reply(m); err != nil {
		return nil, err
	}
	return t.sendRequest(m), nil
}

// sendRequest returns the request that sends a message. Nothing is sent yet.
func (t *turn) sendRequest(m *a2a.Outgoing) *request {
	m.Trace = t.trace
	return &request{message: m, taskID: m.TaskID, was: t.fold.Rest(m.TaskID), send: func(ctx context.Context) (begun, error) {
		stream, err := t.agent.opts.Client.Send(ctx, m)
		return begun{stream: stream}, err
	}}
}

// runLeg runs the leg that a request begins, or resumes, until it is over, the turn leaves it, or the user is to
// answer later. next is what the turn goes on with: his answers, a message of his for the task, or what is
// sent in place of a refused one; nil: it ends.
func (t *turn) runLeg(ctx context.Context, r *request) (next *request, why stopped) {
	leg, settled := r.leg, false
	t.view = partView
	if leg == nil {
		if r.message != nil {
			r.before = t.sent
			t.setSent(sentMessage{r.message.ID, r.message.Text()})
		}
		leg = t.follow(r)
	} else if settled = t.resume(leg); leg.unshown != nil {
		leg.leave(true)
		return nil, stopped{err: leg.unshown}
	}
	for ; ; settled = false {
		why = stopped{how: paused}
		if !settled {
			why = t.stream(ctx, leg)
		}
		if why.how == steered {
			return t.steerRequest(ctx, leg, t.steering), stopped{}
		}
		r.steering.tellOutcome(leg.untaken(why.err))
		if why.how != paused {
			if errors.As(why.err, new(*cutError)) {
				t.observe(Observation{What: ObservedGiveUp, Why: why.err.Error()})
			}
			leg.leave((why.err != nil || why.how == overdue || t.isCancelled()) && !isDetached(ctx))
			return t.nextRequest(ctx, leg), why
		}
		settle := "they have waited long enough, with the stream still open"
		if leg.hasEnded() {
			settle = "the stream has ended"
		}
		t.observe(Observation{What: ObservedSettle, Why: settle})
		decisions, err := t.ask(ctx, leg)
		if t.view == fullView {
			t.view = partView
		}
		switch {
		case errors.Is(err, ErrPause):
			t.session.paused = leg
			return nil, why
		case err != nil:
			leg.leave(!isDetached(ctx))
			return nil, stopped{err: err}
		case len(decisions) == 0 || cannotReject(decisions):
			continue // the calls went on without us, the connection is down, or the cancel does it
		}
		t.delivery = max(t.delivery, answersSent)
		if next, err = t.answerRequest(ctx, leg, decisions); next == nil {
			leg.leave(false)
			return nil, stopped{err: err}
		}
		t.passOn(ctx, leg, next)
		return next, stopped{}
	}
}

// resume takes over a paused leg, and shows what it has brought since. settled: all calls that wait were
// asked about, since it has brought nothing, or says so. The editor may have failed (leg.unshown).
func (t *turn) resume(leg *leg) (settled bool) {
	leg.turn, leg.flows = t, false
	before := t.shows
	for waits := true; waits && t.shows == before; {
		in, _ := leg.listens()
		select {
		case b := <-in.batches:
			leg.take(b, false)
			leg.drainOver()
		default:
			waits = false
		}
	}
	return t.shows == before || t.view == fullView
}

// stream shows what a leg brings until the turn reads it no more, and returns why. steered:
// turn.steering is to be sent.
func (t *turn) stream(ctx context.Context, leg *leg) stopped {
	silence := firstSilence
	leg.clock.set(atSilenceNotice, silence)
	defer leg.clock.stop(atSilenceNotice)
	defer leg.clock.stop(atGrace)
	b := beside{cancel: t.cancelled.Done(), cancelSent: t.cancelSent.Done()}
	leg.flows = false
	for {
		switch {
		case t.view == fullView && t.waitsForUser():
			if t.fold.Calls.Waits() {
				return stopped{how: paused}
			}
			leg.giveGlance(true)
			return stopped{err: leg.unshown} // the next prompt answers
		case leg.hasEnded() && !t.awaitsCancelAnswer(leg):
			return t.stopAtEnd(leg)
		}
		before := t.news
		b.steers = t.nextSteering(leg)
		switch leg.await(ctx, b) {
		case ofLeg:
			if t.news != before {
				silence = firstSilence
				leg.clock.set(atSilenceNotice, silence)
			}
		case ofSilence:
			leg.clock.set(atSilenceNotice, silence)
			if err := t.tellSilence(ctx, silence); err != nil {
				return stopped{err: err}
			}
			silence *= 2
		case ofCancel:
			b.cancel = nil
			leg.clock.set(atGrace, t.graceLeft())
		case ofCancelSent:
			b.cancelSent = nil
			if err := t.showCancelled(ctx); err != nil || leg.hasEnded() {
				return stopped{err: err}
			}
			leg.clock.set(atGrace, t.graceLeft())
		case ofGrace:
			left := t.graceLeft()
			if left <= 0 {
				return stopped{how: overdue}
			}
			leg.clock.set(atGrace, left)
		case ofSteering:
			if t.canSteer() {
				return stopped{how: steered}
			}
			t.steering.tellOutcome(errCannotSteer)
		case ofEnd:
			return stopped{err: ctx.Err()}
		}
	}
}

// setSent notes which message of ours is the newest.
func (t *turn) setSent(m sentMessage) {
	t.sent = m
	t.fold.Sent(m.id, m.text)
}
