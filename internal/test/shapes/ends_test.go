package shapes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2astdio/a2astdio/internal/test/agent"
	"github.com/a2astdio/a2astdio/internal/test/editor"
	"github.com/a2astdio/a2astdio/internal/test/memnet"
)

// An act is what the user does, behind so many steps of the agent's story.
type act struct {
	kind  string // "", cancel, eof
	steps int
	after time.Duration
}

// An ended is how a turn has ended, and what was so then.
type ended struct {
	turn      *editor.Turn
	stuck     bool
	atReply   agent.State
	open      []string // questions that waited at the reply
	later     agent.State
	laterOpen []string
	said      []agent.Said
	heard     []agent.Heard
	closing   time.Duration
	served    error
	acted     time.Time
}

// A net is how an agent answers what is asked behind a fault.
type net struct {
	get       agent.Get
	subscribe agent.Subscribe
	tells     agent.Tells
}

// end plays a turn with a fault and an act of the user's.
func end(t *testing.T, e Ending, v1 bool, faults []agent.Fault, do act, think time.Duration, over net, p editor.Protocol) (r *ended) {
	synctest.Test(t, func(t *testing.T) {
		turn := e.Make()
		turn.Faults = faults
		reached := make(chan struct{})
		script := &agent.Script{V1: v1, Get: over.get, Delay: 1500 * time.Millisecond, Subscribe: over.subscribe, Tells: over.tells, Extensions: []string{agent.DevTool}, Turns: []*agent.Turn{turn}, OnSay: func(n int) {
			if n == do.steps {
				close(reached)
			}
		}}
		a := agent.New(script)
		network := &memnet.Network{Handler: a}
		ed, err := editor.Start(&editor.Options{Protocol: p, Network: network, URL: agent.URL, Answer: func(q *editor.Shown) (string, time.Duration) { return q.Options[0], think }})
		if err != nil {
			t.Fatal(err)
		}
		r = &ended{turn: ed.Prompt("go")}
		if do.kind == "" {
			reached = nil
		}
		closed := false
		for over := false; !over; {
			select {
			case <-reached:
				reached = nil
				time.Sleep(do.after)
				r.acted = time.Now()
				if do.kind == "cancel" {
					ed.Cancel(r.turn)
					continue
				}
				if do.kind == "term" {
					ed.Terminate()
				}
				began := time.Now()
				if r.served, closed = ed.Close(), true; do.kind == "term" && errors.Is(r.served, context.Canceled) {
					r.served = nil
				}
				r.closing = time.Since(began)
			case <-r.turn.Done:
				over = true
			case <-time.After(patience):
				r.stuck, over = true, true
				ed.Cancel(r.turn)
				<-r.turn.Done
			}
		}
		r.atReply, r.open = a.State()
		time.Sleep(3 * time.Second)
		r.later, r.laterOpen = a.State()
		r.said, r.heard = a.Said(), a.Heard()
		if !closed {
			r.served = ed.Close()
		}
		network.Sever()
		a.Close()
		network.Wait()
	})
	return r
}

// judge says what is wrong with an end, by the rows of (state of the task, open questions,
// what the editor is told) that are allowed. steps: how many the whole story has.
func (r *ended) judge(e Ending, steps int, do act, fault *agent.Fault, over net) string {
	letters, _, gaps := View(r.turn.Shown)
	acted := !r.acted.IsZero() && !r.turn.Ended.Before(r.acted)
	blind := over.get == agent.GetFails || over.get == agent.GetMissing
	stop := r.turn.Stop
	if r.turn.Err != "" {
		stop = "error"
	}
	switch {
	case r.stuck:
		return "the turn does not end"
	case r.served != nil:
		return "the bridge ends with an error"
	case r.closing > time.Second:
		return "the bridge ends late"
	case strings.Contains(r.turn.Err, "context canceled"):
		return "the reply is context canceled"
	}
	if acted && (stop == "cancelled" || do.kind != "cancel" && stop == "error") {
		named := slices.ContainsFunc(r.said, func(s agent.Said) bool { return s.Task != "" })
		switch {
		case named && !r.later.Over() && !(r.later == agent.InputRequired && len(r.laterOpen) == 0 && e.Name == "asks in prose"):
			return "cancelled, and the task goes on"
		case stop == "error":
			return "an error in the place of cancelled"
		}
		return ""
	}
	switch {
	case stop == "end_turn" && len(r.open) > 0:
		return "end_turn while a question waits"
	case stop == "end_turn" && !r.acted.IsZero() && !acted: // what rests is cancelled behind the turn
	case stop == "end_turn" && r.atReply != agent.Completed && r.atReply != agent.InputRequired:
		return "end_turn while the task is " + string(r.atReply)
	case stop == "end_turn" && len(r.said) < steps:
		return "end_turn before the agent's end"
	case stop == "cancelled" && r.later != agent.Canceled && do.kind == "":
		return "cancelled by nobody"
	case stop == "error" && blind && fault != nil:
		return "" // "it may still run"
	case stop == "error" && r.atReply != agent.Failed && r.atReply != agent.Rejected:
		return "an error, and the task is " + string(r.atReply)
	case stop == "refusal" && r.atReply != agent.Rejected:
		return "a refusal, and the task is " + string(r.atReply)
	}
	want := ""
	for _, s := range r.said {
		if s.Step.Message != nil && s.State != agent.Failed && s.State != agent.Rejected {
			for _, p := range s.Step.Message.Parts {
				want += p.Text
			}
		}
	}
	for _, s := range r.said {
		if c := s.Step.Call; c != nil && c.Status == agent.Pending && !r.asked(c.ID) {
			return "a question is not asked"
		}
	}
	if !acted && stop != "error" {
		got := strings.ReplaceAll(letters, "Why.", "")
		return Judge(got, want, gaps, want, fault != nil, true)
	}
	return ""
}

func (r *ended) asked(id string) bool {
	return slices.ContainsFunc(r.turn.Shown, func(s editor.Shown) bool { return s.Kind == editor.Question && s.ID == id })
}

// undecided reports whether no rule can decide: a snapshot does not tell that a terminal
// state is not meant.
func (e Ending) undecided(fault *agent.Fault) bool {
	return e.Late && fault != nil && (fault.Kind != agent.Stall || fault.For >= 3*time.Second && fault.Events == 3)
}

// nets are the ways to look at a task.
var nets = []net{{}, {get: agent.GetSlow}, {get: agent.GetStale}, {get: agent.GetFails}, {get: agent.GetMissing},
	{subscribe: agent.SubscribeMissing}, {subscribe: agent.SubscribeRefused}, {subscribe: agent.SubscribeEvents}, {subscribe: agent.SubscribeSilent}, {subscribe: agent.SubscribeEnds}}

// TestEnds: agents that end in several ways, with streams that stall, end or break at each
// event, and users who cancel or leave behind each event.
func TestEnds(t *testing.T) {
	classes, forms, plays, wrong, chosen := map[string]int{}, map[string]int{}, 0, 0, 0
	for n, e := range Endings() {
		v1 := n%2 == 1 && !e.Only03
		steps := e.Make().Steps
		check := func(fault *agent.Fault, do act, think time.Duration, over net) {
			var faults []agent.Fault
			if fault != nil {
				faults = []agent.Fault{*fault}
			}
			p := newest()
			if plays++; plays%8 == 0 { // one of them, without a reason
				p = editor.ACP2
			}
			name := fmt.Sprintf("%s, %s, %v, %v, thinks for %v, net %v", p, e.Name, fault, do, think, over)
			if !strings.Contains(name, *only) {
				return
			}
			r := end(t, e, v1, faults, do, think, over, p)
			class := r.judge(e, len(steps), do, fault, over)
			if class == "" {
				return
			}
			if e.undecided(fault) {
				chosen++
				return
			}
			wrong++
			classes[class]++
			what := do.kind
			if fault != nil {
				what = fault.String()[:strings.Index(fault.String(), " ")]
			}
			forms[e.Name+" | "+what+" | "+class]++
			if wrong <= *tell && strings.Contains(class, *tells) {
				letters, _, gaps := View(r.turn.Shown)
				t.Logf("%s: %s\n    told: %q %d gaps, %s%s; task %s %v, later %s %v; %d of %d steps; closing %v %v", class, name, letters, gaps, r.turn.Stop, r.turn.Err,
					r.atReply, r.open, r.later, r.laterOpen, len(r.said), len(steps), r.closing, r.served)
			}
		}
		check(nil, act{}, 0, net{})
		stream, events := 0, 0
		for i, step := range steps {
			if step.Kind != agent.Nothing {
				events++
			}
			for _, d := range []time.Duration{100 * time.Millisecond, 400 * time.Millisecond, 3 * time.Second, 30 * time.Second} {
				for _, tells := range []agent.Tells{agent.TellAll, agent.TellNewest, agent.TellFirst} {
					check(&agent.Fault{Stream: stream, Events: events, Kind: agent.Stall, For: d}, act{}, 0, net{tells: tells})
				}
			}
			for _, kind := range []agent.FaultKind{agent.Cut, agent.End} {
				for k, over := range nets {
					if !*all && k > 0 && (i+n)%(len(nets)-1) != k-1 { // without a reason, one of them
						continue
					}
					check(&agent.Fault{Stream: stream, Events: events, Kind: kind}, act{}, 0, over)
				}
			}
			if i < len(steps)-1 {
				for _, kind := range []string{"cancel", "eof", "term"} {
					for _, d := range []time.Duration{0, 5 * time.Millisecond, 3 * time.Second} {
						check(nil, act{kind, i + 1, d}, 5*time.Second, net{})
					}
				}
			}
			if step.Waits {
				stream, events = stream+1, 0
			}
		}
	}
	t.Logf("%d plays, %d that no rule decides", plays, chosen)
	t.Logf("wrong: ends: %d", wrong)
	for _, c := range byCount(classes) {
		t.Logf("%6d %s", classes[c], c)
	}
	for _, c := range byCount(forms) {
		t.Logf("         %6d %s", forms[c], c)
	}
	const atMost = 1 // may only shrink
	if wrong > atMost && *only == "" && !*all {
		t.Errorf("%d ends are wrong, and %d were before", wrong, atMost)
	}
}
