package shapes

import (
	"fmt"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/agent"
	"github.com/a2astdio/a2astdio/internal/test/editor"
)

// again are the ways in which an agent says an answer again whose pieces came by another carrier,
// as its last steps. id is new.
var again = map[string]func(id, text string) []*agent.Step{
	"message": func(id, text string) []*agent.Step {
		return agent.List(agent.Say(agent.Working, id, text), agent.Done(agent.Completed))
	},
	"end":      func(id, text string) []*agent.Step { return agent.List(ending(id, text)) },
	"artifact": func(id, text string) []*agent.Step { return agent.List(result(id, text), agent.Done(agent.Completed)) },
	"artifact and end": func(id, text string) []*agent.Step {
		return agent.List(result(id, text), ending("m-"+id, text))
	},
	"task": func(id, text string) []*agent.Step {
		step := result(id, text)
		step.Kind, step.State, step.Last = agent.TaskEvent, agent.Working, false
		return agent.List(step, agent.Done(agent.Completed))
	},
}

func result(id, text string) *agent.Step { return art(id, false, true, agent.Part{Text: text}) }

func ending(id, text string) *agent.Step {
	step := agent.Say(agent.Completed, id, text)
	step.Final = true
	return step
}

// TestAcross: the pieces of an answer, and the whole by another carrier. The user reads it once.
func TestAcross(t *testing.T) {
	y := newTally()
	list := Shapes("none", "ours", "all")
	each(t, list, []editor.Protocol{editor.ACP}, func(t *testing.T, s Shape, v1 bool, answers []string, p editor.Protocol) {
		if s.Form != "delta" && s.Form != "cumulative" || s.Carrier == "message" || s.End == "last" || s.OneTask {
			return
		}
		for name, whole := range again {
			if s.Carrier == "artifact" && name != "end" {
				continue // two artifacts of equal text are two
			}
			script := s.Script(v1, answers)
			for n, turn := range script.Turns {
				turn.Steps = append(turn.Steps[:len(turn.Steps)-1], whole(fmt.Sprint("whole", n), answers[n])...)
			}
			for n, turn := range play(t, script, p) {
				letters, lines, gaps := View(turn.Shown)
				class := Judge(letters, letters, gaps, Letters(answers[n]), false, false)
				if len(Tokens(answers[n], s.Tokens)) == 1 {
					class = "" // chosen: it may be a second answer
				}
				y.add(t, s, answers, n, class, name, func() string {
					return fmt.Sprintf("    shown: %q gaps %d %s", lines, gaps, turn.Err)
				})
			}
		}
	})
	y.report(t, "the whole by another carrier", 0)
}
