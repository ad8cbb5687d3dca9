package world

import (
	"slices"
	"time"
)

// judgeGaps: a gap is reported where something may be missing, once for each loss.
func (v *turnView) judgeGaps() {
	gaps := 0
	for _, s := range v.rec.Shown {
		if s.Kind == ShownGap {
			gaps++
		}
	}
	losses := len(v.losses())
	if gaps > losses && v.excuse("gap: of a message that a kill has lost", v.afterKilledMessage()) {
		losses++
	}
	switch {
	case gaps == 0:
	case v.excuse("gap: an artifact shrinks", slices.ContainsFunc(v.elements, func(e *element) bool { return e.shrinks })):
	case losses == 0 && v.rec.Killed == 0:
		v.wrong("a gap is said though nothing was lost", "")
	case v.plan.Agent.Holds == HoldsAll && !v.excuse("gap: it cannot be asked", v.forgotten() || v.outOfReach()) && v.taken() > 0 && !v.turn.Direct:
		v.wrong("a gap is said though the agent holds all", "")
	case gaps > losses && v.rec.Killed == 0 && !v.pushedBlind() && !v.excuse("gap: in front of text that is late", gaps <= losses+v.shownLate):
		v.wrong("the gap is said more often than the connection was lost", "%d times for %d", gaps, losses)
	case v.plan.Agent.Resume == ResumesReplay && losses == 1 && v.replayedAll():
		v.wrong("a gap is said though a replay has brought all", "")
	}
}

// afterKilledMessage reports whether the turn before was to be a message without a task, and the
// bridge was killed before it.
func (v *turnView) afterKilledMessage() bool {
	return slices.ContainsFunc(v.judge.turns, func(other *turnView) bool {
		return other.rec.Session == v.rec.Session && other.turn.N == v.turn.N-1 && other.rec.Killed > 0 && other.turn.Direct
	})
}

// outOfReach reports whether the agent could not be reached any more until the turn ended.
func (v *turnView) outOfReach() bool {
	h := v.hit(OutageAfter)
	return h != nil && v.rec.Replied > 0 && h.At+h.Fault.For >= v.rec.Replied || h != nil && v.rec.Replied == 0
}

// replayedAll reports whether a replay has brought what a cut had lost.
func (v *turnView) replayedAll() bool {
	return v.hit(CutAt) != nil && v.replayed() &&
		!v.excuse("replay: approvals", v.asked()) && !v.excuse("replay: disturbed before", v.disturbedBefore()) &&
		!v.excuse("replay: behind what was pushed", v.plan.Agent.Pushes && v.gapBeforeReplay()) && !v.excuse("replay: of states alone", !v.saidBefore(v.hit(CutAt).At))
}

// gapBeforeReplay reports whether a gap was said before a replay was asked for.
func (v *turnView) gapBeforeReplay() bool {
	return slices.ContainsFunc(v.rec.Shown, func(s *Shown) bool {
		return s.Kind == ShownGap && !slices.ContainsFunc(v.heard, func(h *Heard) bool { return h.Kind == HeardResume && h.At <= s.At })
	})
}

// saidBefore reports whether something has come of what the agent has said and done before.
func (v *turnView) saidBefore(then time.Duration) bool {
	return slices.ContainsFunc(v.said, func(s *Said) bool {
		return s.Act != nil && !(s.Act.Kind == Murmur && s.Act.Noise == NoiseState) && s.Act.Kind != WantsAuth && s.Arrived && s.At < then
	})
}

// losses are the times of lost connections.
func (v *turnView) losses() (list []time.Duration) {
	for _, h := range v.happened {
		switch h.Fault.Kind {
		case CutAt, SilentAt, RestartAt, LostHead, OutageAfter, Undelivered, NoHead:
			list = append(list, h.At)
		}
	}
	for _, h := range v.heard {
		if h.Kind == HeardHangUp && v.plan.Idle > 0 {
			list = append(list, h.At) // it was idle for too long
		}
	}
	if v.rec.Killed > 0 {
		list = append(list, v.rec.Killed)
	}
	return list
}

// disturbedBefore reports whether something was missed in an earlier turn. Then a
// replay of the task has more than was seen, and cannot be compared with that.
func (v *turnView) disturbedBefore() bool {
	return slices.ContainsFunc(v.judge.turns, func(other *turnView) bool {
		return other.rec.Session == v.rec.Session && other.turn.N < v.turn.N && other.disturbed()
	})
}

func (v *turnView) reads() *Happening { return v.hit(ReadsFail) }

// replayed reports whether the agent has answered a subscription during its work with
// all events from the start.
func (v *turnView) replayed() bool {
	end := v.end()
	for _, h := range v.heard {
		if h.Kind == HeardResume && (end == nil || h.At <= end.At) {
			return true
		}
	}
	return false
}
