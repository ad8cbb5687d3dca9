package world

import (
	"slices"
	"time"
)

// This file judges questions that a bridge asks again behind the death of another.

// judgeAskedAgain: what was answered before the bridge was killed is not asked again.
func (v *turnView) judgeAskedAgain(c *Call, q *Shown) {
	heard := slices.ContainsFunc(v.answersTo(c), func(h *Heard) bool { return h.Waited && h.At < q.At })
	if heard && !v.excuse("asked again: its coming cannot be seen", v.untold(c, q.At)) {
		v.wrong("an approval is asked again that was answered before the bridge was killed", "%s", c.Name)
	}
}

// untold reports whether an answer had come of which nothing told by then: its reply was lost
// before its first event, the bridge was killed, and the agent holds its last messages only, and
// not the answer.
func (v *turnView) untold(c *Call, then time.Duration) bool {
	for _, h := range v.answersTo(c) {
		if h.Waited && h.At < then && v.rec.Killed > 0 {
			return v.plan.Agent.Holds == HoldsLast && slices.ContainsFunc(v.happened, func(x Happening) bool {
				return (x.Fault.Kind == NoHead || x.Fault.Kind == LostHead) && x.At >= h.At && x.At <= v.rec.Killed
			})
		}
	}
	return false
}

// answeredBy returns the question that the user had answered last by then (0: at all); if there
// is none, the first that was answered later.
func answeredBy(shown []*Shown, then time.Duration) (last *Shown) {
	for _, s := range shown {
		if s.Answer > 0 && (last == nil || then == 0 || s.Answer <= then) {
			last = s
		}
	}
	return last
}
