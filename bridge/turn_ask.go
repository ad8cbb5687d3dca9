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

// delivery is what has become of the user's answers.
type delivery uint8

const (
	noAnswers   delivery = iota
	answersSent          // to the agent
	answersKept          // the journal has it that the agent has taken them
)

// view is how much of what waits for the user is known.
type view uint8

const (
	partView view = iota // more calls may come
	lostView             // the connection is lost, and it is not known what the agent said since
	fullView             // all: the user is to be asked
)

// ask gets a decision about every call that waits: by what the user has said in
// advance, or from the user. Calls that begin to ask meanwhile are asked about
// too: all answers of a pause go out together, and none before all that waits was
// asked.
//
// It returns no decisions if there is nothing to answer (yet): the calls went on,
// the task has ended, or the connection is down, so that it is not known what else
// waits. What was decided by then stays in Session.decided.
func (t *turn) ask(ctx context.Context, leg *leg) ([]decision, error) {
	for {
		if t.isCancelled() {
			return t.rejections(), nil
		}
		var err error
		questions := t.questions()
		asks := len(questions) > 0 && (t.view != lostView || leg.hasEnded())
		if asks {
			err = t.put(ctx, leg, questions)
		}
		switch {
		case err != nil:
			return nil, err
		case t.fold.State.Terminal():
			return nil, nil
		case asks || t.isCancelled():
			continue
		case leg.hasEnded() && (leg.err != nil || t.view == lostView):
			// The connection was lost while the user was asked, and is not made anew.
			if err := t.lookAtTask(ctx, nil, lookLimit, func() bool { return false }); err != nil {
				return nil, err
			}
		case t.view == lostView:
			return nil, nil
		}
		if t.undecided() == nil {
			return t.decisions(), nil
		}
	}
}

// questions decides what the user has decided in advance (Session.decided), and returns what
// the user is to be asked.
func (t *turn) questions() (questions []mapping.Question) {
	for _, call := range t.undecided() {
		q := t.session.question(call)
		if d, ok := t.session.decide(q); ok {
			t.session.decided[call.Shown] = d
		} else {
			questions = append(questions, q)
		}
	}
	return questions
}

// undecided returns the open calls that have no decision: none about what they ask
// now, or one that the user would not have given in advance any more.
func (t *turn) undecided() (calls []*mapping.ToolCall) {
	for _, call := range t.fold.Calls.Open() {
		d, ok := t.session.decided[call.Shown]
		if ok = ok && d.question.StillAsked(call); ok && (d.by == ByMode || d.by == ByAlways) {
			_, ok = t.session.decide(d.question)
		}
		if !ok {
			calls = append(calls, call)
		}
	}
	return calls
}

// decisions takes what was decided about the calls that still wait. The fold goes on with
// their task.
func (t *turn) decisions() (all []decision) {
	t.fold.EnterOpen()
	for _, call := range t.fold.Calls.Open() {
		if d, ok := t.session.decided[call.Shown]; ok {
			all = append(all, d)
		}
	}
	clear(t.session.decided)
	return all
}

// put puts questions to the user, and decides by the answers, while the leg's stream, if it
// is still open, is shown. It decides nothing if the questions do not count any more.
func (t *turn) put(ctx context.Context, leg *leg, questions []mapping.Question) error {
	for i := range questions {
		t.observe(Observation{What: ObservedAsk, Call: questions[i].Call.ID})
	}
	var answers []mapping.Answer
	var err error
	came := t.doWhileShowing(ctx, leg, beside{exit: t.agent.opts.Client.Exited(), cancel: t.cancelled.Done(), steers: t.steers}, func(ctx context.Context) {
		answers, err = t.editor.Ask(ctx, questions)
	}, func() bool { return !t.fold.State.Terminal() && t.anyOpen(questions) })
	switch {
	case came == ofAnswer:
		return t.decide(ctx, leg, questions, answers, err)
	case came == ofExit:
		return t.agent.opts.Client.ExplainLoss(ctx, transport.ErrInterrupted)
	case came == ofLeg:
		return leg.unshown
	case t.isCancelled(): // not all clients answer their questions after a cancel (avante)
		return nil
	}
	return ctx.Err()
}

// doWhileShowing calls do in another goroutine, and shows what leg, which may be nil, brings until do
// returns (ofAnswer), goesOn is false (ofLeg), or something of b comes. do has returned then in any
// case: its context has ended.
func (t *turn) doWhileShowing(ctx context.Context, leg *leg, b beside, do func(context.Context), goesOn func() bool) (came came) {
	doing, stop := context.WithCancel(ctx)
	done, finish := context.WithCancel(context.Background())
	go func() { // ends with doing
		defer finish()
		do(doing)
	}()
	b.answer = done.Done()
	for leg == nil || leg.unshown == nil && goesOn() {
		if came = leg.await(ctx, b); came == ofSteering {
			t.steering.tellOutcome(errCannotSteer)
		} else if came != ofLeg {
			break
		}
	}
	stop()
	<-done.Done()
	return came
}

// decide notes what the answers of Editor.Ask, and its error err, decide: nothing if they do not
// count any more. If nobody can be asked, it cancels the turn.
func (t *turn) decide(ctx context.Context, leg *leg, questions []mapping.Question, answers []mapping.Answer, err error) error {
	switch {
	case t.isCancelled(), errors.Is(err, ErrPause) && t.view == lostView && !leg.hasEnded():
		return nil // the connection was lost meanwhile: the task is looked at first
	case errors.Is(err, ErrPause) || err != nil && ctx.Err() != nil:
		return err
	case err == nil && len(answers) != len(questions):
		err = fmt.Errorf("editor: answered %d of %d questions", len(answers), len(questions))
	}
	if err != nil {
		t.editorFailed(err) // nobody can answer
		return err
	}
	for i, a := range answers {
		t.session.decided[questions[i].Call.Shown] = t.session.accept(questions[i], a)
	}
	return nil
}

// rejections are what a cancel decides, in place of decisions: all calls that wait are
// rejected, also where the user has approved one and that was not sent.
func (t *turn) rejections() []decision {
	for _, call := range t.fold.Calls.Open() {
		q := t.session.question(call)
		t.session.decided[call.Shown] = decision{question: q, option: q.Reject(), by: ByCancel}
	}
	return t.decisions()
}

func (t *turn) anyOpen(questions []mapping.Question) bool {
	return slices.ContainsFunc(t.fold.Calls.Open(), func(call *mapping.ToolCall) bool {
		return slices.ContainsFunc(questions, func(q mapping.Question) bool { return q.Call.Shown == call.Shown })
	})
}

// lookAtTask asks for the task, and shows it, unless what leg brings meanwhile is enough: see
// [turn.requestWhileShowing].
func (t *turn) lookAtTask(ctx context.Context, leg *leg, limit time.Duration, enough func() bool) error {
	taskID := t.fold.TaskID
	task, err := t.requestWhileShowing(ctx, leg, limit, func(ctx context.Context) (*a2a.Event, error) {
		return t.agent.opts.Client.Get(ctx, taskID, allHistory)
	}, enough)
	if task == nil || err != nil {
		return err
	}
	return t.showTask(ctx, task)
}

// showTask shows what a task that was looked at has become.
func (t *turn) showTask(ctx context.Context, task *a2a.Event) error {
	if t.view == lostView {
		t.view = partView
	}
	t.steps = t.fold.Event(shown.Snapshot, task, t.steps[:0])
	if len(t.steps) == 0 {
		return nil
	}
	return t.editor.Show(ctx, t.steps)
}

// passOn ends a leg in whose place r, a message to its task, begins one, and gives r its
// streams. What they say counts no more, so that what a look has brought before they did is
// shown now. A stream that was behind it may hold words that the task does not.
func (t *turn) passOn(ctx context.Context, leg *leg, r *request) {
	if g := leg.passTo(r); g.task != nil {
		if g.asks {
			t.fold.Cut()
		}
		_ = t.showTask(ctx, g.task) // an editor that fails has cancelled the turn
	}
}

// rejectPause is how long after a cancel the calls that waited are rejected. Neither waits for
// the answer to the other: an agent may take one of them only.
const rejectPause = 5 * time.Millisecond

// cannotReject reports whether decisions of a cancelled turn cannot be sent, since the agent has
// named no option that rejects one of the calls: cancelling the task rejects it.
func cannotReject(decisions []decision) bool {
	return slices.ContainsFunc(decisions, func(d decision) bool { return d.by == ByCancel && d.option.CancelsTask })
}

// errRejected ends a turn whose task was cancelled to reject a call.
var errRejected = errors.New("the task was cancelled")

// answerRequest returns the request that sends decisions to the agent; fold and journal have
// them then. Where one of them can only be given by cancelling the task, it does that
// instead, and returns what cancelToReject does.
func (t *turn) answerRequest(ctx context.Context, leg *leg, decisions []decision) (*request, error) {
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
		t.observe(Observation{What: ObservedAnswer, Call: d.question.Call.ID, Option: d.option.ID, Outcome: d.option.Kind, By: d.by})
		t.fold.Calls.Answered(d.question.Call.ID, d.option.Allows())
		if d.by == ByDismissed {
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
	if t.isCommand || t.session.beginsWithCommand {
		// A slash command's request has no room for settings, so that this is the
		// first message of its task.
		t.session.beginsWithCommand = false
		if err := t.session.applySettings(m, t.writing); err != nil {
			return nil, err
		}
	}
	r := t.sendRequest(m)
	r.answers = true
	for _, a := range answers {
		r.calls = append(r.calls, a.Call.ID)
	}
	return r, nil
}

// cancelToReject cancels the task, since the agent has named no option that rejects one of
// its calls, and returns errRejected. If the agent refuses that because all of them have gone
// on, the request follows the task. What leg, nil if there is none, brings meanwhile is
// shown: without an answer to the cancel, nothing else may tell that a call has run all the
// same, or that the task is over. Then there is neither request nor error.
func (t *turn) cancelToReject(ctx context.Context, leg *leg, decisions []decision) (*request, error) {
	var titles, ids []string
	for _, d := range decisions {
		t.fold.Calls.Answered(d.question.Call.ID, false)
		titles, ids = append(titles, mapping.Title(d.question.Call)), append(ids, d.question.Call.ID)
	}
	t.rejected = true
	taskID := t.fold.TaskID
	task, err := t.requestWhileShowing(ctx, leg, cancelGrace, func(ctx context.Context) (*a2a.Event, error) {
		return t.agent.cancelTask(ctx, taskID, "no option rejects the call")
	}, func() bool {
		return t.fold.State.Terminal() && t.fold.State != a2a.StateCanceled || leg.endedWell() && !t.fold.Calls.Waits() && !t.fold.Calls.Undelivered(ids...)
	})
	apart := t.writing.Traits().AnswersApart
	aborted := apart && t.fold.State == a2a.StateFailed && t.fold.FailText == "" // as opencode-a2a calls what is cancelled
	if task == nil && err == nil && !aborted {
		t.rejected = false
		t.forgetRejected(ids)
		return nil, nil
	}
	if refusal := refusalOf(err); refusal != nil && t.hasGoneOn(ctx, leg, cancelGrace, refusal, ids) {
		t.rejected = false
		return t.followRequest(), nil
	}
	if err != nil {
		t.fold.Doubt() // somebody else may allow it, or has
		return nil, fmt.Errorf("agent: it offers no way to reject %s, and its task %s could not be cancelled: %w: nothing was allowed",
			strings.Join(titles, ", "), t.fold.TaskID, err)
	}
	if leg != nil && !leg.endedWell() {
		// What the task has said that no stream has brought. That it cannot be asked for changes
		// nothing: it is cancelled.
		_ = t.lookAtTask(ctx, leg, showWait, func() bool { return t.fold.State.Terminal() })
	}
	why := "The agent offers no way to reject a call alone."
	if apart {
		why = "a2astdio cannot answer what this agent asks."
	}
	notice := fmt.Sprintf("\n[%s Its task was cancelled: %s was not allowed.]\n", why, strings.Join(titles, ", "))
	t.steps = append(t.steps[:0], t.notice(notice))
	if task != nil {
		t.steps = t.fold.Event(shown.Live, asStatus(task), t.steps)
	}
	if err := t.editor.Show(ctx, t.steps); err != nil {
		return nil, err
	}
	return nil, errRejected
}

// showWait is how long a look at a task may take whose call was rejected by cancelling it.
const showWait = 2 * time.Second

// requestWhileShowing makes a request, in another goroutine, and shows what leg, which may be nil, brings
// until that is answered: for limit at most, and while a cancel allows it. It returns no task if
// what was shown is enough.
func (t *turn) requestWhileShowing(ctx context.Context, leg *leg, limit time.Duration, request func(context.Context) (*a2a.Event, error), enough func() bool) (task *a2a.Event, err error) {
	ctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	defer context.AfterFunc(t.cancelled, func() { time.AfterFunc(t.graceLeft(), stop) })()
	came := t.doWhileShowing(ctx, leg, beside{}, func(ctx context.Context) { task, err = request(ctx) }, func() bool { return !enough() })
	if came == ofLeg {
		return nil, leg.unshown
	}
	return task, err
}
