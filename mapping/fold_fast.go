package mapping

import (
	"cmp"
	"strings"

	"github.com/a2astdio/a2astdio/internal/fastpath"
	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// maxFast is how many are kept: a few messages and artifacts may grow in turns.
const maxFast = 4

// A fastStep is the result of an event that only appended to a text. The next event of
// the same shape ([fastpath.Event.Shape]) and message or artifact appends its own text in
// the same way, without asking again what it is: nothing that decides it can differ,
// except what growFast compares. FuzzHotPath, in the benchmark's package, holds both ways equal.
type fastStep struct {
	shape *fastpath.Shape
	grown shown.Grown
	step  Step // its strings are our own
	id    string
	still bool // its metadata has nothing for a dialect, nor for the step
}

// noteFast makes a fast step of an event that has appended text, and nothing else; of any other,
// nothing. steps are those of the event.
func (f *Fold) noteFast(ev *a2a.Event, steps []Step) {
	shape := ev.FastPath().Shape
	if shape == nil || f.verb != shown.Live || f.spoken.Splits() || len(steps) != 1 {
		return
	}
	s, meta := steps[0], &f.spoken.Meta
	if s.Kind != StepText || !s.Append || s.Repeats || meta.Err != "" || meta.Usage != "" || s.Own != (OwnMeta{}) {
		return
	}
	if s.Metadata != "" && !meta.Extended {
		return // a last chunk has its event's, which a fast step has not
	}
	kind := shown.Message
	switch ev.Kind {
	case a2a.EventStatus:
		if ev.EndsLeg || ev.State.Terminal() {
			return
		}
	case a2a.EventArtifact:
		if kind = shown.Artifact; !ev.Append || f.Calls.IsOutput(&ev.Artifact) {
			return
		}
	default:
		return
	}
	grown, ok := f.shown.Growing(kind, s.MessageID)
	l := f.fastOf(ev)
	if !ok || l != nil && l.grown == grown {
		return
	}
	if l == nil {
		l = &f.fast[f.nextFast]
		f.nextFast = (f.nextFast + 1) % maxFast
	}
	*l = fastStep{shape: shape, grown: grown, id: grown.ID(), still: !meta.Said && !meta.Extended, step: Step{
		Kind: StepText, TaskID: f.TaskID, ContextID: f.ContextID, Append: true, LastChunk: s.LastChunk, Shown: s.Shown,
		MessageID: grown.ID(), Name: strings.Clone(s.Name), Description: strings.Clone(s.Description)}}
	if kind == shown.Artifact {
		l.step.ArtifactID = grown.ID()
	}
}

// carrierOf is the ID of the message or the artifact that an event has, "" for none.
func carrierOf(ev *a2a.Event) string { return cmp.Or(ev.Message.ID, ev.Artifact.ID) }

// fastOf returns what is known of events of a shape and carrier, nil if nothing is.
func (f *Fold) fastOf(ev *a2a.Event) *fastStep {
	for i := range f.fast {
		if l := &f.fast[i]; l.shape == ev.FastPath().Shape && l.id == carrierOf(ev) {
			return l
		}
	}
	return nil
}

// growFast notes that a text grows, by an event that does nothing else, and returns what is known
// of such events, for fastEvent; nil, with nothing noted, if the event may do anything else.
func (f *Fold) growFast(v shown.Verb, ev *a2a.Event) *fastStep {
	if ev.FastPath().Shape == nil || v != shown.Live || f.Err != "" || f.connection.cut {
		return nil
	}
	l := f.fastOf(ev)
	if l == nil || ev.Kind == a2a.EventStatus && ev.State != f.State || f.TaskID != l.step.TaskID || f.ContextID != l.step.ContextID {
		return nil
	}
	if !l.still && !f.spoken.Repeats(ev.Metadata) {
		return nil
	}
	if text := onlyPart(ev).Text; f.spoken.MaySplit(text) || !f.shown.Grow(l.grown, text) {
		return nil
	}
	return l
}

// onlyPart is the part of an event that has a shape: it has one part.
func onlyPart(ev *a2a.Event) *a2a.Part {
	if ev.Kind == a2a.EventStatus {
		return ev.Message.Parts.FastPath().Only
	}
	return ev.Artifact.Parts.FastPath().Only
}

// fastEvent is Event for an event of which growFast has noted all.
func (f *Fold) fastEvent(l *fastStep, ev *a2a.Event, steps []Step) []Step {
	p, n := onlyPart(ev), len(steps)
	if f.Joins && f.joined.of == l && n > 0 && p.FastPath().Plain {
		if s := &steps[n-1]; s.Kind == StepText && s.Shown == l.step.Shown && s.Plain {
			f.joined.add(s, p)
			return steps
		}
	}
	f.joined.of, f.joined.atText, f.joined.atJSON = l, len(f.joined.text), len(f.joined.json)
	steps = append(steps, l.step)
	s := &steps[n]
	s.Text, s.TextJSON, s.Plain, s.Raw = p.Text, p.TextJSON, p.FastPath().Plain, ev.Raw
	if meta := f.spoken.Known(); !l.still {
		s.Model, s.UserTier = meta.Model, meta.UserTier
		if meta.Extended {
			s.Metadata = meta.Others
		}
	}
	return steps
}

// joined is the text of the steps that take several events: see [Fold.Joins].
type joined struct {
	of             *fastStep // of the newest step, if it is one
	text, json     []byte
	atText, atJSON int // where in them that of the newest step begins, if several events have it
}

// add lets the text of the newest step go on with that of a part. Both are plain.
func (j *joined) add(s *Step, p *a2a.Part) {
	if len(j.text) == j.atText {
		j.text, j.json = append(j.text, s.Text...), append(j.json, s.TextJSON...)
	}
	j.text, j.json = append(j.text, p.Text...), append(j.json[:len(j.json)-1], p.TextJSON[1:]...)
	s.Text, s.TextJSON = rawjson.View(j.text[j.atText:]), a2a.JSON(rawjson.View(j.json[j.atJSON:]))
}
