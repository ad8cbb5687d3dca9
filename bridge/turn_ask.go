package bridge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/mapping/spell"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// ask gets a decision about every call that waits: by what the user has said in
// advance, or from the user. Calls that begin to ask meanwhile are asked about
// too: all answers of a pause go out together, and none before all that waits was
// asked.
//
// It returns no decisions if there is nothing to answer (yet): the calls went on,
// the task has ended, or the connection is down, so that it is not known what else
// waits. What was decided by then is kept in t.given.
func (t *turn) ask(ctx context.Context, leg *leg) ([]decision, error) {
	for {
		if t.isCancelled() {
			return t.rejectOpen(), nil
		}
		if err := t.askOpen(ctx, leg); err != nil {
			return nil, err
		}
		if t.fold.State.Terminal() {
			return nil, nil
		}
		switch {
		case t.isCancelled():
			return t.rejectOpen(), nil
		case leg.hasEnded() && (leg.err != nil || t.down):
			// The connection was lost while the user was asked, and is not made anew.
			if err := t.reconcile(ctx, ctx); err != nil {
				return nil, err
			}
		case t.down:
			return nil, nil
		}
		if t.undecided() == nil {
			return t.decisions(), nil
		}
	}
}

// askOpen asks until each open call has a decision, or the connection is lost.
func (t *turn) askOpen(ctx context.Context, leg *leg) error {
	for {
		var questions []mapping.Question
		for _, call := range t.undecided() {
			q := t.session.question(call)
			if d, ok := t.session.decide(q); ok {
				t.given[call.Shown] = d
				continue
			}
			questions = append(questions, q)
		}
		if len(questions) == 0 || t.down && !leg.hasEnded() {
			return nil
		}
		decisions, err := t.put(ctx, leg, questions)
		if err != nil {
			return err
		}
		for _, d := range decisions {
			t.given[d.question.Call.Shown] = d
		}
		if t.fold.State.Terminal() {
			return nil
		}
	}
}

// undecided returns the open calls that have no decision: none about what they ask
// now, or one that the user would not have given in advance any more.
func (t *turn) undecided() (calls []*mapping.ToolCall) {
	for _, call := range t.fold.Open() {
		d, ok := t.given[call.Shown]
		if ok = ok && d.question.StillAsked(call); ok && (d.by == ByMode || d.by == ByAlways) {
			_, ok = t.session.decide(d.question)
		}
		if !ok {
			calls = append(calls, call)
		}
	}
	return calls
}

// decisions returns what was decided about the calls that still wait.
func (t *turn) decisions() (all []decision) {
	t.fold.EnterOpen()
	for _, call := range t.fold.Open() {
		if d, ok := t.given[call.Shown]; ok {
			all = append(all, d)
		}
	}
	clear(t.given)
	return all
}

// put puts questions to the user while the leg's stream, if it is still open, is shown.
// It returns no decisions if the questions do not count any more.
func (t *turn) put(ctx context.Context, leg *leg, questions []mapping.Question) ([]decision, error) {
	for i := range questions {
		t.observe(Observation{What: ObservedAsk, Call: questions[i].Call.ID})
	}
	askCtx, stop := context.WithCancel(ctx)
	defer stop()
	answered := make(chan struct{})
	var answers []mapping.Answer
	var err error
	go func() { // ends when Ask returns, which it does at once when askCtx ends
		answers, err = t.editor.Ask(askCtx, questions)
		close(answered)
	}()
	for {
		came := leg.next(ctx, beside{answer: answered, exit: t.agent.opts.Client.Exited(), cancel: t.cancelled.Done(), steers: t.steers})
		switch {
		case came == ofAnswer:
			return t.decide(ctx, leg, questions, answers, err)
		case came == ofSteering:
			t.steering.over(errCannotSteer)
			continue
		case came == ofLeg && leg.unshown == nil && !t.fold.State.Terminal() && t.anyOpen(questions):
			continue
		}
		stop()
		<-answered
		switch {
		case came == ofExit:
			return nil, t.agent.opts.Client.ExplainLoss(ctx, transport.ErrInterrupted)
		case came == ofLeg:
			return nil, leg.unshown
		case t.isCancelled(): // not all clients answer their questions after a cancel (avante)
			return rejectAll(questions), nil
		}
		return nil, ctx.Err()
	}
}

// decide returns what the user's answers decide, or what becomes of the questions that err has
// left without one.
func (t *turn) decide(ctx context.Context, leg *leg, questions []mapping.Question, answers []mapping.Answer, err error) ([]decision, error) {
	switch {
	case t.isCancelled():
		return rejectAll(questions), nil
	case errors.Is(err, ErrPause) && t.down && !leg.hasEnded():
		return nil, nil // the connection was lost meanwhile: the task is looked at first
	case errors.Is(err, ErrPause) || err != nil && ctx.Err() != nil:
		return nil, err
	case err == nil && len(answers) != len(questions):
		err = fmt.Errorf("editor: answered %d of %d questions", len(answers), len(questions))
	}
	if err != nil {
		t.lose(err) // nobody can answer
		return nil, err
	}
	decisions := make([]decision, len(questions))
	for i, a := range answers {
		decisions[i] = t.session.accept(questions[i], a)
	}
	return decisions, nil
}

// rejectOpen rejects all calls that wait. An approval that was not sent before the user
// cancelled is dropped.
func (t *turn) rejectOpen() []decision {
	t.fold.EnterOpen()
	var questions []mapping.Question
	for _, call := range t.fold.Open() {
		questions = append(questions, t.session.question(call))
	}
	clear(t.given)
	return rejectAll(questions)
}

func rejectAll(questions []mapping.Question) []decision {
	decisions := make([]decision, len(questions))
	for i, q := range questions {
		decisions[i] = decision{question: q, option: q.Reject(), by: ByCancel}
	}
	return decisions
}

func (t *turn) anyOpen(questions []mapping.Question) bool {
	return slices.ContainsFunc(t.fold.Open(), func(call *mapping.ToolCall) bool {
		return slices.ContainsFunc(questions, func(q mapping.Question) bool { return q.Call.Shown == call.Shown })
	})
}

// reconcile shows what the task has become while the connection was lost, before
// an answer goes to it. reading bounds the look at the task only: the editor may be slow.
func (t *turn) reconcile(ctx, reading context.Context) error {
	task, err := t.agent.opts.Client.Get(reading, t.fold.TaskID, allHistory)
	if err != nil {
		return err
	}
	return t.showTask(ctx, task)
}

// showTask shows what a task that was looked at has become.
func (t *turn) showTask(ctx context.Context, task *a2a.Event) error {
	t.down = false
	t.steps = t.fold.Event(shown.Snapshot, task, t.steps[:0])
	if len(t.steps) == 0 {
		return nil
	}
	return t.editor.Show(ctx, t.steps)
}

// handOver ends a leg whose questions are answered, and returns its streams for the next one. What
// they say counts no more, so that what a look has brought before they did is shown now.
func (t *turn) handOver(ctx context.Context, leg *leg) (*readers, bool) {
	readers, task, owes := leg.handOver()
	if task != nil {
		_ = t.showTask(ctx, task) // an editor that fails has cancelled the turn
	}
	return readers, owes
}

// rejectPause is how long after a cancel the calls that waited are rejected. Neither waits for
// the answer to the other: an agent may take one of them only.
const rejectPause = 5 * time.Millisecond

// cannotReject reports whether decisions of a cancelled turn cannot be sent, since the agent has
// named no option that rejects: cancelling the task does.
func cannotReject(decisions []decision) bool {
	return slices.ContainsFunc(decisions, func(d decision) bool { return d.by == ByCancel && d.option.CancelsTask })
}

// errRejected ends a turn whose task was cancelled to reject a call.
var errRejected = errors.New("the task was cancelled")

// answer makes the request that sends decisions to the agent. Where one of them
// can only be given by cancelling the task, it does that instead, and returns no
// request.
func (t *turn) answer(ctx context.Context, leg *leg, decisions []decision) (*request, error) {
	if t.isCancelled() {
		select { // tasks/cancel goes first
		case <-time.After(rejectPause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	var answers []mapping.Answer
	cancels := false
	for _, d := range decisions {
		t.observeAnswer(&d)
		t.fold.Answered(d.question.Call.ID, d.option.Allows())
		if d.unanswered {
			t.unanswered = append(t.unanswered, d.question.Call)
		}
		if cancels = cancels || d.option.CancelsTask; !cancels {
			answers = append(answers, d.answer())
		}
	}
	if cancels {
		return t.cancelToReject(ctx, leg, decisions)
	}
	for _, d := range decisions {
		t.session.record(spell.AnswerLine(nil, d.question.Call, t.fold.TaskID))
	}
	m := &a2a.Outgoing{ID: t.agent.opts.NewID(), TaskID: t.fold.TaskID, ContextID: t.fold.ContextID}
	if err := t.writing.Answers(answers, m); err != nil {
		return nil, err
	}
	if t.isCommand || t.session.isCommand {
		// A slash command's request has no room for settings, so that this is the
		// first message of its task.
		t.session.isCommand = false
		if err := t.session.settings(m, t.writing); err != nil {
			return nil, err
		}
	}
	r := t.send(m)
	r.answers = true
	for _, a := range answers {
		r.calls = append(r.calls, a.Call.ID)
	}
	return r, nil
}

// cancelToReject cancels the task, since the agent has named no option that
// rejects one of its calls. If the agent refuses that because all of them have gone on, the
// task is followed. What leg, nil if there is none, brings meanwhile is shown: without an
// answer to the cancel, nothing else may tell that a call has run all the same.
func (t *turn) cancelToReject(ctx context.Context, leg *leg, decisions []decision) (*request, error) {
	var titles, ids []string
	for _, d := range decisions {
		t.fold.Answered(d.question.Call.ID, false)
		titles, ids = append(titles, mapping.Title(d.question.Call)), append(ids, d.question.Call.ID)
	}
	t.rejected = true
	taskID := t.fold.TaskID
	task, err := t.showing(ctx, leg, cancelGrace, func(ctx context.Context) (*a2a.Event, error) {
		return t.agent.cancelTask(ctx, taskID, "no option rejects the call")
	}, func() bool {
		return t.fold.State.Terminal() && t.fold.State != a2a.StateCanceled || leg.isOver() && !t.fold.Waits() && !t.fold.Unheard(ids...)
	})
	if task == nil && err == nil {
		t.rejected = false
		t.forgetRejected(ids)
		return nil, nil
	}
	if refusal := (*a2a.Error)(nil); errors.As(err, &refusal) && t.hasGoneOn(ctx, leg, cancelGrace, refusal, ids) {
		t.rejected = false
		return t.followTask(), nil
	}
	if err != nil {
		t.fold.Doubt() // somebody else may allow it, or has
		return nil, fmt.Errorf("agent: it offers no way to reject %s, and its task %s could not be cancelled: %w: nothing was allowed",
			strings.Join(titles, ", "), t.fold.TaskID, err)
	}
	if leg != nil && !leg.isOver() {
		t.showWhole(ctx, leg, taskID)
	}
	notice := fmt.Sprintf("\n[The agent offers no way to reject a call alone. Its task was cancelled: %s was not allowed.]\n", strings.Join(titles, ", "))
	t.steps = t.fold.Event(shown.Live, stateOf(task), append(t.steps[:0], t.notice(notice)))
	if err := t.editor.Show(ctx, t.steps); err != nil {
		return nil, err
	}
	return nil, errRejected
}

// showWait is how long a look at a task may take whose call was rejected by cancelling it.
const showWait = 2 * time.Second

// showWhole shows what a task has said that no stream has brought, and what leg brings meanwhile:
// the task is cancelled, whatever else it said. That it cannot be asked for changes nothing.
func (t *turn) showWhole(ctx context.Context, leg *leg, taskID string) {
	task, err := t.showing(ctx, leg, showWait, func(ctx context.Context) (*a2a.Event, error) {
		return t.agent.opts.Client.Get(ctx, taskID, allHistory)
	}, func() bool { return t.fold.State.Terminal() })
	if err == nil && task != nil {
		_ = t.showTask(ctx, task)
	}
}

// showing makes a request, in another goroutine, and shows what leg, which may be nil, brings
// until that is answered: for limit at most, and while a cancel allows it. It returns no task if
// what was shown is enough.
func (t *turn) showing(ctx context.Context, leg *leg, limit time.Duration, request func(context.Context) (*a2a.Event, error), enough func() bool) (task *a2a.Event, err error) {
	requestCtx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	answered := make(chan struct{})
	go func() { // ends with requestCtx
		task, err = request(requestCtx)
		close(answered)
	}()
	for leg == nil || !leg.hasEnded() || !enough() {
		switch came := leg.next(ctx, beside{answer: answered, grace: t.graceOver}); {
		case came == ofAnswer:
			return task, err
		case came != ofLeg: // it is too late for an answer
			stop()
			<-answered
			return task, err
		case leg.unshown != nil || enough():
			stop()
			<-answered
			return nil, leg.unshown
		}
	}
	stop()
	<-answered
	return nil, nil
}
