package shapes

import (
	"fmt"
	"testing"
	"time"

	"github.com/a2astdio/a2astdio/internal/test/agent"
)

// TestCuts: the stream of each turn is cut behind an event, and the task can be asked for.
// Nothing is lost or doubled without a gap that is told, and none is told where nothing is
// missing.
func TestCuts(t *testing.T) {
	y := newTally()
	each(t, Shapes("none", "ours", "all"), whole, func(t *testing.T, s Shape, v1 bool, answers []string) {
		if s.Carrier == "message" {
			return // without a task there is nothing to ask for
		}
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
			for n, turn := range play(t, script, false) {
				letters, lines, gaps := View(turn.Shown)
				class := Judge(letters, lines, gaps, answers[n], true, s.History == "none" && s.Carrier != "artifact")
				if turn.Err != "" {
					class = Error
				}
				y.add(t, s, answers, n, class, fmt.Sprint("ACP, cut behind event ", behind), func() string {
					return fmt.Sprintf("    shown: %q gaps %d %s", lines, gaps, turn.Err)
				})
			}
		}
	})
	y.report(t, "ACP, cut", 1345)
}
