package shapes

import (
	"fmt"
	"testing"
	"time"

	"github.com/a2astdio/a2astdio/internal/test/agent"
	"github.com/a2astdio/a2astdio/internal/test/editor"
)

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
	y[editor.ACP].report(t, "ACP, cut", 0)
	y[editor.ACP2].report(t, "ACP 2, cut", 0)
}
