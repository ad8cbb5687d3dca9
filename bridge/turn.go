package bridge

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/dialect"
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
	session    *Session
	agent      *Agent
	editor     Editor
	fold       *mapping.Fold
	writing    dialect.Writing
	card       *a2a.Card
	steps      []mapping.Step
	shows      int                 // how much was shown of what legs have brought
	spoken     int                 // and how much of it the agent has said
	authTold   bool                // the user was told that the agent wants authentication
	answers    answers             // the user's, in this turn
	stale      int                 // looks in a row that were older than what is known
	view       view                // of what waits for the user
	given      map[string]decision // the session's
	unanswered []*mapping.ToolCall // calls that were rejected because nobody answered
	rejected   bool                // by cancelling the task: see cancelToReject
	isCommand  bool                // a slash command, whose task is not the conversation's
	// askedContext is the context that the message goes on in, if the agent has named
	// it. lossTold: the user knows that the agent may have lost the conversation.
	askedContext string
	lossTold     bool
	// past: it belongs to a prompt of an earlier process: see takeUp.
	past bool
	// told: the editor knows that it is over, or cancels by it what was left. informed: it was
	// written behind that of the turn before, by a user who knows what the agent has asked. Both
	// for ACP's version 2.
	told, informed bool
	trace          a2a.TraceContext // the editor's
	// accepted, if set, is called when the prompt is about to be sent.
	accepted func(ctx context.Context)
	// steers takes messages for the task; steering is the one that is to be sent next.
	steers   chan *steering
	steering *steering
	sent     [2]string       // ID and text of our newest message that was not refused
	ctx      context.Context // of its run
	// execution is what the agent has answered to a slash command, if that was no
	// stream: the fold has it otherwise.
	execution dialect.Execution
	cancelling
}

func newTurn(s *Session) *turn {
	t := &turn{session: s, agent: s.agent, fold: s.fold, given: s.given, steers: make(chan *steering)}
	t.over, t.free = context.WithCancel(context.Background())
	t.cancelled, t.end = context.WithCancel(context.Background())
	t.agentTold, t.noteTold = context.WithCancel(context.Background())
	t.runs = errUnanswered
	return t
}

func (t *turn) release() {
	t.session.journal.Rest()
	t.session.mu.Lock()
	defer t.session.mu.Unlock()
	t.free()
	t.session.line = slices.DeleteFunc(t.session.line, func(other *turn) bool { return other == t })
	if t.session.shutting && len(t.session.line) == 0 {
		_ = t.session.journal.Close() // it has been written
	}
}

// A request is what begins a leg.
type request struct {
	// message is what send sends, nil if it is something else.
	message *a2a.Outgoing
	// before has ID and text of the message that was sent before it.
	before [2]string
	// answers: the message answers the agent's questions, and is no prompt.
	answers bool
	// calls are the IDs of those that are answered.
	calls []string
	// taskID is the task that it is about, if that is known.
	taskID string
	// was is the state that the task rests in, as far as that is known.
	was mapping.Rest
	// beyond: the agent has already said something of the task.
	beyond bool
	// readers are the streams of the leg before, if there are any.
	readers *readers
	// owes: the leg before has not looked at all that its streams have said.
	owes bool
	// steering, if set, is what message says.
	steering *steering
	// leg, if set, is resumed instead of sending anything.
	leg *leg
	// send makes it. If send is nil the task is followed as after a cut.
	send func(context.Context) (begun, error)
}

// begun is what a request has brought, also beside an error.
type begun struct {
	stream    *transport.Stream                    // nil if nothing follows
	taskID    string                               // if it is known
	steps     []mapping.Step                       // to show
	then      func(context.Context) (begun, error) // what is to be done next, if that is not nil
	execution dialect.Execution
}

// run runs a turn. open makes the request that begins it; fresh says that it
// does not go on from a question of the turn before.
func (t *turn) run(ctx context.Context, editor Editor, fresh bool, open func(context.Context) (*request, error)) (Result, error) {
	t.editor = &shownEditor{editor, t}
	defer t.session.save()
	ctx, stop := context.WithCancel(ctx)
	t.ctx = ctx
	defer t.telling.Wait()
	defer stop()
	t.telling.Go(func() { t.heed(ctx) }) // ends with ctx

	next, err := t.ready(ctx, open)
	if t.rejected {
		return t.finish(ctx, ended, err)
	}
	if err != nil {
		if t.isCancelled() {
			return Result{StopReason: acp.StopCancelled, State: a2a.StateCanceled}, nil
		}
		return Result{}, err
	}
	if t.isCancelled() {
		return t.unsent(ctx, next)
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
	switch {
	case fresh:
		t.fold.Begin(next.taskID)
	default:
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
	how := ended
	for next != nil {
		next, how, err = t.runLeg(ctx, next)
	}
	if isDetached(ctx) {
		// The journal ends in the middle of the turn, with which the next process goes on.
		t.session.rememberAfterError()
		return Result{}, err
	}
	r, err := t.finish(ctx, how, err)
	if t.isCancelled() && ctx.Err() != nil {
		err = nil // it is due to the end of the process
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return r, cmp.Or(t.lost, err)
}

// ready contacts the agent, if need be, and makes the first request. It gives up
// when the turn is cancelled.
func (t *turn) ready(ctx context.Context, open func(context.Context) (*request, error)) (*request, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(t.cancelled, stop)()
	card, writing, err := t.reach(ctx)
	if err != nil {
		return nil, err
	}
	t.card, t.writing = card, writing
	return open(ctx)
}

// say makes the request that sends a prompt, or what the agent wants in place of it.
func (t *turn) say(ctx context.Context, m *a2a.Outgoing) (*request, error) {
	t.takeUnseen(ctx, m.TaskID)
	if err := t.fold.Reply(m); err != nil {
		return nil, err
	}
	return t.send(m), nil
}

// send makes the request that sends a message.
func (t *turn) send(m *a2a.Outgoing) *request {
	m.Trace = t.trace
	return &request{message: m, taskID: m.TaskID, was: t.fold.Rest(m.TaskID), send: func(ctx context.Context) (begun, error) {
		stream, err := t.agent.opts.Client.Send(ctx, m)
		return begun{stream: stream}, err
	}}
}

// runLeg runs the leg that a request begins, or resumes, until it is over, the turn leaves it, or the user is to
// answer later. next is what the turn goes on with: his answers, a message of his for the task, or what is
// sent in place of a refused one; nil: it ends, and how says why.
func (t *turn) runLeg(ctx context.Context, r *request) (next *request, how end, err error) {
	leg, settled := r.leg, false
	t.view = partView
	if leg == nil {
		if r.message != nil {
			r.before = t.sent
			t.sent = [2]string{r.message.ID, textOf(r.message)}
			t.fold.Sent(t.sent[0], t.sent[1])
		}
		leg = t.follow(r)
	} else if settled, err = t.hasSettled(ctx, leg); err != nil {
		leg.leave(true)
		return nil, ended, err
	}
	for ; ; settled = false {
		how = paused
		if !settled {
			how, err = t.stream(ctx, leg)
		}
		if how == steered {
			return t.steer(ctx, leg, t.steering), ended, nil
		}
		r.steering.over(leg.untaken(err))
		if err != nil || how != paused {
			if errors.As(err, new(*cutError)) {
				t.observe(Observation{What: ObservedGiveUp, Why: err.Error()})
			}
			leg.leave((err != nil || how == overdue || t.isCancelled()) && !isDetached(ctx))
			return t.onward(ctx, leg, err, r), how, err
		}
		why := "they have waited long enough, with the stream still open"
		if leg.hasEnded() {
			why = "the stream has ended"
		}
		t.observe(Observation{What: ObservedSettle, Why: why})
		decisions, err := t.ask(ctx, leg)
		if t.view == fullView {
			t.view = partView
		}
		switch {
		case errors.Is(err, ErrPause):
			t.session.paused = leg
			return nil, paused, nil
		case err != nil:
			leg.leave(!isDetached(ctx))
			return nil, ended, err
		case len(decisions) == 0 || cannotReject(decisions):
			continue // the calls went on without us, the connection is down, or the cancel does it
		}
		t.answers = max(t.answers, answersSent)
		if next, err = t.answer(ctx, leg, decisions); next == nil {
			leg.leave(false)
			return nil, ended, err
		}
		next.readers, next.owes = t.handOver(ctx, leg)
		return next, ended, nil
	}
}

// hasSettled shows what a paused leg has brought since, and reports whether it has
// brought nothing: then all calls that wait were asked about.
func (t *turn) hasSettled(ctx context.Context, leg *leg) (bool, error) {
	leg.turn, leg.flows = t, false
	before := t.shows
	for waits := true; waits && t.shows == before; {
		in, _ := leg.listens()
		select {
		case b := <-in.batches:
			leg.take(b, false)
			leg.closeOver()
		default:
			waits = false
		}
	}
	return t.shows == before || t.view == fullView, leg.unshown
}

// stream shows what a leg brings until it ends, has the user asked, or is overdue.
func (t *turn) stream(ctx context.Context, leg *leg) (end, error) {
	quiet := firstSilence
	leg.clock.set(atQuiet, quiet)
	defer leg.clock.stop(atQuiet)
	defer leg.clock.stop(atGrace)
	b := beside{cancel: t.cancelled.Done(), told: t.agentTold.Done()}
	leg.flows = false
	for {
		switch {
		case t.view == fullView && t.waitsForUser():
			if t.fold.Waits() {
				return paused, nil
			}
			leg.giveHeld(true)
			return ended, leg.unshown // the next prompt answers
		case leg.hasEnded() && !t.awaitsCancel(leg):
			return t.legOver(leg)
		}
		before := t.spoken
		b.steers = t.nextSteering(leg)
		switch leg.next(ctx, b) {
		case ofLeg:
			if t.spoken != before {
				quiet = firstSilence
				leg.clock.set(atQuiet, quiet)
			}
		case ofSilence:
			leg.clock.set(atQuiet, quiet)
			if err := t.tellSilence(ctx, quiet); err != nil {
				return ended, err
			}
			quiet *= 2
		case ofCancel:
			b.cancel = nil
			leg.clock.set(atGrace, t.graceLeft())
		case ofTold:
			b.told = nil
			if err := t.showCancelled(ctx); err != nil || leg.hasEnded() {
				return ended, err
			}
			leg.clock.set(atGrace, t.graceLeft())
		case ofGrace:
			left := t.graceLeft()
			if left <= 0 {
				return overdue, nil
			}
			leg.clock.set(atGrace, left)
		case ofSteering:
			if t.canSteer() {
				return steered, nil
			}
			t.steering.over(errCannotSteer)
		case ofEnd:
			return ended, ctx.Err()
		}
	}
}

// textOf is the text of a message of ours.
func textOf(m *a2a.Outgoing) string {
	text := ""
	for _, p := range m.Parts {
		text += p.Text
	}
	return text
}
