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

// A Violation is one thing that is wrong. Its class is a short sentence that stays
// the same; detail says what it was here.
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

// A turnView is all that is known of a turn.
type turnView struct {
	*judge
	turn     *Turn
	rec      *TurnRecord
	said     []*Said
	heard    []*Heard
	happened []Happening
	run      outcome
	elements []*element
}

// Judge says what is wrong with what happened.
func Judge(p *Plan, r *Record) []Violation {
	found, _ := judgeWithout(p, r, "")
	return found
}

// Excuses are those without which something would be wrong: see [judge.excuse].
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

// excuse reports whether something that would be wrong is not, because it cannot be
// known: each excuse has a row in the README. They have names so that it can be counted
// how many worlds need each: one that many need may hide faults.
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

// hit finds a fault that came to pass, nil if none of these did.
func (v *turnView) hit(kinds ...FaultKind) *Happening {
	for i, h := range v.happened {
		if slices.Contains(kinds, h.Fault.Kind) {
			return &v.happened[i]
		}
	}
	return nil
}

// disturbed reports whether anything went wrong that the bridge can have felt: if
// not, the user must see everything as it was said.
func (v *turnView) disturbed() bool {
	return len(v.happened) > 0 || v.rec.Killed > 0 || !v.plan.Agent.Streams
}

// forgotten reports whether the agent was restarted, by whatever fault, during the turn.
func (v *turnView) forgotten() bool {
	return slices.ContainsFunc(v.judge.rec.Happened, func(h Happening) bool {
		return h.Fault.Kind == RestartAt && h.At >= v.rec.Sent && (v.rec.Replied == 0 || h.At <= v.rec.Replied)
	})
}

// end is what the agent said to end the turn, nil if it has not.
func (v *turnView) end() *Said {
	for _, s := range v.said {
		if s.Ends {
			return s
		}
	}
	return nil
}

// taken is how often the agent has taken the prompt.
func (v *turnView) taken() (n int) {
	for _, h := range v.heard {
		if h.Kind == HeardPrompt && h.Refused == 0 {
			n++
		}
	}
	return n
}

// slack is how long the editor itself may take for what it was shown.
func (v *turnView) slack() time.Duration {
	return v.plan.PerLine * time.Duration(len(v.rec.Shown)+30)
}

// strip takes the white space out of a text: how words are set apart is not
// what is asked here.
func strip(s string) string { return strings.Join(strings.Fields(s), "") }
