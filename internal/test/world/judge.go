package world

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// This file and the other judge_*.go files are the oracle. They know what the
// agent meant, by the plan and by what it said of it, and say what the user must
// have seen. They are written apart from the bridge and import nothing of it.

// A Violation is one fault. Its class is a fixed short sentence; detail describes this
// occurrence.
type Violation struct {
	Class, Detail string
	Turn          int // -1: of none
}

func (v Violation) String() string { return fmt.Sprintf("%s (turn %d: %s)", v.Class, v.Turn, v.Detail) }

// A judge looks at one world.
type judge struct {
	plan  *Plan
	rec   *Record
	lines bool
	found []Violation
	turns []*turnView
	// without is an excuse that does not count; made are those that did.
	without string
	made    map[string]bool
}

// A turnView holds all that is known of a turn.
type turnView struct {
	*judge
	turn     *Turn
	rec      *TurnRecord
	said     []*Said
	heard    []*Heard
	happened []Happening
	run      outcome
	elements []*element
	// shownLate counts the elements that are shown behind a gap, after newer text.
	shownLate int
}

// Judge returns the violations in a record.
func Judge(p *Plan, r *Record) []Violation {
	found, _ := judgeWithout(p, r, "")
	return found
}

// Excuses returns the excuses without which there would be violations: see
// [judge.excuse].
func Excuses(p *Plan, r *Record) (list []string) {
	found, made := judgeWithout(p, r, "")
	for _, name := range slices.Sorted(maps.Keys(made)) {
		if without, _ := judgeWithout(p, r, name); len(without) > len(found) {
			list = append(list, name)
		}
	}
	return list
}

func judgeWithout(p *Plan, r *Record, excuse string) ([]Violation, map[string]bool) {
	j := &judge{plan: p, rec: r, lines: p.On.Has(Lines), without: excuse, made: map[string]bool{}}
	for _, t := range p.Turns {
		rec := r.Turns[t.N]
		if rec == nil {
			continue
		}
		v := &turnView{judge: j, turn: t, rec: rec}
		for _, s := range r.Said {
			if s.Turn == t.N {
				v.said = append(v.said, s)
			}
		}
		for _, h := range r.Heard {
			if h.Turn == t.N {
				v.heard = append(v.heard, h)
			}
		}
		for _, h := range r.Happened {
			if h.Turn == t.N && (rec.Replied == 0 || h.At <= rec.Replied) {
				v.happened = append(v.happened, h)
			}
		}
		v.run = v.outcome()
		j.turns = append(j.turns, v)
	}
	j.meanings()
	for _, v := range j.turns {
		v.judgeEnd()
		v.judgeText()
		v.judgeGaps()
		v.judgeQuestions()
		v.judgeCalls()
		v.judgeCancel()
	}
	j.judgeMessages()
	j.judgeIDs()
	j.judgeLoads()
	j.judgeClosing()
	return j.found, j.made
}

// excuse reports whether something counts as no violation, because no bridge could know
// better: each excuse has a row in the README. Excuses have names, so that the worlds
// that need each can be counted: an excuse that many need may hide faults.
func (j *judge) excuse(name string, holds bool) bool {
	if !holds || name == j.without {
		return false
	}
	j.made[name] = true
	return true
}

func (j *judge) wrong(turn int, class, format string, args ...any) {
	j.found = append(j.found, Violation{class, fmt.Sprintf(format, args...), turn})
}

func (v *turnView) wrong(class, format string, args ...any) {
	v.judge.wrong(v.turn.N, class, format, args...)
}

// hit finds a fault that happened, nil if none of these did.
func (v *turnView) hit(kinds ...FaultKind) *Happening {
	for i, h := range v.happened {
		if slices.Contains(kinds, h.Fault.Kind) {
			return &v.happened[i]
		}
	}
	return nil
}

// disturbed reports whether anything went wrong that the bridge may have noticed. If
// not, the user must see everything as it was said.
func (v *turnView) disturbed() bool {
	return len(v.happened) > 0 || v.rec.Killed > 0 || !v.plan.Agent.Streams
}

// forgotten reports whether any fault restarted the agent during the turn.
func (v *turnView) forgotten() bool {
	return slices.ContainsFunc(v.judge.rec.Happened, func(h Happening) bool {
		return h.Fault.Kind == RestartAt && h.At >= v.rec.Sent && (v.rec.Replied == 0 || h.At <= v.rec.Replied)
	})
}

// end is the agent's act that ended the turn, nil if there is none.
func (v *turnView) end() *Said {
	for _, s := range v.said {
		if s.Ends {
			return s
		}
	}
	return nil
}

// taken is how often the agent has accepted the prompt.
func (v *turnView) taken() (n int) {
	for _, h := range v.heard {
		if h.Kind == HeardPrompt && h.Refused == 0 {
			n++
		}
	}
	return n
}

// slack is the editor's own time for what it was shown.
func (v *turnView) slack() time.Duration {
	return v.plan.PerLine * time.Duration(len(v.rec.Shown)+30)
}

// strip removes white space from a text: the separation of words is not judged.
func strip(s string) string { return strings.Join(strings.Fields(s), "") }
