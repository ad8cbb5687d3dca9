package world

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// judgeCalls: each call is announced, shows what it is, and ends.
func (v *turnView) judgeCalls() {
	if v.run == endsUnknown || v.rec.Stuck {
		return
	}
	var seen []string
	before := v.announcedBefore()
	for _, s := range v.rec.Shown {
		if s.Kind == ShownTool && s.Name != "" && !slices.Contains(seen, s.Name) {
			seen = append(seen, s.Name)
			if !s.New && !v.excuse("calls: announced before", slices.Contains(before, s.Name)) {
				v.wrong("a call is changed that was not announced", "%s", s.Name)
			}
		}
		if s.Kind == ShownQuestion && !slices.Contains(seen, s.Name) && !v.lines {
			v.wrong("a call is asked about that was not announced", "%s", s.Name)
		}
	}
	for _, name := range seen {
		if c := v.plan.callNamed(name); c != nil && !slices.Contains(before, name) {
			v.judgeCall(c)
		}
	}
}

// announcedBefore are the calls that the editor knows from the loading of its session
// and from earlier turns: their ends may come late.
func (v *turnView) announcedBefore() (names []string) {
	note := func(shown []*Shown) {
		for _, s := range shown {
			if s.Kind == ShownTool {
				names = append(names, s.Name)
			}
		}
	}
	for _, l := range v.judge.rec.Loaded {
		if l.Session == v.rec.Session && l.After < v.turn.N {
			note(l.Shown)
		}
	}
	for _, other := range v.judge.turns {
		if other.rec.Session == v.rec.Session && other.turn.N < v.turn.N && (other.disturbed() || other.rec.Cancelled > 0) {
			note(other.rec.Shown)
		}
	}
	return names
}

// judgeCall judges one shown call.
func (v *turnView) judgeCall(c *Call) {
	status, content := v.lastShown(c)
	end := v.endOf(c)
	over := map[string]string{"completed": statusSucceeded, "failed": statusFailed, statusSucceeded: statusSucceeded,
		statusFailed: statusFailed, statusCancelled: statusFailed}[status]
	switch {
	case over == "" && v.excuse("calls: cancelled between legs", v.rec.CancelledBetween):
		return
	case over == "" && v.excuse("calls: a question in prose", v.seemsToAsk() || v.turn.End.State == InputRequired && end != nil && !end.Arrived && !v.holds(&element{})):
		return // as far as anybody knows, the task and so the call go on
	case over == "":
		v.wrong("a call never ends for the editor", "%s is %s", c.Name, status)
		return
	case end == nil || v.excuse("calls: seems to ask", v.seemsToAsk()) || v.unseenEnd(end):
		return
	}
	want := end.Status
	if want == statusCancelled {
		want = statusFailed
	}
	if over != want {
		v.wrong("a call ends otherwise for the editor", "%s: %s, not %s", c.Name, status, end.Status)
	}
	if end.Status != statusCancelled && !strings.Contains(content, c.output()) {
		v.wrong("the result of a call is not shown", "%s: %s", c.Name, content)
	}
	if strings.Contains(content, "l"+c.Label+"n") {
		v.wrong("what a call put out is still shown beside its result", "%s: %s", c.Name, content)
	}
	v.judgeLive(c)
}

// lastShown is a call's last shown state.
func (v *turnView) lastShown(c *Call) (status, content string) {
	for _, s := range v.rec.Shown {
		if s.Kind != ShownTool || s.Name != c.Name {
			continue
		}
		if s.Status != "" {
			status = s.Status
		}
		if s.HasContent {
			content = s.Content
		}
	}
	return status, content
}

// unseenEnd reports whether a call's end need not have been shown.
func (v *turnView) unseenEnd(end *Said) bool {
	return v.excuse("calls: cancelled while an answer cannot be delivered", v.rec.Cancelled > 0 && v.outOfReach() && v.asked()) ||
		v.excuse("calls: cancelled", v.rec.Cancelled > 0 && (!end.Arrived || end.At >= v.rec.Replied || v.leftBehind())) ||
		v.excuse("calls: the turn fails", !end.Arrived && v.rec.Err != "") ||
		v.excuse("calls: behind an answer that cannot be delivered", v.rec.Err != "" && v.asked() && v.outOfReach() && end.At >= v.hit(OutageAfter).At) ||
		v.excuse("calls: rejected by a cancel, at a slow editor", v.refused() && v.plan.PerLine > 0 && end.At >= v.cancelHeard()) ||
		v.excuse("calls: lost before a rejecting cancel", !end.Arrived && v.refused() && v.disturbed()) ||
		v.excuse("calls: disturbed, and not held", !end.Arrived && v.disturbed() && !v.holds(&element{}))
}

// endOf is the agent's act that ended a call before the turn's end was shown.
func (v *turnView) endOf(c *Call) *Said {
	for _, s := range v.said {
		if s.Call == c && (s.Status == statusSucceeded || s.Status == statusFailed || s.Status == statusCancelled) && s.At <= v.rec.Replied {
			return s
		}
	}
	return nil
}

// judgeLive: while a call runs, the editor shows exactly its newest output.
func (v *turnView) judgeLive(c *Call) {
	if v.disturbed() || v.plan.PerLine > 0 || v.lines && v.asked() || v.excuse("output: polled behind a refused answer", v.polledBehindAnswer()) {
		return // in A2A lines a pause shows nothing
	}
	var mine []*Said
	for _, s := range v.said {
		if s.Call == c {
			mine = append(mine, s)
		}
	}
	for i, s := range mine {
		if s.Status != statusExecuting || i+1 == len(mine) || mine[i+1].At-s.At < 20*time.Millisecond {
			continue
		}
		if v.excuse("output: said while an answer is sent", v.crossesAnswer(s)) {
			continue
		}
		content := ""
		for _, x := range v.rec.Shown {
			if x.Kind == ShownTool && x.Name == c.Name && x.HasContent && x.At < mine[i+1].At {
				content = x.Content
			}
		}
		for n := range 4 {
			word := fmt.Sprintf("l%sn%d ", c.Label, n)
			if is, want := strings.Contains(content+" ", strings.TrimSpace(word)), strings.Contains(s.Live, word); is != want {
				v.wrong("a running call shows something else than its newest output", "%s: %q, not %q", c.Name, content, s.Live)
				return
			}
		}
	}
}

// crossesAnswer reports whether something was said at the moment of an answer: the stream that
// it comes on is left then.
func (v *turnView) crossesAnswer(s *Said) bool {
	return slices.ContainsFunc(v.heard, func(h *Heard) bool { return h.Kind == HeardAnswer && (h.At-s.At).Abs() < time.Millisecond })
}
