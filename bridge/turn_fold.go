package bridge

import (
	"context"
	"slices"
	"time"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/mapping/spell"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// show hands what a leg has brought to the editor as steps, as slowly as that takes them, and returns
// what the leg decides by then; nothing, where a text grows and that is all (leg.flows, which it ends
// otherwise). The error is the editor's.
func (t *turn) show(leg *leg, n *brought) (now callFacts, err error) {
	t.shows++
	steps := t.stepsOf(leg, n, t.steps[:0])
	if len(n.events) > 0 && n.verb != shown.Glance && (n.verb == shown.Live || len(steps) > 0) { // a look that shows nothing is not its word
		t.news++
	}
	if n.verb != shown.Live && slices.ContainsFunc(steps, isWords) {
		t.words++
	}
	if !leg.flows {
		t.noteTask()
		t.session.noteDialects()
	}
	if len(n.events) > 0 && n.verb == shown.Live {
		t.noteTaken(leg)
	}
	if len(steps) > 0 {
		err = t.editor.Show(t.ctx, steps)
	}
	clear(steps) // a large text would be held until the next one has been read
	t.steps = steps
	if !leg.flows {
		t.chooseCancel(leg)
		now = t.callFacts(leg)
	}
	return now, err
}

// isWords reports whether a step shows words of the agent's, or a part that has none, for the first time.
func isWords(x mapping.Step) bool {
	return !x.Repeats && (x.Kind == mapping.StepText || x.Kind == mapping.StepThought || x.Kind == mapping.StepPart)
}

// stepsOf appends the steps of what a leg has brought, with the notices that belong to it, and ends leg.flows.
func (t *turn) stepsOf(leg *leg, n *brought, steps []mapping.Step) []mapping.Step {
	if n.conn != nil {
		steps = t.connection(n.conn, steps)
	}
	steps = append(steps, n.steps...)
	if len(n.events) > 0 {
		if n.verb != shown.Live && t.view == lostView {
			steps = append(steps, t.cutCost(n)...)
		}
		if steps = t.foldEvents(leg, n, steps); leg.flows {
			return steps
		}
		if n.verb != shown.Live && t.view == lostView {
			t.view = partView
		}
	}
	steps = t.tellOtherContext(steps)
	for i := range steps {
		if s := &steps[i]; s.Kind == mapping.StepError {
			s.Text = t.agent.opts.Mask(s.Text)
		}
	}
	if t.fold.State == a2a.StateAuthRequired && !t.authTold && !t.fold.WaitsForWords() {
		t.authTold = true
		steps = append(steps, t.notice("\n[The agent waits until you have authenticated with it.]\n"))
	}
	return steps
}

// connection appends the step that tells what became of the connection. A lost one is a cut to the
// fold, and to turn.view.
func (t *turn) connection(c *mapping.Connection, steps []mapping.Step) []mapping.Step {
	if c.Phase == mapping.PhaseLost {
		t.view = lostView // the leg asks again behind a look
		t.fold.Cut()
	}
	whats := map[mapping.Phase]Observed{mapping.PhaseLost: ObservedLost, mapping.PhaseRetrying: ObservedReconnect, mapping.PhasePolling: ObservedPoll}
	if what, ok := whats[c.Phase]; ok {
		t.observe(Observation{What: what, Why: c.Why, Attempt: c.Attempt})
	}
	return append(steps, mapping.Step{Kind: mapping.StepConnection, TaskID: t.fold.TaskID, ContextID: t.fold.ContextID, Connection: *c})
}

// foldEvents appends the steps of events, and ends leg.flows if they do more than go on with a text.
func (t *turn) foldEvents(leg *leg, n *brought, steps []mapping.Step) []mapping.Step {
	var o *Observation // of all events
	if t.agent.opts.Observe != nil {
		o = new(Observation)
	}
	for i := range n.events {
		at := len(steps)
		steps = t.fold.Event(n.verb, &n.events[i], steps)
		leg.flows = leg.flows && t.fold.Grew()
		if o != nil {
			t.observeEvent(o, &n.events[i], steps[at:])
		}
	}
	return steps
}

// noteTaken notes, at each event of the leg's own stream, that the agent has taken its message: of
// answers the journal is to have it. Looks do not call it: see leg.noteArrival.
func (t *turn) noteTaken(leg *leg) {
	leg.request.steering.tellOutcome(nil)
	if leg.request.answers && t.delivery == answersSent {
		t.delivery = answersKept
		t.session.record(spell.HeardLine(nil, t.fold.TaskID))
	}
}

// cutNotice says what a cut costs with an agent that cannot be subscribed to. It is
// said once, at the first cut that it matters to.
const cutNotice = "\n[This agent offers no way back to an answer that is under way: it is asked for the task from time to time instead, " +
	"so the rest comes in pieces, and what the task does not keep is lost.]\n"

// cutCost is the notice of what a cut costs, if it costs anything: not where the first look
// shows the end, so that nothing comes in pieces. It is shown once in a session.
func (t *turn) cutCost(n *brought) []mapping.Step {
	state := n.events[0].State
	if state.Terminal() || state == a2a.StateInputRequired || !t.agent.opts.Client.Unsupported().Subscribe || !t.session.firstTime(ofCut) {
		return nil
	}
	return []mapping.Step{t.notice(cutNotice)}
}

// promptLookTime is how long a prompt may wait for what its task has said before.
const promptLookTime = 5 * time.Second

// takeUnseen has the fold learn, without showing it, what a task has said in another process, before
// the session goes on with it. Agents may begin their answer with the whole task, of which only the
// new part is to be shown. Where the agent cannot be asked, old text may be shown again: that is
// better than showing nothing.
func (t *turn) takeUnseen(ctx context.Context, taskID string) {
	s := t.session
	if !s.unseen || taskID == "" || taskID != s.taskID {
		return
	}
	s.unseen = false
	ctx, stop := context.WithTimeout(ctx, promptLookTime)
	defer stop()
	task, err := t.agent.opts.Client.Get(ctx, taskID, transport.AllHistory)
	if err != nil {
		t.agent.opts.Log.Debug("looking for what the task has said", "task", taskID, "err", err)
		return
	}
	if task.State.Waits() || task.State.Terminal() {
		t.fold.SetTask(taskID)
		t.fold.Speak(t.writing.Dialect)
		t.fold.Event(shown.Snapshot, task, nil)
	}
}
