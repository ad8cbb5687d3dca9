package shapes

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/agent"
	"github.com/a2astdio/a2astdio/internal/test/editor"
)

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
	y.report(t, "several texts in a turn", 0)
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
