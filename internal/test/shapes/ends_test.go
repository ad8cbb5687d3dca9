package shapes

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2astdio/a2astdio/internal/test/agent"
	"github.com/a2astdio/a2astdio/internal/test/editor"
	"github.com/a2astdio/a2astdio/internal/test/must"
)

// A net is how an agent answers what is asked behind a fault.
type net struct {
	get       agent.Get
	subscribe agent.Subscribe
	tells     agent.Tells
}

// nets are the ways to look at a task.
var nets = []net{{}, {get: agent.GetSlow}, {get: agent.GetStale}, {get: agent.GetFails}, {get: agent.GetMissing},
	{subscribe: agent.SubscribeMissing}, {subscribe: agent.SubscribeRefused}, {subscribe: agent.SubscribeEvents}, {subscribe: agent.SubscribeSilent}, {subscribe: agent.SubscribeEnds}}

// plan is the world of an agent that ends in some way, with a fault and an act of the user's.
func (e Ending) plan(p editor.Protocol, v1 bool, fault *agent.Fault, act Act, think time.Duration, over net) *Plan {
	story, turn := &agent.Turn{Steps: e.Steps, Open: e.Open}, &Turn{Act: act, Think: think}
	if fault != nil {
		turn.Faults, story.Faults = []agent.Fault{*fault}, []agent.Fault{*fault}
	}
	for _, s := range story.Steps {
		if s.Message != nil {
			for _, part := range s.Message.Parts {
				turn.Texts = append(turn.Texts, strings.TrimSuffix(part.Text, "Why."))
			}
		}
	}
	return &Plan{Protocol: p, Shape: Shape{Carrier: "status"}, Turns: []*Turn{turn},
		Script: &agent.Script{V1: v1, Get: over.get, Subscribe: over.subscribe, Tells: over.tells, Extensions: []string{agent.DevTool}, Turns: []*agent.Turn{story}}}
}

// undecided reports whether no rule can decide: a snapshot does not tell that a terminal
// state is not meant.
func (e Ending) undecided(fault *agent.Fault) bool {
	return e.Late && fault != nil && (fault.Kind != agent.Stall || fault.For >= 3*time.Second && fault.Events == 3)
}

// TestEnds: agents that end in several ways, with streams that stall, end or break at each
// event, and users who cancel or leave behind each event.
func TestEnds(t *testing.T) {
	var mu sync.Mutex
	classes, plays, wrong, chosen := map[string]int{}, 0, 0, 0
	endings := Endings()
	must.OnAll(t, len(endings), func(t *testing.T, n int) {
		e, drawn := endings[n], n
		steps := e.Steps
		check := func(fault *agent.Fault, act Act, think time.Duration, over net) {
			p := editor.ACP
			if drawn++; *both || drawn%8 == 0 { // one of them, without a reason
				p = editor.ACP2
			}
			if drawn%3 > 0 && !*both && !*all {
				return
			}
			plan := e.plan(p, n%2 == 1 && !e.Only03, fault, act, think, over)
			r, found, _ := playWorld(t, plan)
			mu.Lock()
			defer mu.Unlock()
			plays++
			switch {
			case len(found) == 0:
				return
			case e.undecided(fault):
				chosen++
				return
			}
			wrong++
			what := ""
			if fault != nil {
				what = string(fault.Kind)
			}
			for _, v := range found {
				classes[fmt.Sprintf("%s | %s | %d | %s", e.Name, what, act.Kind, v.Class)]++
			}
			if wrong <= *tell {
				t.Logf("%s, %s, %v, %v, thinks for %v, net %v: %v\n%s", p, e.Name, fault, act, think, over, found, Tell(plan, r))
			}
		}
		check(nil, Act{}, 0, net{})
		stream, events := 0, 0
		for i, step := range steps {
			if step.Kind != agent.Nothing {
				events++
			}
			for _, d := range []time.Duration{100 * time.Millisecond, 400 * time.Millisecond, 3 * time.Second, 30 * time.Second} {
				for _, tells := range []agent.Tells{agent.TellAll, agent.TellNewest, agent.TellFirst} {
					check(&agent.Fault{Stream: stream, Events: events, Kind: agent.Stall, For: d}, Act{}, 0, net{tells: tells})
				}
			}
			for _, kind := range []agent.FaultKind{agent.Cut, agent.End} {
				for k, over := range nets {
					if *all || k == 0 || (i+n)%(len(nets)-1) == k-1 { // without a reason, one of them
						check(&agent.Fault{Stream: stream, Events: events, Kind: kind}, Act{}, 0, over)
					}
				}
			}
			if i < len(steps)-1 {
				for _, kind := range []ActKind{Cancel, Leave, Terminate} {
					for _, d := range []time.Duration{0, 5 * time.Millisecond, 3 * time.Second} {
						check(nil, Act{kind, i + 1, d}, 5*time.Second, net{})
					}
				}
			}
			if step.Waits {
				stream, events = stream+1, 0
			}
		}
	})
	t.Logf("%d plays, %d that no rule decides", plays, chosen)
	t.Logf("wrong: ends: %d", wrong)
	for _, c := range ByCount(classes) {
		t.Logf("%6d %s", classes[c], c)
	}
	const atMost = 3 // may only shrink: one, and what goroutines decide that wake at one time
	must.True(t, wrong <= atMost || *all, wrong, "ends are wrong, and there were", atMost)
}

// An Ending is an agent by how its turn goes on and ends.
type Ending struct {
	Name   string
	Only03 bool
	// Late: its last words come behind a state that only looks like the end. Open: its stream stays open.
	Late, Open bool
	Steps      []*agent.Step
}

// halt is the state in which an agent waits for the answers to these calls, and whose
// stream ends.
func halt(calls ...string) *agent.Step {
	return &agent.Step{State: agent.InputRequired, Final: true, Waits: true, Asks: calls, Ends: true}
}

// wait is the same without a word, on a stream that stays open.
func wait(calls ...string) *agent.Step {
	return &agent.Step{Kind: agent.Nothing, Waits: true, Asks: calls}
}

// Endings are the agents of which the end of a turn is judged.
func Endings() (all []*Ending) {
	done := agent.Done(agent.Completed)
	ask := func(id string) *agent.Step { return agent.Ask(agent.Working, id, "tool-"+id) }
	run := func(id string) []*agent.Step { return agent.Run(id, "tool-"+id, "out") }
	why := func(state agent.State) *agent.Step {
		return &agent.Step{State: state, Final: true, Message: &agent.Message{ID: "m2", Parts: agent.Text("Why.")}}
	}
	one := func(name string, steps ...any) *Ending {
		steps = append([]any{&agent.Step{Kind: agent.TaskEvent, State: agent.Submitted}}, steps...)
		all = append(all, &Ending{Name: name, Steps: agent.List(steps...)})
		return all[len(all)-1]
	}
	one("plain", say("m1", "One. "), say("m1", "Two."), done)
	one("stream left open at the end", say("m1", "One. "), say("m1", "Two."), done).Open = true
	one("failed", say("m1", "One. "), why(agent.Failed))
	one("rejected", say("m1", "One. "), why(agent.Rejected))
	one("silent for 100 s", say("m1", "One. "), after(100*time.Second, say("m1", "Two.")), done)
	one("asks in prose", say("m1", "What? "), agent.Done(agent.InputRequired))
	one("sign-in", agent.Say(agent.AuthRequired, "m1", "Sign in. "), after(2*time.Second, say("m2", "Thanks.")), done)
	one("a question", say("m1", "One. "), ask("q1"), halt("q1"), run("q1"), say("m2", "Two."), done)
	one("a question on a stream that stays open", say("m1", "One. "), ask("q1"), wait("q1"), run("q1"), say("m2", "Two."), done)
	one("two questions at once", ask("q1"), after(100*time.Millisecond, ask("q2")), halt("q1", "q2"), run("q1"), run("q2"), say("m2", "Two."), done)
	one("two questions, one after the other", ask("q1"), halt("q1"), run("q1"), ask("q2"), halt("q2"), run("q2"), say("m2", "Two."), done)
	one("two questions 0.7 s apart", ask("q1"), after(700*time.Millisecond, ask("q2")), wait("q1", "q2"), run("q1"), run("q2"), say("m2", "Two."), done)
	one("nothing for 2 s behind an answer", ask("q1"), halt("q1"), after(2*time.Second, say("m2", "Two.")), run("q1")[1], done)
	one("input-required while a call runs", ask("q1"), halt("q1"), run("q1")[0], &agent.Step{State: agent.InputRequired, Final: true},
		after(3*time.Second, run("q1")[1]), say("m2", "Two."), done)
	late := one("completed with final false, then more", say("m1", "One. "), &agent.Step{State: agent.Completed}, after(600*time.Millisecond, say("m1", "Two.")), done)
	late.Only03, late.Late = true, true
	return all
}
