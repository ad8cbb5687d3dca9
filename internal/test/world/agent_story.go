package world

import (
	"slices"
	"strings"
)

// pausing is a pause for approvals.
type pausing struct {
	calls []*callState
	over  chan struct{} // closed when all are settled
	state State         // while it lasts
}

// settle closes the pause if no question is open, and reports that.
func (p *pausing) settle() bool {
	if slices.ContainsFunc(p.calls, func(c *callState) bool { return !c.settled }) {
		return false
	}
	close(p.over)
	return true
}

// tell performs the turn's acts. It is the run's goroutine.
func (r *run) tell() {
	skip := 0
	if r.opensSaying() {
		skip = 1 // the task began with it
	}
	meanwhile := 0
	for _, act := range r.turn.Acts[skip:] {
		if r.pause != nil && (meanwhile == 0 || act.Call != nil && act.Call.Options != nil || act.Kind == Ask) {
			if !r.waitForAnswers() {
				return
			}
		}
		meanwhile = max(0, meanwhile-1)
		if !r.wait(act.Wait) {
			return
		}
		if act.Kind == Ask {
			if !r.ask(act) {
				return
			}
			meanwhile = act.Pause.Meanwhile
			continue
		}
		if !r.do(act) {
			return
		}
	}
	if r.pause != nil && !r.waitForAnswers() || !r.wait(r.turn.End.Wait) {
		return
	}
	r.locked(r.end)
}

// locked runs a step of the story, unless it has to stop.
func (r *run) locked(step func()) bool {
	r.agent.mu.Lock()
	defer r.agent.mu.Unlock()
	if !r.stopped {
		step()
	}
	return !r.stopped
}

// opensSaying reports whether the new task itself contains the turn's first act.
func (r *run) opensSaying() bool {
	return r.agent.plan.Agent.Opens == OpensSaying && r.task != nil && len(r.turn.Acts) > 0 && r.turn.Acts[0].Kind == Say &&
		r.turn.Acts[0].Carrier == InStatus && r.task.counts["turns"] == 1
}

// state is the state of messages.
func (r *run) state() State {
	if r.pause != nil {
		return r.pause.state
	}
	return Working
}

func (r *run) do(act *Act) bool {
	t, h := r.task, &r.agent.plan.Agent
	switch act.Kind {
	case Say:
		return r.locked(func() { r.sayText(act) })
	case Again:
		return act.Manner == WholeAtEnd || r.locked(func() { r.sayWhole(act) })
	case Use:
		return r.locked(func() { r.useCall(act) })
	case Think:
		return r.locked(func() {
			data := `{"subject":"` + act.Text + `","description":"about ` + act.Text + `"}`
			t.say(r.state(), &message{id: t.newID("m", act.Label), parts: []part{{data: data}}, metadata: h.metadata(kindThought)}, false,
				&Said{Act: act, Text: act.Text})
		})
	case Show:
		return r.locked(func() {
			t.emit(r.agent.spell.wrapped(r.agent.spell.task(t, t.held(), allMessages)), false, &Said{Act: act})
		})
	case Murmur:
		return r.locked(func() { r.murmur(act) })
	case WantsAuth:
		return r.locked(func() { t.say(AuthRequired, nil, false, &Said{Act: act}) }) && r.wait(authTime) &&
			r.locked(func() { t.say(Working, nil, false, &Said{Act: act}) })
	}
	return true
}

// sayText sends a chunk.
func (r *run) sayText(act *Act) {
	t, h := r.task, &r.agent.plan.Agent
	id := t.answerID(act)
	said := &Said{Act: act, Answer: act.Answer, Carrier: act.Carrier, ID: id, Text: act.Text}
	if act.Carrier == InStatus {
		t.say(r.state(), &message{id: id, parts: h.textParts(act.Text), metadata: h.metadata(kindText)}, false, said)
		return
	}
	known := slices.ContainsFunc(t.artifacts, func(a *artifact) bool { return a.id == id })
	if act.Grows {
		said.Text = r.answerText(act.Answer) + act.Text
	}
	said.Follows = known && !act.Replaces && !act.Grows
	t.change(&artifact{id, "answer", h.textParts(said.Text)}, said.Follows, act.Last, said)
}

// textParts splits a text into parts.
func (h *Habits) textParts(text string) []part {
	if half := len(text) / 2; h.SplitsText && half > 0 {
		return []part{{text: text[:half]}, {text: text[half:]}}
	}
	return []part{{text: text}}
}

// answerText is an answer's text so far.
func (r *run) answerText(answer string) string {
	text := ""
	for _, s := range r.agent.record.Said {
		if s.Turn != r.turn.N || s.Answer != answer || s.Whole {
			continue
		}
		if s.Act.Grows || s.Act.Replaces {
			text = ""
		}
		text += s.Text
	}
	return text
}

// sayWhole repeats an answer.
func (r *run) sayWhole(act *Act) {
	t := r.task
	text := r.answerText(act.Answer)
	said := &Said{Act: act, Answer: act.Answer, Carrier: InArtifact, Text: text, Whole: true}
	if said.ID = t.newID("a", act.Label); act.Manner == WholeSameArtifact {
		said.ID = t.answerID(&Act{Label: act.Label, Answer: act.Answer, Carrier: InArtifact})
	}
	t.change(&artifact{said.ID, "answer", r.agent.plan.Agent.textParts(text)}, false, true, said)
}

// murmur sends an event without content.
func (r *run) murmur(act *Act) {
	t, h := r.task, &r.agent.plan.Agent
	var m *message
	switch act.Noise {
	case NoiseState:
	case NoiseEcho:
		if i := slices.IndexFunc(t.past, func(m *message) bool { return m.user }); i >= 0 {
			t.emit(r.agent.spell.statusUpdate(t, r.state(), t.past[i], false), false, &Said{Act: act})
			return
		}
	case NoiseEmpty:
		m = &message{id: t.newID("m", act.Label), parts: []part{{data: "{}"}}, metadata: h.metadata(kindText)}
	case NoiseBlank:
		m = &message{id: t.newID("m", act.Label), parts: []part{{text: ""}}, metadata: h.metadata(kindText)}
	}
	t.say(r.state(), m, false, &Said{Act: act})
}

// end ends the turn as planned.
func (r *run) end() {
	t, h, end := r.task, &r.agent.plan.Agent, r.turn.End
	var m *message
	text := end.Reason
	said := &Said{Ends: true}
	for _, a := range r.turn.Acts {
		if a.Kind == Again && a.Manner == WholeAtEnd {
			text += r.answerText(a.Answer)
			said.Whole, said.Answer, said.Act = true, a.Answer, a
		}
	}
	if strings.TrimSpace(text) != "" {
		m = &message{id: t.newID("m", "end"+r.turn.Prompt()), parts: []part{{text: text}}, metadata: h.metadata(kindState)}
		said.ID, said.Text = m.id, text
	}
	t.idle = true
	closes := end.State.Over() || h.ClosesAtInput
	if end.State.Over() && h.EndsWithTask {
		t.setStatus(end.State, m)
		t.emit(r.agent.spell.wrapped(r.agent.spell.task(t, m, allMessages)), closes, said)
		return
	}
	t.say(end.State, m, closes, said)
}
