package world

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Generate makes a replay's world. The same replay always gives the same world: see the
// package comment.
func Generate(r Replay) *Plan {
	g := &generator{Replay: r, plan: &Plan{Replay: r}}
	g.habits()
	if r.On.Has(SlowEditor) {
		g.plan.PerLine = pick(r.draw("per line"), 20*time.Millisecond, 200*time.Millisecond, time.Second)
	}
	turns := 1 + r.draw("turns").IntN(3)
	for n := range turns {
		t := &Turn{N: n}
		if r.On.Has(Sessions) {
			t.Session = r.draw("session", n).IntN(2)
		}
		g.turn(t, n == turns-1)
		g.plan.Turns = append(g.plan.Turns, t)
	}
	g.settle()
	g.remove()
	return g.plan
}

// A generator makes a plan. The order of its passes is fixed.
type generator struct {
	Replay
	plan *Plan
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func chance(r *rand.Rand, percent int) bool { return r.IntN(100) < percent }

// maybe draws whether something happens, if its feature is on.
func (g *generator) maybe(f Feature, percent int, at ...int) bool {
	return g.On.Has(f) && chance(g.draw("maybe "+f.String(), at...), percent)
}

func (g *generator) habits() {
	h := &g.plan.Agent
	h.V1, h.Streams = g.On.Has(V1), !g.On.Has(Unstreamed)
	h.Extension = g.On.Has(Tools) || g.On.Has(Asks) || g.On.Has(Thoughts) || chance(g.draw("extension"), 40)
	h.SharedID, h.ConstantID, h.AnewIDs = g.On.Has(SharedID), g.On.Has(Constant), g.On.Has(Anew)
	if g.On.Has(Forgetful) {
		h.Holds = pick(g.draw("holds"), HoldsNewest, HoldsNewest, HoldsNothing, HoldsLast)
	}
	h.HistoryHasStatus = chance(g.draw("history has status"), 30)
	h.MergesParts = chance(g.draw("merges parts"), 40)
	h.Explicit = chance(g.draw("explicit"), 50)
	if g.On.Has(Openings) {
		h.Opens = pick(g.draw("opens"), OpensWithTask, OpensSaying, OpensWithStatus)
		h.FollowUpTask = chance(g.draw("follow-up"), 50)
		h.EndsWithTask = chance(g.draw("ends with task"), 25)
	}
	if g.On.Has(Resumes) {
		h.Resume = pick(g.draw("resume"), ResumesWithTask, ResumesReplay, ResumesReplay, ResumesLive, ResumesLive, ResumesMissing, ResumesRefused)
		h.ResumeCode = pick(g.draw("resume code"), -32004, -32603, -32001)
	}
	h.Echo = g.On.Has(Echoes)
	h.ErrorsInStream = chance(g.draw("errors in stream"), 50)
	h.ClosesAtInput = !h.V1 || !g.On.Has(OpenPauses) || chance(g.draw("closes at input"), 40)
	if g.On.Has(Contexts) {
		h.OwnContexts = chance(g.draw("own contexts"), 50)
		h.NewContexts = chance(g.draw("new contexts"), 40)
		h.NamesNoContext = chance(g.draw("names no context"), 50)
	}
	if !g.On.Has(Continues) || chance(g.draw("continues"), 50) {
		h.RefusesCompleted = pick(g.draw("refuses completed"), -32004, -32602, -32600)
	}
	if g.On.Has(Deaf) {
		h.OnCancel = pick(g.draw("on cancel"), CancelIgnored, CancelRefused, CancelUnsupported, CancelHangs)
	}
	if g.On.Has(Noises) {
		d := g.draw("framing")
		h.Framing = Framing{IDs: chance(d, 50), CRLF: chance(d, 50), Comments: chance(d, 50), Names: chance(d, 50)}
	}
	h.SplitsText, h.Lingers = g.On.Has(Parts), g.On.Has(Lingers)
	h.NoGet, h.Pushes = g.On.Has(Unread), g.On.Has(Pushes)
	if h.Pushes {
		h.PushDelay = pick(g.draw("push delay"), 0, 30*time.Millisecond, 2*time.Second)
	}
}

// turn makes a turn in passes, each of which adds acts.
func (g *generator) turn(t *Turn, last bool) {
	t.End = Ending{State: Completed, Wait: g.wait("end", t.N)}
	if t.Direct = g.maybe(DirectMessages, 40, t.N); t.Direct {
		g.direct(t)
	} else {
		g.answers(t)
		g.wholes(t)
		g.thoughts(t)
		g.uses(t)
		g.asks(t)
		g.noise(t)
		g.snapshots(t)
		g.ending(t)
	}
	g.faults(t)
	g.user(t, last)
}

// wait draws an agent's pause before an act: mostly none or a moment, so that acts come
// both together and apart.
func (g *generator) wait(what string, at ...int) time.Duration {
	return pick(g.draw("wait "+what, at...), 0, 0, 30*time.Millisecond, 120*time.Millisecond, 400*time.Millisecond, 400*time.Millisecond, 1500*time.Millisecond)
}

// insert inserts acts in their order, at random allowed places behind from.
func (g *generator) insert(t *Turn, from int, acts []*Act, what string, at ...int) {
	for i, a := range acts {
		place := from + g.draw("place "+what, append(slices.Clone(at), i)...).IntN(len(t.Acts)-from+1)
		t.Acts = slices.Insert(t.Acts, place, a)
		from = place + 1
	}
}

// remove removes what the replay says.
func (g *generator) remove() {
	if len(g.Removed) == 0 {
		return
	}
	p := g.plan
	p.Turns = slices.DeleteFunc(p.Turns, func(t *Turn) bool { return g.removed(fmt.Sprint(t.N)) })
	for _, t := range p.Turns {
		t.Acts = slices.DeleteFunc(t.Acts, func(a *Act) bool {
			if a.Kind == Ask {
				a.Calls = slices.DeleteFunc(a.Calls, func(c *Call) bool { return g.removed(c.Label) })
				return len(a.Calls) == 0 || g.removed(a.Label)
			}
			return a.optional() && g.removed(a.Label) || a.Call != nil && g.removed(a.Call.Label)
		})
		t.dropOrphans()
		t.Faults = slices.DeleteFunc(t.Faults, func(f *Fault) bool { return g.removed(f.Label) })
		for what, m := range map[string]**Moment{"c": &t.Cancel, "x": &t.Kill, "d": &t.Dead} {
			if g.removed(fmt.Sprint(t.N) + what) {
				*m = nil
			}
		}
	}
}

// dropOrphans removes what makes no sense any more: a whole without its parts, steps of
// a call whose question was removed.
func (t *Turn) dropOrphans() {
	said, asked := map[string]bool{}, map[*Call]bool{}
	for _, a := range t.Acts {
		if a.Kind == Say {
			said[a.Answer] = true
		}
		for _, c := range a.Calls {
			asked[c] = true
		}
	}
	t.Acts = slices.DeleteFunc(t.Acts, func(a *Act) bool {
		return a.Kind == Again && !said[a.Answer] || a.Call != nil && a.Call.Options != nil && !asked[a.Call]
	})
}

// labels are all that can be removed from a plan, larger things first.
func (p *Plan) labels() (list []string) {
	add := func(label string) {
		if !slices.Contains(list, label) {
			list = append(list, label)
		}
	}
	for _, t := range p.Turns {
		add(fmt.Sprint(t.N))
	}
	for _, t := range p.Turns {
		for what, m := range map[string]*Moment{"c": t.Cancel, "x": t.Kill, "d": t.Dead} {
			if m != nil {
				add(fmt.Sprint(t.N) + what)
			}
		}
		for _, f := range t.Faults {
			add(f.Label)
		}
		for _, a := range t.Acts {
			whole, _, _ := strings.Cut(a.Label, ".")
			add(whole)
		}
	}
	for _, t := range p.Turns {
		for _, a := range t.Acts {
			for _, c := range a.Calls {
				add(c.Label)
			}
			if a.optional() {
				add(a.Label)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b string) int { return len(a) - len(b) })
	return list
}

// optional reports whether a turn is legal without the act, although it is part of
// something.
func (a *Act) optional() bool {
	return a.Kind != Use || a.Step == CallRuns || a.Step == CallRepeat || a.Step == CallPending
}
