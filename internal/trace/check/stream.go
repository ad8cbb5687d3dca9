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
	lingers   = 200 * time.Millisecond
	silence   = 15 * time.Second // how long nothing may come while a client waits
	longEvent = 40               // the least length of a text that is not said twice by intention
)

// media checks the Content-Type of an answer that was understood all the same.
func (w *agentWire) media(r *trace.Record, x *exchange) {
	media, _, _ := strings.Cut(strings.ToLower(x.media), ";")
	media = strings.TrimSpace(media)
	switch {
	case x.answers > 1 || x.media == "" || x.status >= 300:
	case x.op.result == "Event" && r.Kind == trace.KindBody:
		w.fail(r.N, x, RuleHTTP, "the Content-Type of the answer to a streaming method must be text/event-stream, and is %q", x.media)
	case (r.Kind == trace.KindBody || x.op.result != "Event") && !strings.HasSuffix(media, "json"):
		w.warn(r.N, x, RuleHTTP, "the Content-Type of the answer must be application/json, and is %q", x.media)
	}
}

// context checks that a conversation stays in its context.
func (w *agentWire) context(r *trace.Record, x *exchange, e *event.Event) {
	if e.Context == "" {
		if e.Kind == event.Task && r.Kind == trace.KindEvent {
			x.noContext = true
		}
		return
	}
	if x.noContext {
		x.noContext = false
		w.warn(r.N, x, RuleOrder, "contextId is %q, and the task that came before has none: a client that answers does not know where", e.Context)
	}
	if x.context == "" {
		x.context = strings.Clone(x.params.Get("message.contextId").Str)
	}
	task := w.begun[e.Task]
	switch {
	case x.context != "" && x.context != e.Context:
		w.fail(r.N, x, RuleOrder, "the context was %q, and is %q", x.context, e.Context)
	case task != nil && task.context != "" && task.context != e.Context:
		w.fail(r.N, x, RuleOrder, "the context of the task %q was %q, and is %q", e.Task, task.context, e.Context)
	}
	x.context = e.Context
	if task != nil {
		task.context = e.Context
	}
}

// continuation checks that what is continued has begun, and that nothing comes twice, and
// notes the event. Of a task that is older than the trace, nothing tells what has begun.
func (w *agentWire) continuation(r *trace.Record, x *exchange, e *event.Event) {
	x.lastEvent = r.N
	if e.MayEndStream() || e.State != "" {
		x.newest = *e
	}
	if task := w.begun[e.Task]; task != nil {
		w.artifacts(r, x, e, task)
	}
	if now := e.Body.Raw; now == x.previous && e.ID() != "" && len(event.Text(e.Parts())) >= longEvent && (e.Append || e.Kind != event.Artifact) {
		w.warn(r.N, x, RuleOrder, "it is the event before once more: clients show its text twice")
	}
	x.previous = strings.Clone(e.Body.Raw)
}

// reportSilence reports a long time before this event in which nothing came.
func (w *agentWire) reportSilence(r *trace.Record, x *exchange) {
	if since := time.Duration(r.Micros-x.lastSign) * time.Microsecond; r.Kind == trace.KindEvent && since >= silence && !event.Waits(x.newest.State) {
		w.warn(r.N, x, RuleHTTP, "nothing came for %s before this: proxies and clients may give up, unless a comment (a line that begins with a colon) comes now and then",
			since.Round(time.Second))
	}
}

func (w *agentWire) ending(r *trace.Record, x *exchange) {
	since := time.Duration(r.Micros-x.lastSign) * time.Microsecond
	byUs := r.Reason == trace.EndClosed || r.Reason == trace.EndCanceled || r.Reason == trace.EndOpen
	switch {
	case x.torn && r.Error == "":
		w.fail(x.lastEvent, x, RuleHTTP, "the stream ended within this event: a blank line must follow it")
		return
	case x.final == 0 && !x.newest.MayEndStream():
		w.unfinished(r, x, since, byUs)
	case x.final > 0 || x.op.version != "0.3" || x.newest.Kind != event.Status || x.newest.Final || byUs:
	case event.Terminal(x.newest.State):
		w.fail(x.lastEvent, x, RuleState, "the last event of the stream must have final: true; the state is %s", x.newest.State)
	default:
		w.warn(x.lastEvent, x, RuleState, "the last event of the stream should have final: true; the state is %s", x.newest.State)
	}
	over := x.final > 0 || event.Terminal(x.newest.State)
	if over && (byUs || r.Error != "") && r.Reason != trace.EndCut && since >= lingers {
		w.warn(x.lastEvent, x, RuleState, "the stream was still open %s after its last event, and had to be closed", since.Round(10*time.Millisecond))
	}
}

// unfinished reports a stream without a last event. byUs: the client has closed it.
func (w *agentWire) unfinished(r *trace.Record, x *exchange, since time.Duration, byUs bool) {
	if task := w.begun[x.task]; task != nil {
		task.calls = nil // how they end was said to nobody
	}
	before, over := w.ended[x.task]
	switch {
	case byUs && over && since >= lingers:
		w.fail(x.lastEvent, x, RuleState, "the task is %s, as record %d says, and this stream has not told it and has not ended", before.state, before.record)
	case byUs && since >= silence:
		w.warn(x.lastEvent, x, RuleState, "nothing came for %s, the stream did not end, and the state is not final", since.Round(time.Second))
	case r.Reason == trace.EndCut:
		w.warn(x.lastEvent, x, RuleState, "the connection broke off after this event, before a final state: %s", r.Error)
	case !byUs:
		w.fail(x.lastEvent, x, RuleState, "the stream ended after this event, and the state is %s: it must be final, or wait for the user",
			cmp.Or(x.newest.State, "unknown"))
	}
}
