package mapping

import (
	"strings"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A likeness is what an event came to that only added text to the text that
// grows. The next event that is like it ([a2a.Event.Like]) adds its own text in
// the same way, without asking again what it is: nothing that decides it can
// differ, except what goesOn compares. FuzzHotPath, in internal/bench, holds both ways
// equal.
type likeness struct {
	like *a2a.Likeness
	sh   *shown
	step Step // its strings are our own
	id   string
	// bare: no dialect has anything to say about the metadata.
	bare bool
}

// learn notes an event that has added text, and nothing else.
func (f *Fold) learn(ev *a2a.Event, steps []Step) {
	if ev.Like == nil || f.echo || f.live == nil || len(steps) != 1 || f.like.like == ev.Like && f.like.sh == f.live {
		return
	}
	s := steps[0]
	if s.Kind != StepText || !s.Append || f.meta.err != "" || f.meta.usage != "" {
		return
	}
	switch ev.Kind {
	case a2a.EventStatus:
	case a2a.EventArtifact:
		if !ev.Append {
			return
		}
		for _, d := range dialects() {
			if _, _, ok := d.liveOutput(&ev.Artifact); ok {
				return
			}
		}
	default:
		return
	}
	f.like = likeness{like: ev.Like, sh: f.live, id: strings.Clone(ev.Message.ID), bare: !f.meta.said, step: Step{
		Kind: StepText, TaskID: f.TaskID, ContextID: f.ContextID, Append: true, LastChunk: s.LastChunk,
		MessageID: strings.Clone(s.MessageID), ArtifactID: strings.Clone(s.ArtifactID), Name: strings.Clone(s.Name)}}
}

// goesOn reports whether the event goes on with the text that grows as the last
// one has.
func (f *Fold) goesOn(ev *a2a.Event) bool {
	l := &f.like
	if ev.Like == nil || ev.Like != l.like || l.sh != f.live || f.echo || f.Err != "" {
		return false
	}
	if ev.Kind == a2a.EventStatus && ev.State != f.State || ev.Message.ID != l.id || f.TaskID != l.step.TaskID || f.ContextID != l.step.ContextID {
		return false
	}
	return l.bare || f.known.read && f.known.meta.err == "" && f.known.meta.usage == "" && f.known.is(ev.Metadata)
}

// goOn is Event for an event that goes on.
func (f *Fold) goOn(ev *a2a.Event, steps []Step) []Step {
	left := ev.Artifact.Parts
	if ev.Kind == a2a.EventStatus {
		left = ev.Message.Parts
	}
	p := &f.part
	if !left.Next(p) {
		return steps
	}
	f.saw(f.live, p.Text)
	steps = append(steps, f.like.step)
	s := &steps[len(steps)-1]
	s.Text, s.TextJSON, s.Plain, s.Raw = p.Text, p.TextJSON, p.Plain, ev.Raw
	if !f.like.bare {
		s.Model, s.UserTier = f.known.meta.model, f.known.meta.userTier
	}
	*p = a2a.Part{} // see letGo
	return steps
}
