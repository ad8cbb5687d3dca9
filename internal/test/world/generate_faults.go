package world

import (
	"fmt"
	"slices"
	"time"
)

// faults is the pass for faults.
func (g *generator) faults(t *Turn) {
	event := func(what string, i int) int { return g.draw("event "+what, t.N, i).IntN(len(t.Acts) + 4) }
	stream := func(what string, i int) int { return pick(g.draw("stream "+what, t.N, i), 0, 0, 0, 1, 1, 2) }
	add := func(letter string, i int, f Fault) {
		f.Label = fmt.Sprintf("%df%s%d", t.N, letter, i)
		t.Faults = append(t.Faults, &f)
	}
	if g.On.Has(Cuts) {
		for i := range pick(g.draw("cuts", t.N), 0, 1, 1, 1, 2, 3) {
			d := g.draw("cut", t.N, i)
			f := Fault{Kind: CutAt, Stream: stream("cut", i), Event: event("cut", i), Permille: pick(d, 0, d.IntN(1000), d.IntN(1000), 1000), Clean: chance(d, 40)}
			if i > 0 && chance(d, 60) {
				f.Stream = i
			}
			add("c", i, f)
		}
	}
	if g.maybe(Silence, 60, t.N) {
		d := g.draw("silence", t.N)
		f := Fault{Kind: SilentAt, Stream: stream("silence", 0), Event: event("silence", 0), For: pick(d, 20*time.Second, 3*time.Minute)}
		if g.plan.Idle = pick(g.draw("idle"), 0, 45*time.Second); g.plan.Idle > 0 && chance(d, 50) {
			f.For = 0
		}
		if chance(d, 25) {
			f.Kind, f.Stream = NoHead, 1
			f.For = pick(d, 0, 20*time.Second)
		}
		add("s", 0, f)
	}
	if g.maybe(Restarts, 60, t.N) {
		f := Fault{Kind: RestartAt, Stream: stream("restart", 0), Event: event("restart", 0)}
		if chance(g.draw("restart", t.N), 30) {
			f = Fault{Kind: RestartBefore}
		}
		add("r", 0, f)
	}
	if g.maybe(Reads, 80, t.N) {
		d := g.draw("read", t.N)
		add("g", 0, Fault{Kind: ReadsFail, Times: 1 + d.IntN(2), Read: pick(d, ReadUnavailable, ReadError, ReadCut, ReadCut, ReadReset, ReadHangs)})
	}
	if g.maybe(Heads, 60, t.N) {
		d := g.draw("head", t.N)
		add("h", 0, Fault{Kind: pick(d, LostHead, LostHead, Refused, Undelivered), Stream: pick(d, 0, 0, 0, 1), Times: pick(d, 1, 9)})
	}
	if g.maybe(Outages, 60, t.N) {
		add("o", 0, Fault{Kind: OutageAfter, For: pick(g.draw("outage", t.N), 3*time.Second, 8*time.Second, 5*time.Minute)})
	}
}

// user is the pass for what the user and the user's machine do.
func (g *generator) user(t *Turn, last bool) {
	moment := func(what string) *Moment {
		d := g.draw(what, t.N)
		return &Moment{After: d.IntN(len(t.Acts)+5) - 1, Wait: pick(d, 0, 10*time.Millisecond, 300*time.Millisecond, 3*time.Second)}
	}
	if g.maybe(Cancels, 60, t.N) {
		t.Cancel = moment("cancel")
	}
	if g.maybe(Kills, 60, t.N) {
		t.Kill = moment("kill")
	}
	if g.maybe(DeadEditor, 100, t.N) && last {
		t.Dead = moment("dead")
		t.Hangs = chance(g.draw("hangs", t.N), 50)
	}
}

// settle undoes what would not be legal, or what no client could recognise: the tables
// of the README.
func (g *generator) settle() {
	h := &g.plan.Agent
	if h.V1 {
		// A subscription, and the stream of a new task, begin with the task (1.0 §3.1.2, §3.1.6).
		if h.Resume == ResumesReplay || h.Resume == ResumesLive {
			h.Resume = ResumesWithTask
		}
		if h.Opens == OpensWithStatus {
			h.Opens = OpensWithTask
		}
		h.EndsWithTask, h.Lingers = false, false
		// A context that a message names is kept, or the message refused (1.0 §3.4.1).
		h.NewContexts = false
	}
	if !h.Extension && h.RefusesCompleted == 0 {
		h.RefusesCompleted = -32004 // only in the extension completed tasks continue
	}
	if !h.Streams {
		h.Holds, h.NoGet = HoldsAll, false // otherwise nobody could hear it
	}
	if h.NoGet && h.Holds == HoldsAll {
		h.Holds = HoldsNewest // what nobody can ask for is not held
	}
	if h.OwnContexts {
		h.NamesNoContext = false // it would refuse all from then on
	}
	if g.On.Has(Asks) && h.Holds == HoldsNothing {
		h.Holds = HoldsNewest
	}
	if h.SharedID && h.Holds != HoldsAll && h.Resume == ResumesReplay {
		h.Resume = ResumesLive
	}
	for _, t := range g.plan.Turns {
		if g.On.Has(Lines) {
			t.Kill = nil // its conversations end with the process
		}
		if g.On.Has(Sessions) {
			t.Kill, t.Dead = nil, nil
		}
		if h.V1 { // behind the task that a stream begins with, only updates come (1.0 §3.1.2)
			t.Acts = slices.DeleteFunc(t.Acts, func(a *Act) bool { return a.Kind == Show })
		}
		g.settlePauses(t)
		t.Faults = slices.DeleteFunc(t.Faults, func(f *Fault) bool { return !g.possible(t, f) })
	}
}

// settlePauses makes the agent hold its open questions.
func (g *generator) settlePauses(t *Turn) {
	h := &g.plan.Agent
	for _, a := range t.Acts {
		if a.Kind != Ask {
			continue
		}
		if !h.Streams {
			a.Pause = Pause{Together: a.Pause.Together}
		}
		if h.Holds != HoldsAll {
			a.Pause.Together = true
		}
		// A client hears what comes during the pause only on a stream that stays open, and
		// that it does not take for ended (1.0: input-required). The question must not leave
		// the status meanwhile.
		if h.Holds == HoldsAll && a.Pause.Open && (a.Pause.Working || !h.V1) {
			continue
		}
		a.Pause.Meanwhile = 0
		for _, c := range a.Calls {
			c.Elsewhere = 0
		}
	}
}

// possible reports whether a fault can happen in the turn.
func (g *generator) possible(t *Turn, f *Fault) bool {
	switch f.Kind {
	case RestartAt:
		return !t.Direct
	case OutageAfter, Refused, RestartBefore:
		// They affect all connections, and so the other conversation.
		return !g.On.Has(Sessions) && (f.Kind != OutageAfter || g.plan.Agent.Streams)
	case CutAt, SilentAt, NoHead:
		return g.plan.Agent.Streams && (!t.Direct || f.Stream == 0)
	}
	return true
}
