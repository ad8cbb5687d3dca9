package shapes

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

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
	y.report(t, "the whole by another carrier")
}

// TestCuts: the stream of each turn is cut behind an event, and the task can be asked for.
// Nothing is lost or doubled without a gap that is told, and none is told where nothing is
// missing. In ACP's version 2, where a message can be put right in its place, a gap excuses
// nothing at an agent that keeps what it says.
func TestCuts(t *testing.T) {
	y := newTallies()
	each(t, Shapes("none", "ours", "all"), []editor.Protocol{editor.ACP, editor.ACP, editor.ACP, editor.ACP2}, func(t *testing.T, s Shape, v1 bool, answers []string, p editor.Protocol) {
		if s.Carrier == "message" || s.Tokens == "spaces" || s.Tokens == "runes" {
			return // without a task there is nothing to ask for; and a cut does not care where tokens end
		}
		forgets := s.History == "none" && s.Carrier != "artifact"
		for i, behind := range []int{1, 2, 3, 6} {
			if !*all && i != (len(answers[0])+len(s.String()))%4 { // one of them, without a reason
				continue
			}
			script := s.Script(v1, answers)
			for _, turn := range script.Turns {
				turn.Faults = []agent.Fault{{Events: behind, Kind: agent.Cut}}
				for n, step := range turn.Steps {
					if n >= behind && i%2 == 1 { // the agent still talks when the bridge is back
						step.After = 700 * time.Millisecond
					}
				}
			}
			for n, turn := range play(t, script, p) {
				letters, lines, gaps := View(turn.Shown)
				class := Judge(letters, lines, gaps, answers[n], p == editor.ACP || forgets, forgets)
				if turn.Err != "" {
					class = Error
				}
				y[p].add(t, s, answers, n, class, fmt.Sprint(p, ", cut behind event ", behind), func() string {
					return fmt.Sprintf("    shown: %q gaps %d %s", lines, gaps, turn.Err)
				})
			}
		}
	})
	y[editor.ACP].report(t, "ACP, cut")
	y[editor.ACP2].report(t, "ACP 2, cut")
}

// several are turns in which an agent says more than one text. They begin alike, repeat each
// other and are short, as notes between tool calls are.
var several = [][]string{
	{"I will look at the file, and then at the test of the file.", "The file has a bug, and the test has a bug.", "Done. The bug in the file is gone, and the bug in the test is gone."},
	{"Let me check that.", "It is fine.", "It is fine, and that is that."},
	{"# Plan\n\n- read the file\n- read the test\n", "- read the file\n\nThe file is read.", "# Plan\n\nThe plan is done."},
	{"好的,我来看看。", "看看这个文件,这个文件有问题。", "好了,这个文件没有问题了。"},
	{"Hello! I am an agent. I can help you. I can help you with code.", "I can help you with code, and with tests.", "Hello again! I can help."},
	{"OK", "1. Open the file.\n2. Open the test.\n3. Close the file.\n", "11 plus 11 is 22, and 22 plus 22 is 44."},
	{"The file is at:\n", "I will look at it, and then at it again.", "```go\nfunc g() {}\n```\n"},
	{"```go\nfunc f() {}\n```\n", "```go\nfunc g() {}\n```\n", "Both functions are empty: f and g."},
}

// TestSeveral: turns of several texts, with nothing or with a tool call between them.
func TestSeveral(t *testing.T) {
	y := newTally()
	list := slices.DeleteFunc(Shapes("none", "ours", "all"), func(s Shape) bool {
		return s.IDs == "task" || s.IDs == "ever" || s.Tokens == "chars" || s.Tokens == "spaces" || s.Carrier == "artifact" && s.Form == "cumulative" && s.IDs == "token"
	})
	each(t, list, []editor.Protocol{editor.ACP}, func(t *testing.T, s Shape, v1 bool, _ []string, p editor.Protocol) {
		for i, texts := range several {
			if !*all && i != len(s.String())%len(several) {
				continue
			}
			for _, calls := range []bool{false, true} {
				fewest := slices.MinFunc(texts, func(a, b string) int { return len(Tokens(a, s.Tokens)) - len(Tokens(b, s.Tokens)) })
				turns := play(t, s.talk(v1, calls && s.Carrier != "message", texts), p)
				for n, turn := range turns {
					letters, lines, gaps := View(turn.Shown)
					class := Judge(letters, letters, gaps, Letters(strings.Join(texts, "")), false, false)
					y.add(t, s, []string{fewest, fewest}, n, class, p.String(), func() string {
						return fmt.Sprintf("    shown: %q gaps %d %s", lines, gaps, turn.Err)
					})
				}
			}
		}
	})
	y.report(t, "several texts in a turn")
}

// talk is an agent that says these texts in each of two turns, with a call between them.
func (s Shape) talk(v1, calls bool, texts []string) *agent.Script {
	script, end, voice := &agent.Script{V1: v1, History: Histories[s.History], Extensions: []string{agent.DevTool}}, agent.Done(agent.Completed), NewVoice(s)
	if s.OneTask {
		end = agent.Done(agent.InputRequired)
	}
	for n := range 2 {
		turn := &agent.Turn{}
		if s.Carrier != "message" {
			turn.Steps = append(turn.Steps, &agent.Step{Kind: agent.TaskEvent, State: agent.Working})
		}
		for i, text := range texts {
			if id := fmt.Sprintf("c%d%d", n, i); calls && i > 0 {
				turn.Steps = append(turn.Steps, agent.Run(id, "tool-"+id, "out")...)
			}
			turn.Steps = append(turn.Steps, voice.Say(text)...)
		}
		if s.Carrier != "message" {
			turn.Steps = append(turn.Steps, end)
		}
		script.Turns = append(script.Turns, turn)
	}
	return script
}
