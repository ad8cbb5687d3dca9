package check

import (
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/internal/trace/event"
)

const (
	shortText  = 12      // the length below which a text may well be said again
	maxWritten = 1 << 20 // bounds the text of an artifact that is compared
	maxPieces  = 2000    // bounds the artifacts of a task that are compared
)

// An artifact is one as its pieces make it.
type artifact struct {
	unit
	last     bool // its last piece has come
	void     bool // its text is not known, or too long to be compared
	compared bool // compareTask has seen it, once
}

// artifacts checks the pieces of a task's artifacts, and what the task holds of them.
func (w *agentWire) artifacts(r *trace.Record, x *exchange, e *event.Event, task *seenTask) {
	e.Body.Get("artifacts").ForEach(func(_, a gjson.Result) bool {
		id := strings.Clone(a.Get("artifactId").Str)
		if a := task.artifacts[id]; a == nil && len(task.artifacts) < maxPieces {
			task.artifacts[id] = &artifact{void: true}
		}
		return true
	})
	if e.Kind != event.Artifact {
		return
	}
	id, text := strings.Clone(e.ID()), strings.Clone(event.Text(e.Parts()))
	a := task.artifacts[id]
	w.piece(r, x, e, a, text)
	if a == nil {
		if a = new(artifact); len(task.artifacts) < maxPieces {
			task.artifacts[id] = a
		}
	}
	if !e.Append {
		a.unit = unit{}
	}
	a.add(text)
	a.last = e.Body.Get("lastChunk").Bool()
	if a.void = a.void && e.Append || a.size > maxWritten; a.void {
		a.unit = unit{}
	}
}

// piece checks one piece of an artifact; a is nil if the artifact has not begun.
func (w *agentWire) piece(r *trace.Record, x *exchange, e *event.Event, a *artifact, text string) {
	id := e.ID()
	if a == nil {
		if e.Append {
			w.warn(r.N, x, RuleOrder, "it is to be appended to the artifact %q, which has not begun", id)
		}
		return
	}
	_, all := a.rest(text)
	switch {
	case e.Append && all && a.size >= shortText && e.Body.Raw != x.previous:
		w.warn(r.N, x, RuleOrder, "it is to be appended to the artifact %q, and begins with all that the artifact holds: clients show %s twice",
			id, excerpt(a.text()))
	case e.Append && a.last && text != "":
		w.warn(r.N, x, RuleOrder, "lastChunk: true came before for the artifact %q, and this is one more piece of it", id)
	case !e.Append && !a.void && a.size > 0 && !all && !strings.HasPrefix(a.text(), text):
		w.warn(r.N, x, RuleOrder, "it takes the place of the artifact %q, whose text %s is gone: append: true would add to it", id, excerpt(a.text()))
	}
}

// compareTask compares a task that was asked for, and is over, with what its stream gave.
func (w *agentWire) compareTask(r *trace.Record, x *exchange, e *event.Event) {
	task := w.begun[e.Task]
	if task == nil || e.Kind != event.Task || x.params.Get("message").Exists() || !event.Terminal(e.State) {
		return
	}
	held := e.Body.Get("artifacts").Array()
	for _, id := range slices.Sorted(maps.Keys(task.artifacts)) {
		a := task.artifacts[id]
		i := slices.IndexFunc(held, func(h gjson.Result) bool { return h.Get("artifactId").Str == id })
		switch {
		case a.compared:
		case i < 0:
			w.warn(r.N, x, RuleOrder, "the task does not hold the artifact %q, which its stream gave: who asks for the task later never gets it", id)
		case !a.void && event.Text(held[i].Get("parts")) != a.text():
			w.warn(r.N, x, RuleOrder, "the task holds another text of the artifact %q than its stream gave: %s, and the stream %s",
				id, excerpt(event.Text(held[i].Get("parts"))), excerpt(a.text()))
		}
		a.compared = true
	}
}
