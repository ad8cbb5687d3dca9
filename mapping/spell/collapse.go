package spell

import "github.com/a2astdio/a2astdio/mapping"

// Collapse removes from steps, in place, each snapshot of a tool call's content that
// the next step makes out of date: output that grows, for an editor that is behind. The
// first step of a call, changes of its state, questions and everything between two
// snapshots stay, so nothing is lost but what the newest snapshot repeats.
func Collapse(steps []mapping.Step) []mapping.Step {
	kept := steps[:0]
	for i := range steps {
		s := &steps[i]
		if n := len(kept); n > 0 && supersedes(s, &kept[n-1]) {
			kept[n-1] = *s
			continue
		}
		kept = append(kept, *s)
	}
	return kept
}

func supersedes(s, old *mapping.Step) bool {
	const content = mapping.ToolContent
	return s.Kind == mapping.StepTool && old.Kind == mapping.StepTool && !s.New && !old.New && s.Changed == content && old.Changed == content &&
		s.Tool.Shown == old.Tool.Shown && s.Tool.Status == old.Tool.Status && !s.Tool.Asks && !old.Tool.Asks &&
		s.TaskID == old.TaskID && s.Model == old.Model && s.UserTier == old.UserTier
}
