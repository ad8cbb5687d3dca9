package world

import (
	"slices"
	"strings"
	"time"
)

// questions are the calls that asked for approval, in order.
func (v *turnView) questions() (list []*Call) {
	for _, s := range v.said {
		calls := []*Call{s.Call}
		if s.Act != nil && s.Act.Kind == Ask {
			calls = s.Act.Calls
			if !s.Act.Pause.Together {
				continue
			}
		}
		for _, c := range calls {
			if c != nil && c.Options != nil && s.Status != statusCancelled && !slices.Contains(list, c) {
				list = append(list, c)
			}
		}
	}
	return list
}

// askedAt is when the agent asked, and whether that has arrived.
func (v *turnView) askedAt(c *Call) (at time.Duration, arrived bool) {
	for _, s := range v.said {
		if s.Call == c || s.Act != nil && s.Act.Kind == Ask && s.Act.Pause.Together && slices.Contains(s.Act.Calls, c) {
			return s.At, s.Arrived
		}
	}
	return 0, false
}

// shownTo are the questions about a call that the user got, before and after the bridge
// was killed.
func (v *turnView) shownTo(c *Call) (before, after []*Shown) {
	about := func(all []*Shown) (list []*Shown) {
		for _, s := range all {
			if s.Kind == ShownQuestion && s.Name == c.Name {
				list = append(list, s)
			}
		}
		return list
	}
	before = about(v.rec.Shown)
	for _, l := range v.judge.rec.Loaded {
		if l.After >= v.turn.N { // a later prompt may not have come to the agent
			after = append(after, about(l.Shown)...)
		}
	}
	return before, after
}

// hasAsked reports whether the user got such a question, before or after the bridge was killed.
func (v *turnView) hasAsked(such func(*Shown) bool) bool {
	asked := func(s *Shown) bool { return s.Kind == ShownQuestion && such(s) }
	return slices.ContainsFunc(v.rec.Shown, asked) || slices.ContainsFunc(v.judge.rec.Loaded, func(l *Loading) bool {
		return l.After >= v.turn.N && slices.ContainsFunc(l.Shown, asked)
	})
}

// asks are both.
func (v *turnView) asks(c *Call) []*Shown {
	before, after := v.shownTo(c)
	return append(before, after...)
}

// answersTo are the answers about a call that the agent got.
func (v *turnView) answersTo(c *Call) (list []*Heard) {
	for _, h := range v.heard {
		if h.Kind == HeardAnswer && h.Call == c {
			list = append(list, h)
		}
	}
	return list
}

// elsewhere reports whether a call has continued without an answer.
func (v *turnView) elsewhere(c *Call) bool {
	_, ok := v.elsewhereAt(c)
	return ok
}

func (v *turnView) elsewhereAt(c *Call) (time.Duration, bool) {
	for _, s := range v.said {
		if s.Call != c || s.Status != statusExecuting || c.Elsewhere == 0 {
			continue
		}
		for _, h := range v.answersTo(c) {
			if h.Waited && h.At <= s.At {
				return 0, false
			}
		}
		return s.At, true
	}
	return 0, false
}

// goneBy reports whether a call had continued without an answer at a time, or just
// after it.
func (v *turnView) goneBy(c *Call, at time.Duration) bool {
	since, ok := v.elsewhereAt(c)
	return ok && since <= at+100*time.Millisecond
}

// elsewhereUnseen reports whether a call has gone on without an answer behind the loss of a
// connection.
func (v *turnView) elsewhereUnseen(c *Call) bool {
	at, ok := v.elsewhereAt(c)
	return ok && slices.ContainsFunc(v.losses(), func(lost time.Duration) bool { return lost <= at })
}

// unasked reports whether a call has gone on without an answer, and so soon, or while so
// much went wrong, that the user need not have been asked.
func (v *turnView) unasked(c *Call) bool {
	asked, _ := v.askedAt(c)
	gone, ok := v.elsewhereAt(c)
	return ok && (gone-asked < 700*time.Millisecond || v.disturbed() || v.plan.PerLine > 0 || v.busy(c) || v.polledBehindAnswer())
}

// passes reports whether a call has gone on by itself in so short a time that the user is
// not asked. While another question is open, all that comes is asked at once.
func (v *turnView) passes(c *Call) bool {
	asked, arrived := v.askedAt(c)
	gone, ok := v.elsewhereAt(c)
	return ok && arrived && gone-asked <= 200*time.Millisecond && !v.disturbed() && v.plan.PerLine == 0 && !v.busy(c)
}

// busy reports whether the user had another question before him while a call waited that has
// gone on by itself: an editor may ask one at a time.
func (v *turnView) busy(c *Call) bool {
	asked, _ := v.askedAt(c)
	gone, _ := v.elsewhereAt(c)
	return v.hasAsked(func(s *Shown) bool {
		return s.Name != c.Name && s.At <= gone && (s.Answer == 0 || s.Answer >= asked)
	})
}

// judgeQuestions: each approval is asked once, and its answer arrives unchanged.
func (v *turnView) judgeQuestions() {
	for _, c := range v.questions() {
		before, after := v.shownTo(c)
		shown := append(before, after...)
		if len(shown) == 0 && v.run == endsAsPlanned && !v.unasked(c) && !v.rec.Stuck && !v.excuse("asks: rejected by a cancel", v.refuses()) {
			v.wrong("an approval is never asked", "%s", c.Name)
		}
		if len(before) > 1 || len(after) > 1 {
			v.wrong("an approval is asked twice", "%s: %d times", c.Name, len(before)+len(after))
		}
		if len(shown) > 0 && v.passes(c) {
			v.wrong("an approval is asked that the agent gave itself at once", "%s", c.Name)
		}
		for _, q := range after {
			v.judgeAskedAgain(c, q)
		}
		for _, q := range shown {
			v.judgeOptions(c, q)
			v.judgeAskedDown(q)
		}
		v.judgeAnswer(c, shown)
	}
	v.judgeTogether()
}

// judgeOptions: all options are offered, each with its apparent meaning.
func (v *turnView) judgeOptions(c *Call, q *Shown) {
	var extra []Offered
	rejects := c.rejects()
	for _, o := range c.Options {
		if !slices.ContainsFunc(q.Options, func(x Offered) bool { return x.ID == o.ID }) {
			v.wrong("an option is not offered", "%s (%s)", o.ID, o.Name)
		}
	}
	for _, x := range q.Options {
		i := slices.IndexFunc(c.Options, func(o Option) bool { return o.ID == x.ID })
		if i < 0 {
			extra = append(extra, x)
			if !v.lines && !strings.HasPrefix(x.Kind, "reject") {
				v.wrong("the bridge's own option is no rejection", "%v", x)
			}
			continue
		}
		v.judgeOption(c.Options[i], x)
	}
	switch {
	case rejects && len(extra) > 0:
		v.wrong("a rejection is added though the agent offers one", "%v", extra)
	case !rejects && len(extra) == 0:
		v.wrong("nothing that rejects is offered", "%v", q.Options)
	case len(extra) > 1:
		v.wrong("several options are added", "%v", extra)
	}
}

// judgeOption: an option is offered with its name, as what it tells.
func (v *turnView) judgeOption(o Option, x Offered) {
	if o.Name != "" && x.Name != o.Name {
		v.wrong("an option has another name", "%q, not %q", x.Name, o.Name)
	}
	switch right := v.lines || o.Tells == TellsNothing && x.Kind == "allow_once" ||
		o.Tells == TellsAllow && strings.HasPrefix(x.Kind, "allow") || o.Tells == TellsReject && strings.HasPrefix(x.Kind, "reject"); {
	case right:
	case o.Tells == TellsNothing:
		v.wrong("an option that cannot be told is not offered as allow_once", "%s (%s) as %s", o.ID, o.Name, x.Kind)
	default:
		v.wrong("an option is offered as what it is not", "%s (%s) as %s", o.ID, o.Name, x.Kind)
	}
}

// judgeAskedDown: nothing is asked while the connection is down.
func (v *turnView) judgeAskedDown(q *Shown) {
	if v.excuse("asked while down: a slow editor", v.plan.PerLine > 0) || v.pushedBlind() {
		return // it may have been written before; or it was pushed
	}
	for _, h := range v.happened {
		if h.Fault.Kind != CutAt || h.At >= q.At || h.Over || v.excuse("asked while down: an old connection", h.Old) || v.paused(h) || v.excuse("asked while down: silent", v.hushed(h.Fault.Stream, h.At)) {
			continue
		}
		back := false
		for _, x := range v.heard {
			if (x.Kind == HeardResume || x.Kind == HeardRead || x.Kind == HeardAnswer) && x.At >= h.At && x.At <= q.At {
				back = true
			}
		}
		open := v.hasAsked(func(s *Shown) bool { return s.At <= h.At })
		if !back && !open {
			v.wrong("an approval is asked while the connection is down", "%s, %v after a cut", q.Name, q.At-h.At)
		}
	}
}

// hushed reports whether an event of a stream had not arrived at that time, because the
// stream was silent: nobody can know of it.
func (v *turnView) hushed(stream int, at time.Duration) bool {
	return slices.ContainsFunc(v.happened, func(h Happening) bool {
		return h.Fault.Kind == SilentAt && h.Fault.Stream == stream && h.At <= at && (h.Fault.For == 0 || at < h.At+h.Fault.For)
	})
}

// paused reports whether the events before a cut have said that the agent waits, in a
// way that allows the stream's end.
func (v *turnView) paused(cut Happening) bool {
	last := &Said{}
	for _, s := range v.said {
		if s.At <= cut.At && s.Arrived && s.State != "" {
			last = s
		}
	}
	return last.State == InputRequired && (last.Closes || cut.Fault.Clean || v.plan.Agent.V1)
}

// judgeAnswer: the agent gets the user's choice, once.
func (v *turnView) judgeAnswer(c *Call, shown []*Shown) {
	heard := v.answersTo(c)
	if len(heard) > 1 && !v.excuse("answer: its coming cannot be seen", v.untold(c, heard[1].At)) {
		v.wrong("an answer is sent twice", "%s", c.Name)
	}
	q := answeredBy(shown, 0)
	for _, h := range heard {
		v.judgeHeard(c, answeredBy(shown, h.At), h)
		at, gone := v.elsewhereAt(c)
		if !h.Waited && gone && h.At > at+100*time.Millisecond && !v.excuse("answer: disturbed, and gone elsewhere", v.disturbed()) &&
			!v.excuse("answer: a slow editor, and gone elsewhere", v.plan.PerLine > 0) {
			v.wrong("a call is answered that has gone on by itself", "%s", c.Name)
		}
	}
	if q != nil && len(heard) == 0 && v.run == endsAsPlanned && !v.elsewhere(c) && !v.excuse("answer: rejected by a cancel", v.refuses()) && (q.Picked == "" && c.rejects() || c.offers(q.Picked)) {
		v.wrong("an answer does not reach the agent", "%s: %s", c.Name, q.Picked)
	}
}

// judgeHeard is about one answer that the agent has heard; q is the question that the user
// has answered, nil if there is none.
func (v *turnView) judgeHeard(c *Call, q *Shown, h *Heard) {
	i := slices.IndexFunc(c.Options, func(o Option) bool { return o.ID == h.Option })
	rejects := i >= 0 && c.Options[i].Tells == TellsReject
	byCancel := v.rec.Cancelled > 0 && h.At >= v.rec.Cancelled || v.rec.Died
	switch {
	case i < 0:
		v.wrong("an option is sent that the agent has not offered", "%s: %s", c.Name, h.Option)
	case rejects && byCancel:
	case q == nil || q.Answer > h.At:
		v.wrong("an approval is answered before the user has", "%s: %s", c.Name, h.Option)
	case q.Picked == "" && !rejects:
		v.wrong("an option is sent that nobody has picked", "%s: %s", c.Name, h.Option)
	case q.Picked == "" || q.Picked == h.Option:
	case c.offers(q.Picked):
		v.wrong("the answer is not what the user picked", "%s: %s, not %s", c.Name, h.Option, q.Picked)
	default:
		v.wrong("an option is sent for the bridge's own rejection", "%s: %s", c.Name, h.Option)
	}
}

// offers reports whether an option is the agent's.
func (c *Call) offers(id string) bool {
	return slices.ContainsFunc(c.Options, func(o Option) bool { return o.ID == id })
}

func (c *Call) rejects() bool {
	return slices.ContainsFunc(c.Options, func(o Option) bool { return o.Tells == TellsReject })
}

// judgeTogether: all waiting calls are asked before anything is answered, and one
// message has all answers of a pause.
func (v *turnView) judgeTogether() {
	for _, h := range v.heard {
		if h.Kind != HeardAnswer || v.rec.Cancelled > 0 || v.run == endsUnknown || v.excuse("together: reads fail", v.hit(ReadsFail) != nil) {
			continue
		}
		v.judgeBeside(h)
	}
}

// judgeBeside is about the other questions, when one is answered.
func (v *turnView) judgeBeside(h *Heard) {
	for _, c := range v.questions() {
		at, arrived := v.askedAt(c)
		if c == h.Call || !arrived || at+10*time.Millisecond > h.At || v.excuse("together: asked behind the pick", at+10*time.Millisecond > v.pickedAt(h.Call)) ||
			v.excuse("together: approved elsewhere", v.goneBy(c, h.At)) || h.Call == nil {
			continue
		}
		asked := slices.ContainsFunc(v.asks(c), func(q *Shown) bool { return q.At <= h.At })
		before := slices.ContainsFunc(v.asks(c), func(q *Shown) bool { return q.At < h.At })
		answered := slices.ContainsFunc(v.answersTo(c), func(x *Heard) bool { return x.Message == h.Message || x.At <= h.At })
		switch {
		case asked && answered:
		case !before && v.excuse("together: silent", v.hushedTill(at, h.At)):
		case !before && v.excuse("together: no stream is open", v.adrift(at, h.At)):
		case !asked:
			v.wrong("an answer goes before all that waits is asked", "%s, while %s waits", h.Call.Name, c.Name)
		case !answered && !(!c.rejects() && v.dismissed(c)):
			v.wrong("the answers of a pause go in several messages", "%s without %s", h.Call.Name, c.Name)
		}
	}
}

// hushedTill reports whether a stream was silent from when a question was asked until an
// answer.
func (v *turnView) hushedTill(asked, answer time.Duration) bool {
	silent := v.hit(SilentAt)
	return silent != nil && v.hushed(silent.Fault.Stream, asked) && (silent.Fault.For == 0 || answer < silent.At+silent.Fault.For)
}

// adrift reports whether, from a question to an answer, no stream was open and no
// request came to the agent.
func (v *turnView) adrift(asked, answer time.Duration) bool {
	lost := time.Duration(-1)
	for _, at := range v.losses() {
		if at <= asked {
			lost = max(lost, at)
		}
	}
	return lost >= 0 && !slices.ContainsFunc(v.heard, func(h *Heard) bool {
		return h.At > lost && h.At < answer && h.Kind != HeardRead || h.At >= asked && h.At < answer
	})
}

// pickedAt is when the user answered the question about a call: a later question may
// cross with the answer.
func (v *turnView) pickedAt(c *Call) (at time.Duration) {
	at = 1 << 62
	if c != nil {
		for _, q := range v.asks(c) {
			if q.Answer > 0 {
				at = q.Answer
			}
		}
	}
	return at
}

// dismissed reports whether the user has picked nothing that the agent offers.
func (v *turnView) dismissed(c *Call) bool {
	return slices.ContainsFunc(v.asks(c), func(q *Shown) bool { return q.Answer > 0 && !c.offers(q.Picked) })
}

// refused reports whether the turn has a question that only a cancel of the task can
// reject, and cancelHeard when the cancel came.
func (v *turnView) refused() bool { return v.cancelHeard() > 0 && v.refuses() }

func (v *turnView) cancelHeard() time.Duration {
	for _, h := range v.heard {
		if h.Kind == HeardCancel {
			return h.At
		}
	}
	return 0
}

// refuses reports whether the user has rejected something that the agent has no option
// to reject: then the bridge cancels the task.
func (v *turnView) refuses() bool {
	return slices.ContainsFunc(v.questions(), func(c *Call) bool { return !c.rejects() && v.dismissed(c) })
}
