package world

import (
	"fmt"
	"slices"
	"time"
)

// optionSets are options of agents. Their meaning follows the README's rule: an option
// rejects if ID and name agree on that, or one says so and the other says nothing.
var plainOptions = [][]Option{
	{{ID: "proceed_once", Name: "Allow once", Runs: true}, {ID: "cancel", Name: "Reject", Tells: TellsReject}},
	{{ID: "proceed_once", Name: "Allow once", Runs: true}, {ID: "proceed_always", Name: "Always allow", Runs: true},
		{ID: "cancel", Name: "Cancel", Tells: TellsReject}},
	{{ID: "allow", Name: "Yes", Description: "Run it", Runs: true}, {ID: "deny", Name: "No", Tells: TellsReject}},
}

var oddOptions = [][]Option{
	{{ID: "approved", Name: "Approve", Runs: true}, {ID: "denied", Name: "Deny", Tells: TellsReject}},
	{{ID: "sandbox", Name: "In the sandbox", Tells: TellsNothing, Runs: true}, {ID: "host", Name: "On the host", Tells: TellsNothing, Runs: true},
		{ID: "none", Name: "Not at all", Tells: TellsNothing}},
	{{ID: "proceed_once", Name: "Allow once", Runs: true}, {ID: "proceed_always_tool", Name: "Always allow this tool", Runs: true},
		{ID: "proceed_always_server", Name: "Always allow this server", Runs: true}, {ID: "cancel", Name: "Reject", Tells: TellsReject}},
	{{ID: "allow_all", Name: "Reject", Tells: TellsNothing, Runs: true}, {ID: "deny", Name: "Reject", Tells: TellsReject}},
	{{ID: "cancel", Name: "Allow", Tells: TellsNothing, Runs: true}, {ID: "proceed_once", Name: "Allow once", Runs: true}},
	{{ID: "o1", Name: "Allow once", Runs: true}, {ID: "o2", Name: "Reject", Tells: TellsReject}},
	{{ID: "yes", Name: "Yes", Runs: true}, {ID: "no", Name: "No", Tells: TellsReject}, {ID: "never", Name: "Never", Tells: TellsReject}},
	{{ID: "a", Name: "Blue", Tells: TellsNothing, Runs: true}, {ID: "b", Name: "Green", Tells: TellsNothing, Runs: true}},
	{{ID: "allow_once", Name: "Allow once", Runs: true}, {ID: "allow_quietly", Name: "Allow once, quietly", Runs: true}, {ID: "reject", Tells: TellsReject}},
	{{ID: "proceed_once", Name: "Allow once", Runs: true}},
	{{ID: "reject_once", Name: "Reject", Tells: TellsReject}, {ID: "reject_always", Name: "Never", Tells: TellsReject}},
}

// call makes a tool call.
func (g *generator) call(t *Turn, kind string, n int) *Call {
	d := g.draw("call "+kind, t.N, n)
	label := fmt.Sprintf("%d%s%d", t.N, kind, n)
	server := "server"
	if g.On.Has(OddOptions) {
		server += label // with it a whole server can be allowed
	}
	return &Call{Label: label, Name: "Tool" + label, Server: server, Result: pick(d, ResultText, ResultText, ResultDiff, ResultData, ResultError),
		Detail: pick(d, DetailCommand, DetailCommand, DetailEdit, DetailMCP, DetailGeneric, DetailNone)}
}

// life makes the acts of a running call.
func (g *generator) life(t *Turn, c *Call, at ...int) (acts []*Act) {
	d := g.draw("life "+c.Label, at...)
	add := func(s Step, live string) {
		n := len(acts)
		acts = append(acts, &Act{Label: fmt.Sprintf("%s.%d", c.Label, n), Kind: Use, Call: c, Step: s, Live: live, Wait: g.wait("life "+c.Label, append(slices.Clone(at), n)...)})
	}
	if c.Options == nil && chance(d, 60) {
		add(CallPending, "")
	}
	if c.Options != nil && g.On.Has(Elsewhere) && chance(d, 30) {
		add(CallRepeat, "")
	}
	live := ""
	for i := range d.IntN(4) {
		if chance(d, 15) {
			live = "" // it is cleared
		} else {
			live += fmt.Sprintf("%s%d ", "l"+c.Label+"n", i)
		}
		add(CallRuns, live)
	}
	add(CallEnds, "")
	return acts
}

// uses is the pass for tool calls without approval.
func (g *generator) uses(t *Turn) {
	if !g.maybe(Tools, 70, t.N) {
		return
	}
	for n := range 1 + g.draw("uses", t.N).IntN(2) {
		c := g.call(t, "k", n)
		if c.Result == ResultError && chance(g.draw("cancelled", t.N, n), 30) {
			c.Result = ResultCancelled
		}
		g.insert(t, 0, g.life(t, c, t.N, n), "use", t.N, n)
	}
}

// asks is the pass for calls with approval.
func (g *generator) asks(t *Turn) {
	if !g.maybe(Asks, 75, t.N) {
		return
	}
	for n := range pick(g.draw("asks", t.N), 1, 1, 1, 2) {
		d := g.draw("ask", t.N, n)
		a := &Act{Label: fmt.Sprintf("%da%d", t.N, n), Kind: Ask, Wait: g.wait("ask", t.N, n), Pause: g.pause(t, n)}
		count := 1
		if g.On.Has(Parallel) {
			count += d.IntN(3)
		}
		for i := range count {
			a.Calls = append(a.Calls, g.question(t, n, i))
		}
		// The pauses of a turn follow each other. A call's acts come between its pause and
		// the next one.
		from := 0
		for i, old := range t.Acts {
			if old.Kind == Ask || old.Call != nil && old.Call.Options != nil {
				from = i + 1
			}
		}
		place := from + g.draw("place ask", t.N, n).IntN(len(t.Acts)-from+1)
		t.Acts = slices.Insert(t.Acts, place, a)
		for i, c := range a.Calls {
			g.insert(t, place+1, g.life(t, c, t.N, n, i), "life", t.N, n, i)
		}
	}
}

// question makes a call that asks for approval, and the user's answer.
func (g *generator) question(t *Turn, n, i int) *Call {
	c := g.call(t, fmt.Sprintf("q%dn", n), i)
	d := g.draw("question", t.N, n, i)
	c.Options = pick(d, plainOptions...)
	if g.On.Has(OddOptions) && chance(d, 70) {
		c.Options = pick(d, oddOptions...)
	}
	c.Pick = Pick{N: d.IntN(4), After: pick(d, 0, 100*time.Millisecond, 600*time.Millisecond)}
	if g.On.Has(SlowUser) {
		c.Pick.After = pick(d, 600*time.Millisecond, 3*time.Second, 20*time.Second)
	}
	if g.maybe(Dismisses, 50, t.N, n, i) {
		c.Pick.How = pick(g.draw("dismiss", t.N, n, i), PickDismiss, PickDismiss, PickError, PickUnknown, PickOwn)
	}
	c.Forgotten = chance(d, 40)
	if g.maybe(Elsewhere, 50, t.N, n, i) {
		c.Elsewhere = pick(d, 700*time.Millisecond, 2*time.Second, 10*time.Second)
	}
	if g.maybe(Passes, 50, t.N, n, i) {
		c.Elsewhere = pick(g.draw("passes", t.N, n, i), 10*time.Millisecond, 100*time.Millisecond)
	}
	return c
}

// pause draws how the agent waits.
func (g *generator) pause(t *Turn, n int) Pause {
	d := g.draw("pause", t.N, n)
	p := Pause{Together: chance(d, 40), Apart: pick(d, 0, 100*time.Millisecond, 600*time.Millisecond)}
	if g.On.Has(OpenPauses) && chance(d, 70) {
		p.Open = true
		p.Working = chance(d, 50)
		p.Meanwhile = pick(d, 0, 0, 1, 2)
	}
	return p
}
