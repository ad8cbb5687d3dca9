package check

import (
	"cmp"
	"strings"
	"time"

	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/internal/trace/event"
)

const (
	// lingers is how long a stream may stay open behind its last event. Clients read on for
	// some time, because agents say something late.
	lingers = 200 * time.Millisecond
	// silence is how long nothing may come while a client waits.
	silence = 15 * time.Second
	// longEvent is the least length of a text that is not said twice by intention.
	longEvent = 40
)

// media checks the Content-Type of an answer that was understood all the same.
func (w *agentWire) media(r *trace.Record, x *exchange) {
	media, _, _ := strings.Cut(strings.ToLower(x.media), ";")
	media = strings.TrimSpace(media)
	switch {
	case x.answers > 1 || x.media == "" || x.status >= 300:
	case x.op.result == "Event" && r.Kind == trace.KindBody:
		w.tell(r.N, x, RuleHTTP, Error, "the Content-Type of the answer to a streaming method must be text/event-stream, and is %q", x.media)
	case (r.Kind == trace.KindBody || x.op.result != "Event") && !strings.HasSuffix(media, "json"):
		w.tell(r.N, x, RuleHTTP, Warning, "the Content-Type of the answer must be application/json, and is %q", x.media)
	}
}

// context checks that a conversation stays in its context.
func (w *agentWire) context(r *trace.Record, x *exchange, e *event.Event) {
	if e.Context == "" {
		if e.Kind == event.Task && r.Kind == trace.KindEvent {
			x.bare = true
		}
		return
	}
	if x.bare {
		x.bare = false
		w.c.warn(r.N, RuleOrder, x.method, "contextId is %q, and the task that came before has none: a client that answers does not know where", e.Context)
	}
	if x.context == "" {
		x.context = strings.Clone(x.params.Get("message.contextId").Str)
	}
	task := w.known[e.Task]
	switch {
	case x.context != "" && x.context != e.Context:
		w.c.find(r.N, Agent, RuleOrder, x.method, "the context was %q, and is %q", x.context, e.Context)
	case task != nil && task.context != "" && task.context != e.Context:
		w.c.find(r.N, Agent, RuleOrder, x.method, "the context of the task %q was %q, and is %q", e.Task, task.context, e.Context)
	}
	x.context = e.Context
	if task != nil {
		task.context = e.Context
	}
}

// pieces checks that what is continued has begun, and that nothing comes twice. Of a
// task that is older than the trace, nothing tells what has begun.
func (w *agentWire) pieces(r *trace.Record, x *exchange, e *event.Event) {
	x.record = r.N
	if e.Ends() || e.State != "" {
		x.end = *e
	}
	if task := w.known[e.Task]; task != nil {
		w.artifacts(r, x, e, task)
	}
	if now := e.Body.Raw; now == x.before && e.ID() != "" && len(event.Text(e.Parts())) >= longEvent && (e.Append || e.Kind != event.Artifact) {
		w.c.warn(r.N, RuleOrder, x.method, "it is the event before once more: clients show its text twice")
	}
	x.before = strings.Clone(e.Body.Raw)
}

// silent reports a stream in which nothing came for a long time.
func (w *agentWire) silent(r *trace.Record, x *exchange) {
	if since := time.Duration(r.Micros-x.at) * time.Microsecond; r.Kind == trace.KindEvent && since >= silence && !event.Waits(x.end.State) {
		w.tell(r.N, x, RuleHTTP, Warning, "nothing came for %s before this: proxies and clients may give up, unless a comment (a line that begins with a colon) comes now and then", since.Round(time.Second))
	}
}

func (w *agentWire) ending(r *trace.Record, x *exchange) {
	since := time.Duration(r.Micros-x.at) * time.Microsecond
	byUs := r.Reason == trace.EndClosed || r.Reason == trace.EndCanceled || r.Reason == trace.EndOpen
	switch {
	case x.torn && r.Error == "":
		w.tell(x.record, x, RuleHTTP, Error, "the stream ended within this event: a blank line must follow it")
		return
	case x.last == 0 && !x.end.Ends():
		w.unfinished(r, x, since, byUs)
	case x.last > 0 || x.op.version != "0.3" || x.end.Kind != event.Status || x.end.Final || byUs:
	case event.Terminal(x.end.State):
		w.c.find(x.record, Agent, RuleState, x.method, "the last event of the stream must have final: true; the state is %s", x.end.State)
	default:
		w.c.warn(x.record, RuleState, x.method, "the last event of the stream should have final: true; the state is %s", x.end.State)
	}
	over := x.last > 0 || event.Terminal(x.end.State)
	if over && (byUs || r.Error != "") && r.Reason != trace.EndCut && since >= lingers {
		w.c.warn(x.record, RuleState, x.method, "the stream was still open %s after its last event, and had to be closed", since.Round(10*time.Millisecond))
	}
}

// unfinished reports a stream without a last event.
func (w *agentWire) unfinished(r *trace.Record, x *exchange, since time.Duration, byUs bool) {
	if task := w.known[x.task]; task != nil {
		task.calls = nil // how they end was said to nobody
	}
	before, over := w.tasks[x.task]
	switch {
	case byUs && over && since >= lingers:
		w.c.find(x.record, Agent, RuleState, x.method, "the task is %s, as record %d says, and this stream has not told it and has not ended", before.state, before.record)
	case byUs && since >= silence:
		w.c.warn(x.record, RuleState, x.method, "nothing came for %s, the stream did not end, and the state is not final", since.Round(time.Second))
	case r.Reason == trace.EndCut:
		w.c.warn(x.record, RuleState, x.method, "the connection broke off after this event, before a final state: %s", r.Error)
	case !byUs:
		w.c.find(x.record, Agent, RuleState, x.method, "the stream ended after this event, and the state is %s: it must be final, or wait for the user", cmp.Or(x.end.State, "unknown"))
	}
}
