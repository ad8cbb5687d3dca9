package mapping

import (
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file tells a Fold what another process has shown: see [Loader].

func (f *Fold) restoreStep(s *Step) {
	f.SetTask(s.TaskID)
	x := shown.Step{ID: s.MessageID, Name: s.Shown, Text: s.Text, Part: s.Part, Repeats: s.Repeats}
	if s.Replaces {
		x.Op = shown.Replace
	}
	switch {
	case s.Kind == StepThought:
		x.Kind, x.Text = shown.Thought, s.Description
		if s.Data != "" {
			x.Part = &a2a.Part{Kind: a2a.PartData, Data: s.Data}
		}
	case s.ArtifactID != "":
		x.Kind = shown.Artifact
	}
	f.shown.Restore(&x)
}

func (f *Fold) restoreCall(s *Step) {
	f.SetTask(s.TaskID)
	f.shown.Break()
	f.calls.Restore(s.Tool.ID, s.Tool.Shown).Status = s.Tool.Status
}

func (f *Fold) restoreAnswer(task, call string) {
	f.SetTask(task)
	f.calls.RestoreAnswered(call)
}

func (f *Fold) restoreHeard(task string) {
	f.SetTask(task)
	f.calls.Taken()
}
