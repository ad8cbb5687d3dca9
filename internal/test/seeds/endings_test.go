package seeds

import (
	"time"

	"github.com/a2astdio/a2astdio/internal/test/agent"
)

// An Ending is an agent by how its turn goes on and ends. Each call makes another script,
// since faults are used up.
type Ending struct {
	Name   string
	Only03 bool
	Make   func() *agent.Turn
	// Late: its last words come behind a state that only looks like the end.
	Late bool
}

func ends(steps ...any) *agent.Turn {
	all := append([]any{&agent.Step{Kind: agent.TaskEvent, State: agent.Submitted}}, steps...)
	return &agent.Turn{Steps: agent.List(all...)}
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
func Endings() []Ending {
	done := func() *agent.Step { return agent.Done(agent.Completed) }
	ask := func(id string) *agent.Step { return agent.Ask(agent.Working, id, "tool-"+id) }
	over := func(state agent.State) func() *agent.Turn {
		return func() *agent.Turn {
			return ends(say("m1", "One. "), &agent.Step{State: state, Final: true, Message: &agent.Message{ID: "m2", Parts: agent.Text("Why.")}})
		}
	}
	return []Ending{
		{Name: "plain", Make: func() *agent.Turn { return ends(say("m1", "One. "), say("m1", "Two."), done()) }},
		{Name: "stream left open at the end", Make: func() *agent.Turn {
			t := ends(say("m1", "One. "), say("m1", "Two."), done())
			t.Open = true
			return t
		}},
		{Name: "failed", Make: over(agent.Failed)},
		{Name: "rejected", Make: over(agent.Rejected)},
		{Name: "silent for 100 s", Make: func() *agent.Turn {
			return ends(say("m1", "One. "), after(100*time.Second, say("m1", "Two.")), done())
		}},
		{Name: "asks in prose", Make: func() *agent.Turn { return ends(say("m1", "What? "), agent.Done(agent.InputRequired)) }},
		{Name: "sign-in", Make: func() *agent.Turn {
			return ends(agent.Say(agent.AuthRequired, "m1", "Sign in. "), after(2*time.Second, say("m2", "Thanks.")), done())
		}},
		{Name: "a question", Make: func() *agent.Turn {
			return ends(say("m1", "One. "), ask("q1"), halt("q1"), agent.Run("q1", "tool-q1", "out"), say("m2", "Two."), done())
		}},
		{Name: "a question on a stream that stays open", Make: func() *agent.Turn {
			return ends(say("m1", "One. "), ask("q1"), wait("q1"), agent.Run("q1", "tool-q1", "out"), say("m2", "Two."), done())
		}},
		{Name: "two questions at once", Make: func() *agent.Turn {
			return ends(ask("q1"), after(100*time.Millisecond, ask("q2")), halt("q1", "q2"), agent.Run("q1", "tool-q1", "out"), agent.Run("q2", "tool-q2", "out"), say("m2", "Two."), done())
		}},
		{Name: "two questions, one after the other", Make: func() *agent.Turn {
			return ends(ask("q1"), halt("q1"), agent.Run("q1", "tool-q1", "out"), ask("q2"), halt("q2"), agent.Run("q2", "tool-q2", "out"), say("m2", "Two."), done())
		}},
		{Name: "two questions 0.7 s apart", Make: func() *agent.Turn {
			return ends(ask("q1"), after(700*time.Millisecond, ask("q2")), wait("q1", "q2"), agent.Run("q1", "tool-q1", "out"), agent.Run("q2", "tool-q2", "out"), say("m2", "Two."), done())
		}},
		{Name: "nothing for 2 s behind an answer", Make: func() *agent.Turn {
			return ends(ask("q1"), halt("q1"), after(2*time.Second, say("m2", "Two.")), agent.Run("q1", "tool-q1", "out")[1], done())
		}},
		{Name: "input-required while a call runs", Make: func() *agent.Turn {
			return ends(ask("q1"), halt("q1"), agent.Run("q1", "tool-q1", "out")[0], &agent.Step{State: agent.InputRequired, Final: true},
				after(3*time.Second, agent.Run("q1", "tool-q1", "out")[1]), say("m2", "Two."), done())
		}},
		{Name: "completed with final false, then more", Only03: true, Late: true, Make: func() *agent.Turn {
			return ends(say("m1", "One. "), &agent.Step{State: agent.Completed}, after(600*time.Millisecond, say("m1", "Two.")), done())
		}},
	}
}

func say(id, text string) *agent.Step { return agent.Say(agent.Working, id, text) }

// after lets a step come later.
func after(d time.Duration, s *agent.Step) *agent.Step {
	s.After = d
	return s
}
