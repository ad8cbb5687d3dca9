package world

import (
	"slices"
	"strings"
	"time"
)

// An outcome is how a turn must end.
type outcome uint8

const (
	endsAsPlanned outcome = iota
	endsWell              // as planned, or with an error: nobody can know
	endsInError
	endsCancelled
	endsUnknown // nobody sees it
)

// outcome tells how the turn must end.
func (v *turnView) outcome() outcome {
	r := v.rec
	switch {
	case r.Killed > 0 || r.Died:
		return endsUnknown
	case r.Cancelled > 0:
		return endsCancelled
	}
	return v.uncancelled()
}

// uncancelled tells how the turn must end by its faults.
func (v *turnView) uncancelled() outcome {
	lost, outage, end := v.hit(RestartAt), v.hit(OutageAfter), v.end()
	switch {
	case v.taken() == 0:
		return endsInError
	case v.excuse("end: a request is lost", v.lostAnswer()):
		return endsWell // an answer of the user's was lost, or a subscription
	case v.excuse("end: restarted, and rejected by a cancel", lost != nil && v.refuses()):
		return endsWell // the task was cancelled
	case lost != nil && (end == nil || !end.Arrived && !v.excuse("end: told by the task", v.toldEnd(lost.At))):
		return endsInError
	case v.excuse("end: restarted behind it", lost != nil || v.disturbed() && v.forgotten()):
		return endsWell // an agent that has forgotten the task is asked whether it has ended
	case v.excuse("end: an outage", outage != nil && !outage.Over && (outage.Fault.For > time.Minute || outage.Fault.For > 5*time.Second && v.hit(ReadsFail) != nil)):
		return endsWell // the bridge gives up after five attempts in a row
	case v.excuse("end: the first event is lost", v.turn.Direct && v.cutAtFirst() && v.goesToTask() && (v.plan.Agent.Holds != HoldsAll || v.disturbedBefore())):
		return endsWell // nor is it known that the answer was no task
	case v.firstLoss() != nil:
		return endsInError
	case v.excuse("end: no tasks/get", v.plan.Agent.NoGet && v.blind()):
		return endsWell // it cannot be asked for
	case v.excuse("end: the first event is lost", (v.hit(LostHead) != nil || v.cutAtFirst()) && v.plan.Agent.Holds != HoldsAll):
		return endsWell // what became of a message cannot be seen at an agent that holds none
	case v.excuse("end: approved elsewhere", slices.ContainsFunc(v.questions(), v.elsewhereUnseen) || v.seemsToAsk()):
		return endsWell // an answer may cross with what it is to
	}
	return endsAsPlanned
}

// toldEnd reports whether the task, or a push, has reported the turn's end by then.
func (v *turnView) toldEnd(by time.Duration) bool {
	end := v.end()
	return end != nil && (end.Pushed && end.At+v.plan.Agent.PushDelay <= by) || end != nil && slices.ContainsFunc(v.heard, func(h *Heard) bool {
		return (h.Kind == HeardResume || h.Kind == HeardRead) && h.At >= end.At && h.At <= by
	})
}

// lostAnswer reports whether a request other than a subscription was lost:
// subscriptions are repeated.
func (v *turnView) lostAnswer() bool {
	return slices.ContainsFunc(v.happened, func(h Happening) bool {
		return h.Fault.Kind == Undelivered && !slices.ContainsFunc(v.heard, func(x *Heard) bool { return x.Kind == HeardResume && (h.At-x.At).Abs() < time.Microsecond })
	})
}

// cutAtFirst reports whether the prompt's stream was lost before its first event came.
func (v *turnView) cutAtFirst() bool {
	return slices.ContainsFunc(v.happened, func(h Happening) bool {
		f := h.Fault
		return (f.Kind == CutAt && f.Permille < 1000 || f.Kind == SilentAt) && f.Stream == 0 && f.Event == 0
	})
}

// goesToTask reports whether the prompt has gone to a task that was there.
func (v *turnView) goesToTask() bool {
	return slices.ContainsFunc(v.heard, func(h *Heard) bool { return h.Kind == HeardPrompt && h.Refused == 0 && h.Task != "" })
}

// firstLoss is a fault by which the bridge never learned of the task, or never got the
// answer without a task.
func (v *turnView) firstLoss() *Happening {
	end := v.end()
	for i, h := range v.happened {
		switch h.Fault.Kind {
		case CutAt, LostHead, SilentAt:
			known := v.rec.ContextNamed != ""
			if v.turn.Direct {
				known = end != nil && end.Arrived
			}
			if h.Fault.Stream == 0 && !known && (h.Fault.Kind != SilentAt || v.plan.Idle > 0 && (h.Fault.For == 0 || h.Fault.For > v.plan.Idle)) {
				return &v.happened[i]
			}
		}
	}
	return nil
}

// blind reports whether a connection was lost to an agent whose subscriptions need not
// tell the task's state.
func (v *turnView) blind() bool {
	switch h := &v.plan.Agent; {
	case !h.V1 && (h.Resume == ResumesWithTask || h.Resume == ResumesReplay): // 1.0 refuses those of tasks that are over
		return v.hit(SilentAt, NoHead, Undelivered, OutageAfter) != nil
	}
	return len(v.losses()) > 0
}

// asked reports whether the agent has asked for approvals.
func (v *turnView) asked() bool {
	for _, s := range v.said {
		if s.Call != nil && s.Call.Options != nil || s.Act != nil && s.Act.Kind == Ask {
			return true
		}
	}
	return false
}

// judgeEnd: each turn ends with its true reason, in time.
func (v *turnView) judgeEnd() {
	r := v.rec
	if v.run == endsUnknown {
		return
	}
	if r.Stuck && v.excuse("end: nothing will tell", !r.StuckForGood && v.plan.Agent.NoGet && v.plan.Agent.Resume == ResumesLive && len(v.losses()) > 0) {
		return // it may have ended, or asked, while nobody listened: README
	}
	if r.Stuck {
		v.wrong("a turn never ends", "for good: %v", r.StuckForGood)
		return
	}
	switch v.run {
	case endsCancelled:
		v.judgeCancelled()
	case endsInError:
		if r.Err == "" {
			v.wrong("a turn that cannot have ended well is said to have", "%s", r.Stop)
		}
		v.judgeReason()
	case endsWell:
		if r.Err == "" && !v.excuse("end: seems to ask", v.seemsToAsk()) {
			v.judgePlanned()
		}
	default:
		v.judgePlanned()
	}
	v.judgeLate()
}

// judgeLate: an error comes in time, too, counted from the last act of the agent, of
// the user, or fault.
func (v *turnView) judgeLate() {
	r, last := v.rec, v.rec.Sent
	if r.Err == "" {
		return
	}
	for _, s := range v.said {
		if s.At <= r.Replied {
			last = max(last, s.At)
		}
	}
	for _, h := range v.happened {
		last = max(last, h.At)
	}
	for _, s := range r.Shown {
		last = max(last, s.Answer)
	}
	if at := v.cancelHeard(); at > 0 {
		last = max(last, at+cancelTime)
	}
	if late := r.Replied - last; late > v.due() {
		v.wrong("a turn fails late", "%v after the last that happened", late)
	}
}

// seemsToAsk reports whether the stream ended, or the task was read, while the task
// said that it waits, although the call has gone on by itself. That looks like a
// question in prose.
func (v *turnView) seemsToAsk() bool {
	looked := slices.ContainsFunc(v.heard, func(h *Heard) bool { return h.Kind == HeardRead })
	return slices.ContainsFunc(v.questions(), v.elsewhere) && slices.ContainsFunc(v.happened, func(h Happening) bool {
		return h.Fault.Kind == CutAt && (looked || v.paused(h))
	})
}

// judgeReason: the error names what happened.
func (v *turnView) judgeReason() {
	lost := v.hit(RestartAt)
	err := strings.ToLower(v.rec.Err)
	h := &v.plan.Agent
	switch {
	case v.rec.Err == "", lost == nil || !lost.Known, v.firstLoss() != nil,
		v.excuse("reason: an outage", v.hit(OutageAfter) != nil),
		v.excuse("reason: nobody has been told", h.NoGet && (h.Resume == ResumesMissing || h.Resume == ResumesRefused && h.ResumeCode != -32001)):
		return
	}
	for _, word := range []string{"gone", "not found", "restarted"} {
		if strings.Contains(err, word) {
			return
		}
	}
	v.wrong("the error does not say that the task is gone", "%s", v.rec.Err)
}

// judgePlanned: the turn ends like the agent's.
func (v *turnView) judgePlanned() {
	r, end := v.rec, v.end()
	if end == nil || end.At > r.Replied {
		switch {
		case v.excuse("end: rejected by a cancel", v.refuses()):
		case r.Err != "":
			v.wrong("a turn fails though the agent goes on", "%s", r.Err)
		case v.waits():
			v.wrong("a turn ends while an approval waits", "%s", r.Stop)
		default:
			v.wrong("a turn ends before the agent has ended it", "%s", r.Stop)
		}
		return
	}
	since := end.At
	for _, s := range r.Shown {
		since = max(since, s.Answer) // in A2A lines a turn waits for the user
	}
	if late := r.Replied - since; late > v.due() {
		v.wrong("a turn ends late", "%v after the agent's end", late)
	}
	state := v.turn.End.State
	if v.excuse("end: rejected by a cancel", v.refuses()) {
		return // the task was cancelled, or the cancel refused
	}
	want := v.stop()
	switch {
	case state == Failed && r.Err == "":
		v.wrong("a failed task ends well", "%s", r.Stop)
	case state == Failed && !strings.Contains(r.Err, v.turn.End.Reason) && (end.Arrived || v.plan.Agent.Holds != HoldsNothing):
		v.wrong("the error does not say why the task failed", "%q is not in %q", v.turn.End.Reason, r.Err)
	case state == Failed:
	case r.Err != "":
		v.wrong("a turn fails that the agent has ended well", "%s", r.Err)
	case v.excuse("end: a message alone, which was lost", r.Stop != want && v.turn.Direct && !end.Arrived && v.firstLoss() != nil):
	case r.Stop != want:
		v.wrong("a turn ends for another reason", "%q, not %q", r.Stop, want)
	}
}

// stop is the reason with which the turn ends as planned.
func (v *turnView) stop() string {
	if v.lines {
		return string(v.turn.End.State)
	}
	return map[State]string{Completed: "end_turn", InputRequired: "end_turn", Canceled: "cancelled", Rejected: "refusal", "": "end_turn"}[v.turn.End.State]
}

// due is how long after the agent's end a turn may end.
func (v *turnView) due() time.Duration {
	d := 500*time.Millisecond + v.slack()
	if !v.plan.Agent.Streams || v.excuse("due: polled behind a refused answer", v.polledBehindAnswer()) {
		d += 25 * time.Second // between two requests for the task
	}
	for _, h := range v.happened {
		d += 2*time.Minute + h.Fault.For
	}
	if v.plan.Idle > 0 && v.hit(SilentAt) != nil {
		d += 2 * v.plan.Idle
	}
	if v.plan.Agent.NoGet {
		d += 5 * v.plan.Idle // each attempt may stay silent
	}
	if h := v.hit(ReadsFail); h != nil && h.Fault.Read == ReadHangs {
		d += 5 * time.Minute
	}
	return d
}

// polledBehindAnswer reports whether the agent has refused an answer, since the call had gone
// on, and lets nobody subscribe: the stream before the answer was left for the answer's.
func (v *turnView) polledBehindAnswer() bool {
	how := v.plan.Agent.Resume
	return (how == ResumesMissing || how == ResumesRefused) && slices.ContainsFunc(v.heard, func(h *Heard) bool {
		return h.Kind == HeardAnswer && !h.Waited
	})
}

// waits reports whether a question has no answer.
func (v *turnView) waits() bool {
	for _, c := range v.questions() {
		if len(v.answersTo(c)) == 0 && !v.elsewhere(c) {
			return true
		}
	}
	return false
}

// cancelTime bounds a cancelled turn: two seconds, and the time to report it.
const cancelTime = 2500 * time.Millisecond

func (v *turnView) judgeCancelled() {
	r, end := v.rec, v.end()
	if late := r.Replied - r.Cancelled; late > cancelTime+v.slack() {
		v.wrong("a cancelled turn ends late", "%v", late)
	}
	want := "cancelled"
	if v.lines {
		want = string(Canceled)
	}
	switch {
	case r.CancelledBetween || r.Stop == want && r.Err == "":
	case end != nil && end.At <= r.Replied && (v.lines || (r.Err != "") == (v.turn.End.State == Failed)) && r.Stop == v.stop():
		// It had ended by itself.
	case r.Err != "" && end != nil && v.turn.End.State == Failed:
	case r.Err != "" && v.excuse("end: a cancel and a fault", v.uncancelled() != endsAsPlanned):
	case r.Err != "" && v.excuse("end: rejected by a cancel", v.refused()):
	case v.excuse("end: a cancel right behind a rejecting one", r.Err == "" && v.refused() && v.cancelHeard() <= r.Cancelled && r.Replied <= r.Cancelled+v.slack()):
	case r.Err != "":
		v.wrong("a cancelled turn ends with an error", "%s", r.Err)
	default:
		v.wrong("a cancelled turn ends for another reason", "%s", r.Stop)
	}
}

// unreached reports whether a cancel need not reach the agent: the task was not known, the
// agent could not be reached, or has forgotten the task.
func (v *turnView) unreached() bool {
	return v.rec.Killed > 0 || v.firstLoss() != nil || v.cutAtFirst() || v.hit(OutageAfter, Refused, Undelivered, NoHead, RestartAt, RestartBefore) != nil
}

// judgeCancel: the agent hears of a cancel.
func (v *turnView) judgeCancel() {
	r, end := v.rec, v.end()
	if r.Cancelled == 0 || v.taken() == 0 || v.excuse("cancel: it has come before", v.refused()) || v.excuse("cancel: disturbed", v.unreached()) || v.excuse("cancel: as a slow editor is told that the turn has failed", r.Err != "" && r.Replied > 0 && r.Replied <= r.Cancelled+v.plan.PerLine) || v.turn.Direct || end != nil && end.At <= max(r.Replied, r.Cancelled) {
		return
	}
	for _, h := range v.heard {
		if h.At >= r.Cancelled && (h.Kind == HeardCancel || h.Kind == HeardAnswer) {
			return
		}
	}
	v.wrong("the agent does not hear of a cancel", "")
}
