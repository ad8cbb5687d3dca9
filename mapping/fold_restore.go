package mapping

import (
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file tells a Fold that has had no turn what another process has shown.

// Restore notes a step that was shown, in the order of the journal, and shows nothing.
func (f *Fold) Restore(s *Step) {
	f.SetTask(s.TaskID)
	if s.Kind == StepTool {
		f.shown.Break()
		f.Calls.Restore(s.Tool.ID, s.Tool.Shown).Status = s.Tool.Status
		return
	}
	x := shown.Step{ID: s.MessageID, Name: s.Shown, Text: s.Text, Part: s.Part, Repeats: s.Repeats}
	switch {
	case s.Replaces:
		x.Op = shown.Replace
	case !s.Append || s.ArtifactID == "": // a message's steps do not tell
		x.Op = shown.Begin
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

// RestorePrompt names the message that has begun the turn, by its ID.
func (f *Fold) RestorePrompt(id string) { f.shown.RestorePrompt(id) }

// RestoreAnswer notes that a call of a task has asked, and that its answer was sent.
func (f *Fold) RestoreAnswer(task, call string) {
	f.SetTask(task)
	f.Calls.RestoreAnswered(call)
}

// RestoreTaken notes that the agent of a task has taken all answers so far.
func (f *Fold) RestoreTaken(task string) {
	f.SetTask(task)
	f.Calls.Taken()
}
