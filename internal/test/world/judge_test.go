package world

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// calm finds a turn of a world in which nothing went wrong and nobody cancelled.
func calm(p *Plan, r *Record) *TurnRecord {
	for _, t := range p.Turns {
		rec := r.Turns[t.N]
		if rec == nil || rec.Replied == 0 || rec.Cancelled > 0 || rec.Killed > 0 || rec.Stuck || rec.Err != "" || !p.Agent.Streams || t.Dead != nil {
			continue
		}
		if !slices.ContainsFunc(r.Happened, func(h Happening) bool { return h.Turn == t.N }) {
			return rec
		}
	}
	return nil
}

// first finds what a turn shows of a kind, -1 if nothing.
func first(t *TurnRecord, kind ShownKind) int {
	return slices.IndexFunc(t.Shown, func(s *Shown) bool {
		return s.Kind == kind && (kind != ShownText || strings.HasPrefix(strip(s.Text), "w"))
	})
}

// answered finds the answer to a question of a turn, nil if there is none.
func answered(r *Record, t *TurnRecord) *Heard {
	for _, h := range r.Heard {
		if h.Kind == HeardAnswer && h.Turn == t.Turn.N && h.Waited {
			return h
		}
	}
	return nil
}

// tampers are changes of what happened that the judge must see, by the violation
// that each is; a change that is not possible in a world returns false.
var tampers = []struct {
	class string
	do    func(*Plan, *Record, *TurnRecord) bool
}{
	{"text is lost though nothing went wrong", func(p *Plan, _ *Record, t *TurnRecord) bool {
		i := first(t, ShownText)
		if i >= 0 {
			t.Shown = slices.Delete(t.Shown, i, i+1)
		}
		return i >= 0 && !p.On.Has(Wholes) && !p.On.Has(Replaces) && !p.On.Has(Grows)
	}},
	{"text is shown twice", func(p *Plan, _ *Record, t *TurnRecord) bool {
		i := first(t, ShownText)
		if i >= 0 {
			t.Shown = slices.Insert(t.Shown, i, t.Shown[i])
		}
		return i >= 0 && !p.On.Has(Repeats) && !p.On.Has(Replaces) && !p.On.Has(Wholes) && !p.On.Has(Grows)
	}},
	{"text is shown out of its order", func(p *Plan, _ *Record, t *TurnRecord) bool {
		i := first(t, ShownText)
		if i < 0 || i+1 == len(t.Shown) || t.Shown[i+1].Kind != ShownText || t.Shown[i].ID == t.Shown[i+1].ID {
			return false
		}
		t.Shown[i], t.Shown[i+1] = t.Shown[i+1], t.Shown[i]
		return !p.On.Has(Repeats) && !p.On.Has(Replaces) && !p.On.Has(Wholes) && !p.On.Has(Grows) && !p.On.Has(Noises)
	}},
	{"text is shown that the agent has not said", func(p *Plan, _ *Record, t *TurnRecord) bool {
		t.Shown = append(t.Shown, &Shown{Kind: ShownText, ID: "x", Text: "sesame"})
		return !p.On.Has(Noises)
	}},
	{"a gap is said though nothing was lost", func(_ *Plan, _ *Record, t *TurnRecord) bool {
		t.Shown = append(t.Shown, &Shown{Kind: ShownGap})
		return true
	}},
	{"a turn ends for another reason", func(_ *Plan, _ *Record, t *TurnRecord) bool {
		t.Stop = "max_tokens"
		return t.Turn.End.State != Failed
	}},
	{"a turn fails that the agent has ended well", func(_ *Plan, _ *Record, t *TurnRecord) bool {
		t.Err = "out of luck"
		return t.Turn.End.State != Failed
	}},
	{"a turn ends late", func(_ *Plan, _ *Record, t *TurnRecord) bool {
		t.Replied += 10 * time.Minute
		return true
	}},
	{"a turn fails late", func(_ *Plan, _ *Record, t *TurnRecord) bool {
		t.Err = "out of luck"
		t.Replied += 10 * time.Minute
		return true
	}},
	{"a turn ends before the agent has ended it", func(_ *Plan, r *Record, t *TurnRecord) bool {
		t.Replied = t.Sent
		if !slices.ContainsFunc(r.Said, func(s *Said) bool { return s.Turn == t.Turn.N && s.Ends && s.At > t.Sent }) {
			return false
		}
		return !slices.ContainsFunc(t.Turn.Acts, func(a *Act) bool { return a.Kind == Ask })
	}},
	{"a turn never ends", func(_ *Plan, _ *Record, t *TurnRecord) bool {
		t.Stuck = true
		return true
	}},
	{"a message is sent twice", func(_ *Plan, r *Record, t *TurnRecord) bool {
		for _, h := range r.Heard {
			if h.Kind == HeardPrompt && h.Turn == t.Turn.N && h.Refused == 0 {
				r.Heard = append(r.Heard, h)
				return true
			}
		}
		return false
	}},
	{"an answer is sent twice", func(_ *Plan, r *Record, t *TurnRecord) bool {
		h := answered(r, t)
		if h != nil {
			r.Heard = append(r.Heard, h)
		}
		return h != nil
	}},
	{"the answer is not what the user picked", func(_ *Plan, r *Record, t *TurnRecord) bool {
		h := answered(r, t)
		if h == nil || len(h.Call.Options) < 2 || h.Call.Pick.How != PickOption || h.Option != h.Call.Options[0].ID {
			return false
		}
		h.Option = h.Call.Options[len(h.Call.Options)-1].ID
		return true
	}},
	{"an answer does not reach the agent", func(_ *Plan, r *Record, t *TurnRecord) bool {
		h := answered(r, t)
		r.Heard = slices.DeleteFunc(r.Heard, func(x *Heard) bool { return x == h })
		i := first(t, ShownQuestion)
		return h != nil && h.Call.Elsewhere == 0 && i >= 0 && t.Shown[i].Name == h.Call.Name && t.Shown[i].Picked == h.Option
	}},
	{"an approval is never asked", func(_ *Plan, r *Record, t *TurnRecord) bool {
		i := first(t, ShownQuestion)
		if i < 0 || answered(r, t) == nil || answered(r, t).Call.Name != t.Shown[i].Name {
			return false
		}
		t.Shown = slices.Delete(t.Shown, i, i+1)
		return true
	}},
	{"an approval is asked twice", func(_ *Plan, _ *Record, t *TurnRecord) bool {
		i := first(t, ShownQuestion)
		if i >= 0 {
			t.Shown = append(t.Shown, t.Shown[i])
		}
		return i >= 0
	}},
	{"an approval is asked that the agent gave itself at once", func(_ *Plan, r *Record, t *TurnRecord) bool {
		i := slices.IndexFunc(r.Said, func(s *Said) bool {
			return s.Turn == t.Turn.N && s.Status == statusExecuting && s.Call.Elsewhere > 0 && s.Call.Elsewhere < 200*time.Millisecond
		})
		if i < 0 || first(t, ShownQuestion) >= 0 {
			return false
		}
		t.Shown = append(t.Shown, &Shown{Kind: ShownQuestion, Name: r.Said[i].Call.Name, At: r.Said[i].At})
		return true
	}},
	{"an option is not offered", func(_ *Plan, _ *Record, t *TurnRecord) bool {
		i := first(t, ShownQuestion)
		if i >= 0 {
			t.Shown[i].Options = nil
		}
		return i >= 0
	}},
	{"a call never ends for the editor", func(_ *Plan, _ *Record, t *TurnRecord) bool {
		i := first(t, ShownTool)
		if i < 0 || t.Shown[i].Name == "" {
			return false
		}
		name := t.Shown[i].Name
		for _, s := range t.Shown {
			if s.Kind == ShownTool && s.Name == name {
				s.Status = "in_progress"
			}
		}
		return true
	}},
	{"an answer to a question in prose does not go to its task", func(p *Plan, r *Record, t *TurnRecord) bool {
		i := slices.IndexFunc(r.Heard, func(h *Heard) bool {
			return h.Kind == HeardPrompt && h.Turn == t.Turn.N+1 && h.Task != "" && h.Refused == 0
		})
		if t.Turn.End.State != InputRequired || p.On.Has(Sessions) || i < 0 {
			return false
		}
		r.Heard[i].Task = ""
		return true
	}},
	{"streams are left open", func(_ *Plan, r *Record, _ *TurnRecord) bool { r.Open = 1; return true }},
	{"goroutines are left", func(_ *Plan, r *Record, _ *TurnRecord) bool { r.Left = "deadlock"; return true }},
	{"the bridge takes long to end", func(_ *Plan, r *Record, _ *TurnRecord) bool { r.Served = time.Hour; return true }},
}

// The judge sees what it is there for: what happened in a world is changed, and
// the judge must say so, each time.
func TestJudgeSees(t *testing.T) {
	const tries, seeds = 8, 1200
	for _, tamper := range tampers {
		seen := 0
		for seed := uint64(0); seen < tries && seed < seeds; seed++ {
			plan := Generate(NewReplay(seed))
			rec, before := playOne(t, plan, false)
			turn := calm(plan, rec)
			if turn == nil || has(before, tamper.class) || !tamper.do(plan, rec, turn) {
				continue
			}
			seen++
			if found := Judge(plan, rec); !has(found, tamper.class) {
				t.Errorf("%s: seed %d, turn %d: the judge says %v", tamper.class, seed, turn.Turn.N, found)
				break
			}
		}
		if seen == 0 {
			t.Errorf("%s: no world in which to try", tamper.class)
		}
	}
}
