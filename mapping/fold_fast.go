package mapping

import (
	"strings"

	"github.com/a2astdio/a2astdio/internal/fastpath"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// maxFast is how many are kept: a few messages and artifacts may grow in turns.
const maxFast = 4

// A fastStep is the result of an event that only appended to a text. The next event of
// the same shape ([fastpath.Event.Shape]) appends its own text in the same way, without
// asking again what it is: nothing that decides it can differ, except what fits
// compares. FuzzHotPath, in the benchmark's package, holds both ways equal.
type fastStep struct {
	shape *fastpath.Shape
	sh    *shown
	run   *run
	step  Step // its strings are our own
	id    string
	// bare: no dialect reads anything of the metadata.
	bare bool
}

// learn notes an event that has appended text, and nothing else.
func (f *Fold) learn(ev *a2a.Event, steps []Step) {
	growing := f.texts.growing
	shape := ev.FastPath().Shape
	if shape == nil || f.echo || f.apart() != nil || growing == nil || len(steps) != 1 {
		return
	}
	l := f.fastOf(shape)
	if l != nil && l.run == growing.run && l.sh == growing {
		return
	}
	s := steps[0]
	if s.Kind != StepText || !s.Append || f.meta.err != "" || f.meta.usage != "" || s.Own != (OwnMeta{}) {
		return
	}
	switch ev.Kind {
	case a2a.EventStatus:
	case a2a.EventArtifact:
		if !ev.Append || f.calls.IsOutput(&ev.Artifact) {
			return
		}
	default:
		return
	}
	if l == nil {
		l = &f.fast[f.nextFast]
		f.nextFast = (f.nextFast + 1) % maxFast
	}
	*l = fastStep{shape: shape, sh: growing, run: growing.run, id: strings.Clone(ev.Message.ID), bare: !f.meta.said && !f.meta.extended, step: Step{
		Kind: StepText, TaskID: f.TaskID, ContextID: f.ContextID, Append: true, LastChunk: s.LastChunk, Shown: growing.run.name,
		MessageID: strings.Clone(s.MessageID), ArtifactID: strings.Clone(s.ArtifactID), Name: strings.Clone(s.Name), Description: strings.Clone(s.Description)}}
}

// fastOf returns what is known of events of a shape, nil if nothing is.
func (f *Fold) fastOf(shape *fastpath.Shape) *fastStep {
	for i := range f.fast {
		if f.fast[i].shape == shape {
			return &f.fast[i]
		}
	}
	return nil
}

// fits returns the step of an event that only appends to a growing text; nil if the
// event may do anything else.
func (f *Fold) fits(ev *a2a.Event) *fastStep {
	shape := ev.FastPath().Shape
	if shape == nil || f.echo || f.Err != "" || !f.loss.quiet() {
		return nil
	}
	l := f.fastOf(shape)
	if l == nil || l.run != l.sh.run || l.run.turn != f.texts.turn || l.run.epoch != f.texts.epoch {
		return nil
	}
	if ev.Kind == a2a.EventStatus && ev.State != f.State || ev.Message.ID != l.id || f.TaskID != l.step.TaskID || f.ContextID != l.step.ContextID {
		return nil
	}
	if l.bare || f.known.read && f.known.meta.err == "" && f.known.meta.usage == "" && f.known.is(ev.Metadata) {
		return l
	}
	return nil
}

// fastEvent is Event for an event that fits.
func (f *Fold) fastEvent(l *fastStep, ev *a2a.Event, steps []Step) []Step {
	left := ev.Artifact.Parts
	if ev.Kind == a2a.EventStatus {
		left = ev.Message.Parts
	}
	p := &f.part
	if !left.Next(p) {
		return steps
	}
	f.texts.event++
	f.texts.saw(l.sh, p.Text)
	steps = append(steps, l.step)
	s := &steps[len(steps)-1]
	s.Text, s.TextJSON, s.Plain, s.Raw = p.Text, p.TextJSON, p.FastPath().Plain, ev.Raw
	if !l.bare {
		s.Model, s.UserTier = f.known.meta.model, f.known.meta.userTier
		if f.known.meta.extended {
			s.Metadata = f.known.meta.others
		}
	}
	*p = a2a.Part{} // see letGo
	return steps
}
