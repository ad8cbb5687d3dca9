package world

import (
	"slices"
	"strings"
	"time"
)

// judgeMessages: each message is sent once, where it belongs.
func (j *judge) judgeMessages() {
	type state struct {
		context  string // the agent's newest
		messages int
		asks     string // the task that has asked in prose
		asked    time.Duration
	}
	sessions := map[int]*state{0: {}, 1: {}}
	ids := map[string]int{}
	taken := map[int]int{}
	for _, h := range j.rec.Heard {
		if h.Kind == HeardStranger {
			j.wrong(-1, "something is said that has no place", "%s", h.What)
		}
		if h.Kind != HeardPrompt {
			continue
		}
		v := j.view(h.Turn)
		s := sessions[v.turn.Session]
		if h.Refused == 0 {
			if taken[h.Turn]++; taken[h.Turn] == 2 {
				j.wrong(h.Turn, "a message is sent twice", "%s, then %s", "taken before", h.Message)
			}
			if other, ok := ids[h.Message]; ok && other != h.Turn {
				j.wrong(h.Turn, "two messages have one ID", "%s", h.Message)
			}
			ids[h.Message] = h.Turn
		}
		j.judgeContext(v, h, s.context, s.messages)
		if h.Refused != 0 {
			if h.Task == s.asks {
				s.asks = "" // it may be sent anew, without the task
			}
			continue
		}
		if slices.ContainsFunc(j.rec.Happened, func(x Happening) bool {
			return (x.Fault.Kind == RestartAt || x.Fault.Kind == RestartBefore) && x.At >= s.asked && x.At <= h.At
		}) {
			s.asks = "" // it is forgotten, and the user was told
		}
		if s.asks != "" && h.Task != s.asks && !j.droppedSince(v, s.asked) {
			j.wrong(h.Turn, "an answer to a question in prose does not go to its task", "%q, not %q", h.Task, s.asks)
		}
		s.asks, s.asked = v.asksInProse(), h.At
		if s.messages == 0 && j.plan.Agent.Extension && !h.Settings {
			j.wrong(h.Turn, "the first message has no settings", "%s", h.Message)
		}
		s.messages++
		if c := j.contextNamed(v); c != "" {
			s.context = c
		}
	}
}

// droppedSince reports whether an earlier turn was cancelled since then, and with it the
// task; or has failed, in A2A lines: their editor names the task itself, and ours names none
// after an error.
func (j *judge) droppedSince(v *turnView, at time.Duration) bool {
	return slices.ContainsFunc(j.turns, func(other *turnView) bool {
		return other.rec.Session == v.rec.Session && other.rec.Sent > at && other.rec.Sent < v.rec.Sent &&
			(j.excuse("lines: a turn has failed", j.lines && other.rec.Err != "") || j.excuse("a prompt is cancelled before it comes", other.rec.Cancelled > 0))
	})
}

// asksInProse is the task that ended the turn with a question, "" if none did, or
// nobody can know.
func (v *turnView) asksInProse() string {
	end, r := v.end(), v.rec
	if end == nil || end.State != InputRequired || !end.Arrived || v.disturbed() || r.Err != "" || r.Cancelled > 0 || r.Died || v.refuses() {
		return ""
	}
	return end.Task
}

func (j *judge) view(turn int) *turnView {
	for _, v := range j.turns {
		if v.turn.N == turn {
			return v
		}
	}
	return nil
}

// contextNamed is the context that the agent has named in a turn, if that has arrived.
func (j *judge) contextNamed(v *turnView) string {
	return v.rec.ContextNamed
}

// judgeContext: the first message names no context of ours, later ones the agent's
// newest.
func (j *judge) judgeContext(v *turnView, h *Heard, context string, messages int) {
	ours := strings.HasPrefix(h.Context, "bridge-")
	switch {
	case h.Context == "" && (h.Task != "" || context == ""):
	case messages == 0 && ours:
		j.wrong(h.Turn, "the first message names a context of ours", "%s", h.Context)
	case context != "" && h.Context != context:
		j.wrong(h.Turn, "a message names another context than the agent's newest", "%q, not %q", h.Context, context)
	}
}

// judgeIDs: an editor of ACP knows messages and calls only by their IDs.
func (j *judge) judgeIDs() {
	if j.lines {
		return
	}
	type where struct {
		turn int
		name string
	}
	texts, calls := map[string]where{}, map[string]where{}
	for _, v := range j.turns {
		after := map[string]bool{} // messages before the newest call
		said := map[string]bool{}
		for _, s := range v.rec.Shown {
			id := v.rec.Session + " " + s.ID
			switch {
			case s.ID == "":
			case s.Kind == ShownText:
				if w, ok := texts[id]; ok && w.turn != v.turn.N {
					j.wrong(v.turn.N, "text of two turns is in one message", "%s, also in turn %d", s.ID, w.turn)
				}
				texts[id] = where{turn: v.turn.N}
				if after[id] {
					j.wrong(v.turn.N, "text behind a call goes on in the message before it", "%s", s.ID)
					after[id] = false
				}
				said[id] = true
			case s.Kind == ShownTool && s.Name != "":
				if w, ok := calls[id]; ok && w.name != s.Name {
					j.wrong(v.turn.N, "two calls have one ID for the editor", "%s: %s and %s", s.ID, w.name, s.Name)
				}
				calls[id] = where{name: s.Name}
				if s.New {
					for id := range said {
						after[id] = true
					}
				}
			}
		}
	}
}

// judgeLoads: a loaded session shows what it showed before, and what has come since.
func (j *judge) judgeLoads() {
	for _, l := range j.rec.Loaded {
		v := j.view(l.After)
		if l.Err != "" {
			v.wrong("a session cannot be loaded", "%s", l.Err)
			continue
		}
		w := j.loadedView(l, v)
		v.judgeNothing(l.Shown)
		s := screenOf(l.Shown, false)
		a := newAligner(w, s)
		extras := w.late(a, a.align())
		w.judgeGrown(s.text)
		for _, e := range w.elements {
			switch {
			case e.shown || e.told || e.optional || e.mark:
			case len(s.gaps) == 0:
				v.wrong("text is lost without a word when the bridge is killed", "%q of %q", e.text, s.text)
			case w.holds(e) && !v.excuse("load: an outage", v.hit(OutageAfter) != nil):
				v.wrong("text is lost though the agent holds it, when the bridge is killed", "%q of %q", e.text, s.text)
			}
		}
		for _, text := range extras {
			if v.excuseLoaded(text, len(s.gaps) > 0) {
				continue
			}
			v.wrong("a loaded session shows text that has no place", "%q of %q", text, s.text)
		}
	}
}

// loadedView is the last turn with all that a loaded session must show.
func (j *judge) loadedView(l *Loading, v *turnView) *turnView {
	w := &turnView{judge: j, turn: v.turn, rec: v.rec, said: v.said, heard: v.heard, happened: v.happened, run: v.run}
	for _, text := range j.shownBefore(l, v) {
		w.elements = append(w.elements, &element{text: text, said: &Said{Arrived: true}})
	}
	for _, e := range v.elements {
		fresh := *e
		fresh.shown, fresh.told, fresh.optional = false, false, e.optional || !v.rec.Known || v.turn.Direct
		fresh.again, fresh.replaces = nil, nil
		w.elements = append(w.elements, &fresh)
	}
	return w
}

// excuseLoaded reports whether a loaded session may show a text without a place.
func (v *turnView) excuseLoaded(text string, gap bool) bool {
	replaced := slices.ContainsFunc(v.judge.turns, func(other *turnView) bool { return other.replacedText(text) })
	if v.excuse("load: a replaced artifact", replaced) {
		return true // a journal does not tell an artifact's present text: better twice than not at all
	}
	agent := v.judge.plan.Agent
	if v.excuse("load: a chunk alone", agent.SharedID && agent.Holds != HoldsAll && gap && v.madeOf(text)) {
		return true // a single chunk looks like what was shown of its message
	}
	inWhole := slices.ContainsFunc(v.elements, func(e *element) bool { return len(e.again) > 0 && strings.Contains(e.text, text) })
	if gap && v.excuse("load: the last part of a whole", agent.Holds != HoldsAll && inWhole) {
		return true // it was shown before the whole that has what was lost
	}
	cannotAsk := v.forgotten() || v.outOfReach() || agent.NoGet
	if gap && v.excuse("load: replayed, and nobody to ask", agent.Resume == ResumesReplay && cannotAsk && v.byTurn(text) != nil) {
		return true // there is no task to compare it with
	}
	return v.pushedBlind() && v.madeOf(text) || v.excuse("load: on a silent stream", v.hit(SilentAt) != nil && v.madeOf(text)) ||
		v.excuse("load: the reason again", text == v.turn.End.Reason) || v.excuse("load: lost before a cancel", v.rec.Cancelled > 0 && len(v.losses()) > 0 && v.madeOf(text)) ||
		v.excuse("load: owed by an earlier turn", slices.ContainsFunc(v.judge.turns, func(other *turnView) bool {
			return other.turn.N < v.turn.N && ((other.rec.Err != "" && other.disturbed() || other.rec.Killed > 0) && other.madeOf(text) || other.disturbed() && other.owes(text))
		}))
}

// shownBefore is what the editor had of a session before the turn in which the bridge
// was killed: an earlier loading, and the turns since.
func (j *judge) shownBefore(l *Loading, v *turnView) (texts []string) {
	since := -1
	for _, earlier := range j.rec.Loaded {
		if earlier.Session == l.Session && earlier.At < l.At {
			texts, since = []string{screenOf(earlier.Shown, false).text}, earlier.After
		}
	}
	for _, other := range j.turns {
		if other.rec.Session == l.Session && other.turn.N > since && other.turn.N < v.turn.N {
			texts = append(texts, screenOf(other.rec.Shown, false).text)
		}
	}
	return slices.DeleteFunc(texts, func(s string) bool { return s == "" })
}

// endTime bounds the end of a bridge: half a second for running work, half a second for
// the editor.
const endTime = time.Second

// judgeClosing: nothing is left running or open.
func (j *judge) judgeClosing() {
	r := j.rec
	if r.Left != "" {
		j.wrong(-1, "goroutines are left", "%s", r.Left)
	}
	if r.Open != 0 {
		j.wrong(-1, "streams are left open", "%d", r.Open)
	}
	if r.Served > endTime+j.plan.PerLine*4 {
		j.wrong(-1, "the bridge takes long to end", "%v", r.Served)
	}
	if r.ServeErr != "" {
		j.wrong(-1, "the bridge ends with an error", "%s", r.ServeErr)
	}
	for _, h := range r.Heard {
		if h.Kind != HeardHangUp || h.At >= r.Closing && r.Closing > 0 || j.excuse("hangs up: idle", j.plan.Idle > 0) {
			continue
		}
		v := j.view(h.Turn)
		if v.rec.Cancelled == 0 && v.rec.Killed == 0 {
			j.wrong(h.Turn, "the bridge hangs up on a task at work", "")
		}
	}
}
