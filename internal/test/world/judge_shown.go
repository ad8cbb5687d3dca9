package world

import (
	"slices"
	"strings"
	"time"
)

// judgeText: each word is shown once, in order, or a gap is reported.
func (v *turnView) judgeText() {
	s := screenOf(v.rec.Shown, !v.unordered())
	a := newAligner(v, s)
	a.excused, a.partial = v.excused(), v.run == endsUnknown
	for _, e := range v.elements {
		if v.rec.Replied > 0 && (e.said.At > v.rec.Replied || e.said.At == v.rec.Replied && v.excuse("text: seems to ask", v.seemsToAsk())) {
			e.optional = true
		}
		if v.excuse("text: a repetition in a snapshot", v.disturbed() && v.ambiguous(e)) || v.excuse("text: cancelled between legs", v.rec.CancelledBetween) ||
			v.excuse("text: on a silent stream that was left", v.leftSilent(e)) {
			e.optional = true
		}
	}
	extras := v.late(a, a.align())
	v.judgeAgain()
	v.judgeGrown(s.text)
	missing := v.judgeMissing(a)
	for _, text := range extras {
		pieces := v.byTurn(text)
		if pieces == nil {
			pieces = []string{text}
		}
		for _, piece := range pieces {
			v.judgeExtra(piece, missing)
		}
	}
	v.judgeReplaced()
	v.judgeResults()
	v.judgeNothing(v.rec.Shown)
}

// late removes from the extras what was shown late: behind a gap, after newer text, at
// an agent that does not hold all. Late is better than never.
func (v *turnView) late(a *aligner, extras []string) (rest []string) {
	behindGap := len(extras) > 0 && v.excuse("text: late, behind a gap", v.plan.Agent.Holds != HoldsAll && len(a.screen.gaps) > 0)
	for _, text := range extras {
		for _, e := range v.elements {
			if !behindGap && !v.excuse("text: late, of a silent stream that was left", v.leftSilent(e)) && !v.excuse("text: late, behind looks that fail", v.reads() != nil && v.asked()) {
				continue
			}
			if at := strings.Index(text, e.text); !e.shown && !e.mark && (at == 0 || at > 0 && !strings.ContainsAny(e.text, repeating)) {
				text, e.told = text[:at]+text[at+len(e.text):], true
				v.shownLate++
			}
		}
		if text != "" {
			rest = append(rest, text)
		}
	}
	return rest
}

// leftSilent reports whether a text was said, or was to be said again, on a stream that had
// fallen silent, and that was left for the one of an answer. (The task holds it; nobody looks.)
func (v *turnView) leftSilent(e *element) bool {
	silent := v.hit(SilentAt)
	replayed := v.plan.Agent.Resume == ResumesReplay && silent != nil && silent.Fault.Stream > 0 && !e.said.Arrived
	return silent != nil && (e.said.At >= silent.At || replayed) && slices.ContainsFunc(v.heard, func(h *Heard) bool {
		return h.Kind == HeardAnswer && h.At >= e.said.At
	})
}

// judgeNothing: empty data are not shown.
func (v *turnView) judgeNothing(shown []*Shown) {
	if i := slices.IndexFunc(shown, (*Shown).saysNothing); i >= 0 {
		v.wrong("data that say nothing are shown", "%q", shown[i].Text)
	}
}

// excused reports whether the turn may end with text missing.
func (v *turnView) excused() bool {
	r := v.rec
	failed := r.Err != "" && (v.run != endsAsPlanned || v.turn.End.State != Failed)
	return v.excuse("text: the turn fails", failed) || v.excuse("text: the turn is stuck", r.Stuck) || v.excuse("text: cancelled and disturbed", r.Cancelled > 0 && v.disturbed())
}

// repeating are the letters of repeating words, and of no others.
const repeating = "Yhok"

// ambiguous: a word that repeats earlier text, and comes in a message of its own in a
// snapshot, looks like the same word said whole (README, "ok"); so does one that an
// artifact said before.
func (v *turnView) ambiguous(e *element) bool {
	switch {
	case !strings.ContainsAny(e.text, repeating):
		return false
	case v.excuse("text: a repetition, and no tasks/get", v.plan.Agent.NoGet), v.excuse("text: a repetition in a task that is polled", !v.plan.Agent.Streams):
		return true
	case e.artifact: // it takes the place of an earlier turn's, which was the same
		return v.plan.Agent.ConstantID && slices.ContainsFunc(v.judge.turns, func(other *turnView) bool {
			said := ""
			return other.turn.N < v.turn.N && other.rec.Session == v.rec.Session && slices.ContainsFunc(other.elements, func(old *element) bool {
				if old.artifact {
					said += old.text
				}
				return old.artifact && (old.text == e.text || strings.HasSuffix(said, e.text))
			})
		})
	}
	return !v.plan.Agent.SharedID || v.plan.Agent.Holds != HoldsAll || v.isLast(e) || slices.ContainsFunc(v.elements, func(other *element) bool {
		return other.artifact && other.text == e.text && other.said.At <= e.said.At
	})
}

// isLast reports whether an element is of the turn's last message.
func (v *turnView) isLast(e *element) bool {
	last := v.elements[len(v.elements)-1]
	for i := len(v.elements) - 1; i > 0 && (last.artifact || last.again != nil); i-- {
		last = v.elements[i-1]
	}
	return e == last || !e.mark && !last.mark && e.said.ID == last.said.ID
}

// mayBeLost reports whether an element has not come on a stream that was whole: it did not come,
// or was said when a connection was lost, or later.
func (v *turnView) mayBeLost(e *element) bool {
	return v.disturbed() && !e.said.Arrived || slices.ContainsFunc(v.losses(), func(at time.Duration) bool { return e.said.At >= at })
}

// judgeAgain: a repetition is shown only where something is missing.
func (v *turnView) judgeAgain() {
	repeats := func(e *element) bool { return strings.ContainsAny(e.text, repeating) }
	lost := slices.ContainsFunc(v.elements, func(e *element) bool { return repeats(e) && v.mayBeLost(e) })
	for _, e := range v.elements {
		if !e.shown || e.again == nil {
			continue
		}
		needed := v.excuse("whole: of words that repeat, and were lost", lost && repeats(e))
		for _, part := range e.again[e.from:] {
			needed = needed || !part.shown
			part.told = true
		}
		if !needed && !v.excuse("whole: one artifact, several answers", v.plan.Agent.ConstantID && v.disturbed()) && !v.pushedBlind() &&
			!v.excuse("whole: a repetition that an earlier turn owes", repeats(e) && v.disturbedBefore()) { // one artifact may be several answers
			v.wrong("a whole is shown again though its parts were", "%q", e.text)
		}
	}
}

// judgeMissing: missing text could not be shown, or a gap was reported. It returns all
// that is not shown.
func (v *turnView) judgeMissing(a *aligner) (missing string) {
	for _, e := range v.elements {
		if e.shown || e.told || e.optional || a.partial || e.mark && v.unordered() {
			continue
		}
		missing += e.text + " "
		gap := len(a.screen.gaps) > 0
		switch {
		case (v.rec.Cancelled > 0 || v.refused()) && v.leftBehind():
		case v.excuse("text: cancelled, and said as an answer was sent", v.rec.Cancelled > 0 && v.crosses(e)):
		case strings.Contains(a.screen.text, e.text) && v.againBlind(): // before what has come of it and others once more
		case v.excuse("text: lost before a rejecting cancel", v.refused() && v.disturbed() && !e.said.Arrived): // nor what had not come by then
		case e.mark:
			v.wrong("a call or a thought is not shown in its place", "%s", e.text)
		case !v.disturbed():
			v.wrong("text is lost though nothing went wrong", "%q of %q", e.text, a.screen.text)
		case e.said.Arrived && !v.leftBehind():
			v.wrong("text that has arrived is not shown", "%q of %q", e.text, a.screen.text)
		case a.excused:
		case !gap:
			v.wrong("text is lost without a word", "%q of %q", e.text, a.screen.text)
		case v.holds(e):
			v.wrong("text is lost though the agent holds it", "%q of %q", e.text, a.screen.text)
		case !e.excused && !v.excuse("gap: of several losses", len(a.losses) != 1): // of several in a row one gap is said
			v.wrong("the gap is said in another place", "%q of %q", e.text, a.screen.text)
		}
	}
	return missing
}

// leftBehind reports whether what had come when the turn ended need not be shown: the
// turn has failed where nobody can know more; or the user has cancelled it, and
// the editor was too slow for it, or the agent could not be asked where it belongs.
func (v *turnView) leftBehind() bool {
	failed := v.rec.Err != "" && (v.run == endsWell || v.hit(RestartAt) != nil) // as it may; something may still be on its way
	return v.excuse("text: it has come, and the turn fails", failed) || v.excuse("text: cancelled, and a slow editor", v.rec.Cancelled > 0 && v.plan.PerLine > 0) ||
		v.excuse("text: cancelled, and reads fail", (v.rec.Cancelled > 0 || v.refused()) && v.reads() != nil)
}

// crosses reports whether something was said just before an answer came, on the stream that was
// left for the answer's.
func (v *turnView) crosses(e *element) bool {
	return slices.ContainsFunc(v.heard, func(h *Heard) bool {
		return h.Kind == HeardAnswer && h.At >= e.said.At && h.At-e.said.At < 50*time.Millisecond
	})
}

// holds reports whether the agent holds a text, so that it is available after a cut.
func (v *turnView) holds(e *element) bool {
	return (e.artifact || v.plan.Agent.Holds == HoldsAll) && !v.turn.Direct && !v.excuse("text: restarted", v.forgotten()) && !v.excuse("text: no tasks/get", v.plan.Agent.NoGet)
}

// pushedBlind reports whether text may have come by pushes only, which cannot be
// distinguished from what the stream brought.
func (v *turnView) pushedBlind() bool {
	return v.excuse("pushed, and no tasks/get", v.plan.Agent.NoGet && v.plan.Agent.Pushes && v.disturbed())
}

// againBlind reports whether text may come again behind a gap, since nothing tells what of it
// was shown.
func (v *turnView) againBlind() bool {
	return v.pushedBlind() || v.excuse("replayed to another process, and no tasks/get", v.replayedAnew()) ||
		v.excuse("several losses, and no tasks/get", v.plan.Agent.NoGet && (len(v.losses()) > 1 || len(v.losses()) > 0 && v.plan.Agent.Resume == ResumesReplay && v.disturbedBefore())) ||
		v.excuse("replayed, and forgotten", v.plan.Agent.Resume == ResumesReplay && v.forgotten())
}

// replayedAnew reports whether a replay has come to a bridge that has not heard what it
// replays, since another one did, and that cannot ask for it.
func (v *turnView) replayedAnew() bool {
	return v.plan.Agent.NoGet && v.plan.Agent.Resume == ResumesReplay && slices.ContainsFunc(v.judge.turns, func(o *turnView) bool {
		return o.turn.N <= v.turn.N && o.rec.Killed > 0
	})
}

// judgeExtra judges text without a place.
func (v *turnView) judgeExtra(text, missing string) {
	said := func(view *turnView) bool { return view.madeOf(text) }
	switch {
	case v.againBlind() && slices.ContainsFunc(v.judge.turns, func(o *turnView) bool { return o.turn.N <= v.turn.N && o.madeOf(text) }) && slices.ContainsFunc(v.rec.Shown, func(s *Shown) bool { return s.Kind == ShownGap }):
		return // README: behind a gap
	case strings.Contains(text, "prompt"):
		v.wrong("a user's message is shown as the agent's", "%q", text)
		return
	case v.turn.End.Reason != "" && strings.Contains(text, v.turn.End.Reason):
		v.wrong("the reason of a failure is shown twice", "%q", text)
		return
	case slices.ContainsFunc(v.judge.turns, func(other *turnView) bool { return other != v && said(other) && v.isLate(other, text) }):
		return // late is better than never
	case said(v) && strings.Contains(missing, text):
		v.wrong("text is shown out of its order", "%q", text)
		return
	case v.plan.Agent.Holds != HoldsAll && v.disturbed() && v.excuse("text: a word that repeats, after a cut", !strings.ContainsAny(text, "wx")):
		return // whether it is the same cannot be seen
	case v.excuse("text: a shrunk artifact, again", v.shrunkFrom(text)):
		return // it was shown when that happened
	case v.excuse("text: a whole behind another artifact", v.wholeElsewhere(text)):
		return // a task does not tell which of them came first
	case said(v):
		v.wrong("text is shown twice", "%q", text)
		return
	}
	all := &turnView{}
	for _, other := range v.judge.turns {
		if other != v && said(other) {
			v.wrong("text of another turn is shown", "%q, of turn %d", text, other.turn.N)
			return
		}
		all.elements = append(all.elements, other.elements...)
	}
	if !all.madeOf(text) {
		v.wrong("text is shown that the agent has not said", "%q", text)
	} else {
		v.wrong("text is shown twice", "%q, of several turns", text)
	}
}

// wholeElsewhere reports whether a text consists of parts of a whole artifact that is shown
// because others of its parts were lost, though not in its place.
func (v *turnView) wholeElsewhere(text string) bool {
	return slices.ContainsFunc(v.elements, func(e *element) bool {
		if e.again == nil || !slices.ContainsFunc(e.again, func(part *element) bool { return !part.said.Arrived }) ||
			!strings.Contains(screenOf(v.rec.Shown, false).text, e.text) {
			return false
		}
		rest := text
		for _, part := range e.again {
			rest = strings.Replace(rest, part.text, "", 1)
		}
		return rest == ""
	})
}

// owes reports whether a text is made of what a turn should have shown, and has
// not, then or when its session was loaded.
func (v *turnView) owes(text string) bool {
	shown, marks := "", screenOf(v.rec.Shown, true).text
	for _, l := range v.judge.rec.Loaded {
		if l.After == v.turn.N {
			shown += screenOf(l.Shown, false).text
		}
	}
	for _, e := range v.elements {
		if !e.shown && !e.told && !strings.Contains(shown, e.text) && !(e.mark && strings.Contains(marks, e.text)) {
			text = strings.Replace(text, e.text, "", 1)
		}
	}
	return text == ""
}

// madeOf reports whether a text consists of what the agent said in the turn, or is part
// of it.
func (v *turnView) madeOf(text string) bool {
	all := ""
	for _, e := range v.elements {
		if !e.mark {
			all += e.text
		}
	}
	if strings.Contains(all, text) {
		return true
	}
	for rest := text; rest != ""; {
		i := slices.IndexFunc(v.elements, func(e *element) bool { return e.text != "" && strings.HasPrefix(rest, e.text) })
		if i < 0 {
			return false
		}
		rest = strings.TrimPrefix(rest, v.elements[i].text)
	}
	return true
}

// judgeReplaced: text that replaces other text begins a message.
func (v *turnView) judgeReplaced() {
	for _, e := range v.elements {
		unsure := v.pushedBlind() || v.turn.Dead != nil || strings.ContainsAny(e.text, repeating) && v.plan.Agent.Echo && len(v.losses()) > 0
		if !e.shown || e.id == "" || e.lost != nil && e.from > 0 || unsure {
			continue
		}
		for _, old := range append(e.replaces, e.again...) {
			if old.shown && old.id == e.id && (e.anew || old.gone) {
				v.wrong("text that replaces other text goes on in its message", "%q behind %q, in %s", e.text, old.text, e.id)
				break
			}
		}
	}
}

// judgeResults: in A2A lines, the result of a leg has the leg's text.
func (v *turnView) judgeResults() {
	if !v.lines {
		return
	}
	byRequest := map[int]string{}
	var order []int
	for _, s := range v.rec.Shown {
		if s.Kind != ShownText || s.Data {
			continue
		}
		if _, ok := byRequest[s.Request]; !ok {
			order = append(order, s.Request)
		}
		byRequest[s.Request] += strip(s.Text)
	}
	shown, results := "", ""
	for _, n := range order {
		shown += byRequest[n]
	}
	for _, r := range v.rec.Results {
		results += strip(r)
	}
	if v.rec.Stop != "" && v.rec.Replied > 0 && shown != results {
		v.wrong("the results of A2A lines have another text than the events", "%q, not %q", results, shown)
	}
}
