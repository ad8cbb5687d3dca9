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
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file sends what was decided about calls to the agent, or cancels the task to reject one.

// rejectPause is how long after a cancel the calls that waited are rejected. Neither waits for
// the answer to the other: an agent may take one of them only.
const rejectPause = 5 * time.Millisecond

// cannotReject reports whether decisions of a cancelled turn cannot be sent, since the agent has
// named no option that rejects one of the calls: the cancel, which is under way, rejects it, and
// nothing else is to be done.
func cannotReject(decisions []decision) bool {
	return slices.ContainsFunc(decisions, func(d decision) bool { return d.by == ByCancel && d.option.CancelsTask })
}

// contradict reports whether decisions allow and reject calls that their answers do not tell apart: the agent may take
// either for its question. A question without a call has no ID; LangGraph's server counts the calls of each question.
func contradict(decisions []decision) bool { // rule: contradict
	allowed := map[string]bool{}
	for _, d := range decisions {
		call := d.question.Call
		if was, known := allowed[call.QuestionID]; call.Bare && known && was != d.option.Allows() {
			return true
		}
		if call.Bare {
			allowed[call.QuestionID] = d.option.Allows()
		}
	}
	return false
}

// errContradict ends a turn whose decisions contradict.
var errContradict = errors.New("agent: it asks two questions at once, and nothing tells which one an answer is for: nothing was answered")

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
	cancels := slices.ContainsFunc(decisions, func(d decision) bool { return d.option.CancelsTask })
	if !cancels && contradict(decisions) {
		return nil, errContradict
	}
	var answers []mapping.Answer
	for _, d := range decisions {
		t.observe(Observation{What: ObservedAnswer, Call: d.question.Call.ID, Option: d.option.ID, Outcome: d.option.Kind, By: d.by})
		t.fold.Calls.Answered(d.question.Call.ID, d.option.Allows())
		if d.by == ByDismissed {
			t.unanswered = append(t.unanswered, d.question.Call)
		}
		if !cancels {
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
	wentOn := func() bool {
		return t.fold.State.Terminal() && t.fold.State != a2a.StateCanceled || leg.endedWell() && !t.fold.Calls.Waits() && !t.fold.Calls.Undelivered(ids...)
	}
	task, err := t.requestWhileShowing(ctx, meanwhile{leg, cancelGrace, wentOn}, func(ctx context.Context) (*a2a.Event, error) {
		return t.agent.cancelTask(ctx, taskID, "no option rejects the call")
	})
	elsewhere := t.writing.Traits().AnsweredElsewhere
	aborted := elsewhere && t.fold.State == a2a.StateFailed && t.fold.FailText == "" // as opencode-a2a calls what is cancelled
	if task == nil && err == nil && !aborted {
		t.rejected = false
		t.forgetRejected(ids)
		return nil, nil
	}
	if refusal := a2a.ErrorOf(err); refusal != nil && t.wentOnWithout(ctx, meanwhile{leg: leg, limit: cancelGrace}, refusal, ids) {
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
		_ = t.lookAtTask(ctx, meanwhile{leg, showWait, func() bool { return t.fold.State.Terminal() }})
	}
	why := "The agent offers no way to reject a call alone."
	if elsewhere {
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

// delivery is what has become of the user's answers.
type delivery uint8

const (
	noAnswers   delivery = iota
	answersSent          // to the agent
	answersKept          // the journal has it that the agent has taken them
)
