package check

import (
	"cmp"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/internal/trace/event"
)

// An agentWire checks the agent's wire.
type agentWire struct {
	c         *Checker
	exchanges map[int64]*exchange
	ended     map[string]endedTask
	begun     map[string]*seenTask // tasks that began in the trace
	listed    map[string]bool      // tasks on the pages of the last list
	card      gjson.Result         // the agent's card
	unknownIn string               // the version of the first operation that the agent did not know
}

// An endedTask is the terminal state of a task, with the records that tell it and asked for it.
type endedTask struct {
	state           string
	record, request int64
}

// A seenTask is what was seen of a task from its beginning.
type seenTask struct {
	record    int64
	context   string
	artifacts map[string]*artifact
	calls     map[string]toolCall
}

// An exchange is a request to the agent.
type exchange struct {
	op        operation
	method    string
	rpc       bool   // JSON-RPC, not HTTP+JSON
	id        string // of JSON-RPC
	params    gjson.Result
	status    int
	answers   int    // events or bodies with JSON so far
	about     string // the task that it asks for; "" for none
	task      string // the task of its events; "" for none yet
	final     int64  // the record of the event that must be the last; 0: none was
	finalBy   string // why it must be
	isCard    bool
	devtool   bool // the development-tool extension is active
	noContext bool // a task has come without its context
	url       string

	media      string      // the response's Content-Type
	newest     event.Event // the last event that has a state, or may be the last
	lastSign   int64       // when the head or the last event came, in microseconds
	lastEvent  int64       // the record of the last event
	torn       bool        // a blank line is missing behind the last event
	context    string      // the context of its events
	previous   string      // the event before, as it was written
	request    int64       // the record of the request
	requested  int64       // when the request was made, in microseconds
	firstEvent int64       // when its first event came, in microseconds
	spoke      bool        // an event said something
	timestamp  time.Time   // the last status.timestamp
	loose      bool        // HTTP+JSON of A2A 0.3, which has two forms: that of JSON-RPC, and its proto's, for which there is no schema
	encoded    string      // the answer's Content-Encoding: but for identity its body is not in the trace
}

func (w *agentWire) record(r *trace.Record) {
	if r.Kind == trace.KindRequest {
		w.request(r)
		return
	}
	x := w.exchanges[r.Exchange]
	if x == nil {
		return
	}
	w.c.loose = x.loose
	switch r.Kind {
	case trace.KindResponse:
		x.status, x.media, x.lastSign, x.encoded = r.Status, r.HeaderOf("Content-Type"), r.Micros, r.HeaderOf("Content-Encoding")
		w.status(r, x)
	case trace.KindEvent, trace.KindBody:
		w.reportSilence(r, x)
		if len(r.Base64) > 0 && (x.encoded == "" || x.encoded == "identity") {
			w.fail(r.N, x, RuleHTTP, "its bytes are no UTF-8, which JSON must be in (RFC 8259, section 8.1)")
		}
		x.lastSign, x.torn = r.Micros, r.Error != ""
		w.answer(r, x)
	case trace.KindEnd:
		delete(w.exchanges, r.Exchange)
		w.end(r, x)
	}
}

func (w *agentWire) request(r *trace.Record) {
	doc, whole := w.c.payload(r)
	x := &exchange{method: doc.Get("method").Str, id: doc.Get("id").Raw, params: gjson.Parse(strings.Clone(doc.Get("params").Raw)),
		request: r.N, requested: r.Micros, url: r.URL}
	version := cmp.Or(r.HeaderOf("A2A-Version"), inURL(r.URL, "A2A-Version")) // 1.0, section 3.6.1, allows it there
	x.devtool = strings.Contains(r.HeaderOf("A2A-Extensions")+r.HeaderOf("X-A2A-Extensions")+doc.Get("params.message.extensions").Raw, "/developer-profile/")
	switch {
	case r.HTTP == "GET" && strings.Contains(r.URL, "/.well-known/agent"):
		x.isCard, x.method = true, "card"
	case x.method != "" || r.Method != "":
		if x.method == "" {
			x.method, x.id = r.Method, ""
		}
		x.rpc, x.op = true, w.c.schemas.operation(x.method)
	default:
		x.method = event.Method(r.HTTP, strings.TrimSuffix(r.Path(), "/"))
		x.op = w.c.schemas.operation(x.method)
		x.isCard = x.op.result == "Card"
		if x.op != (operation{}) && (version == "" || strings.HasPrefix(version, "0.")) { // not a request beside A2A
			x.loose, x.op.version = true, "0.3"
		}
		x.params = gjson.Parse(strings.Clone(doc.Raw))
	}
	x.about = aboutTask(x, r)
	if len(w.exchanges) >= maxOpen {
		w.c.note("there are too many open exchanges: the rest is not checked")
		return
	}
	w.exchanges[r.Exchange] = x
	if whole && x.rpc {
		w.call(r, x, doc, version)
	} else if whole && x.op.params == "SendParams" && !x.loose {
		w.c.schema(r, Bridge, x.method, x.doc(), x.op.params, doc, "")
	}
}

// call checks a request of JSON-RPC. version is what it says in A2A-Version.
func (w *agentWire) call(r *trace.Record, x *exchange, doc gjson.Result, version string) {
	switch {
	case doc.Get("jsonrpc").Str != "2.0":
		w.c.fail(r.N, Bridge, RuleJSONRPC, x.method, `jsonrpc must be "2.0"`)
	case x.id == "":
		w.c.fail(r.N, Bridge, RuleJSONRPC, x.method, "the request has no ID")
	}
	switch {
	case x.op.version == "":
		return
	case version == "" && x.op.version == "1.0":
		w.c.fail(r.N, Bridge, RuleVersion, x.method, "it is a method of A2A 1.0, and there is no A2A-Version: agents must take the request for one of 0.3")
	case version != "" && !strings.HasPrefix(version, x.op.version[:2]):
		w.c.fail(r.N, Bridge, RuleVersion, x.method, "it is a method of A2A %s, and A2A-Version is %q", x.op.version, version)
	}
	w.c.schema(r, Bridge, x.method, x.doc(), x.op.params, doc.Get("params"), "params")
}

func (x *exchange) doc() string { return "A2A " + cmp.Or(x.op.version, "0.3") }

// result checks an event or a result against the rules of streams and tasks.
func (w *agentWire) result(r *trace.Record, x *exchange, result gjson.Result) {
	switch x.op.result {
	case "Tasks":
		w.list(r, x, result)
		return
	case "Event", "Sent", "Task":
	default:
		return
	}
	e := event.Of(result)
	if x.firstEvent == 0 {
		x.firstEvent = r.Micros
	}
	w.media(r, x)
	w.rules(r, x, &e)
	w.context(r, x, &e)
	w.beginTask(r, x, &e)
	if x.op.result == "Event" && r.Kind == trace.KindEvent {
		w.stream(r, x, &e)
		w.continuation(r, x, &e)
	}
	w.compareTask(r, x, &e)
	w.tools(r, x, &e)
	if e.Task != "" && e.State != "" {
		w.state(r, x, &e)
	}
	w.c.words.event(&e, x.request, x.params.Get("message.taskId").Exists() || !x.params.Get("message").Exists())
}

// list checks a page of tasks against what was asked for (A2A 1.0, section 3.1.4).
func (w *agentWire) list(r *trace.Record, x *exchange, page gjson.Result) {
	tasks, context, token := page.Get("tasks").Array(), x.asks("contextId").String(), x.asks("pageToken").String()
	wrong, weight := "", Error
	if most := x.asks("pageSize").Int(); most > 0 && len(tasks) > int(most) {
		wrong = fmt.Sprintf("pageSize was %d, and the page has %d tasks", most, len(tasks))
	}
	for _, task := range tasks {
		switch id := strings.Clone(task.Get("id").Str); {
		case context != "" && task.Get("contextId").Str != context:
			wrong = fmt.Sprintf("the context %q was asked for, and the task %q has %q", context, id, task.Get("contextId").Str)
		case task.Get("artifacts").Exists() && !x.asks("includeArtifacts").Exists():
			wrong, weight = fmt.Sprintf("the task %q has artifacts, which must be left out unless includeArtifacts asks for them", id), Warning
		case token != "" && w.listed[id]:
			wrong, weight = fmt.Sprintf("the task %q is on the page before, too", id), Warning // a new task moves the others
		}
	}
	if token == "" {
		clear(w.listed)
	}
	for _, task := range tasks {
		w.listed[strings.Clone(task.Get("id").Str)] = true
	}
	w.broken(r, RuleOrder, weight, x.method, wrong, true, [2]string{"", "3.1.4"}, "list")
}

// beginTask notes a task that begins: with it a message is answered that names none.
func (w *agentWire) beginTask(r *trace.Record, x *exchange, e *event.Event) {
	if w.begun[e.Task] == nil && e.Task != "" && e.Kind != event.Message && x.answers == 1 && x.params.Get("message").Exists() &&
		!x.params.Get("message.taskId").Exists() && len(w.begun) < maxOpen {
		w.begun[strings.Clone(e.Task)] = &seenTask{record: r.N, context: e.Context, artifacts: map[string]*artifact{}}
	}
}

// stream checks the order of a stream's events: A2A 1.0, sections 3.1.2 and 3.1.6; of
// 0.3, section 7.2, that nothing follows the final event.
func (w *agentWire) stream(r *trace.Record, x *exchange, e *event.Event) {
	v1 := x.op.version == "1.0"
	switch {
	case x.answers > 1 || !v1:
	case x.method == "SubscribeToTask" && e.Kind != event.Task:
		w.fail(r.N, x, RuleOrder, "the first event of a subscription must be the task")
	case x.method != "SubscribeToTask" && e.Kind != event.Task && e.Kind != event.Message && !x.params.Get("message.taskId").Exists():
		w.fail(r.N, x, RuleOrder, "the first event must be a task or a message")
	}
	switch {
	case x.task != "" && e.Task != "" && e.Task != x.task:
		w.fail(r.N, x, RuleOrder, "the stream is about the task %q, and this about %q", x.task, e.Task)
	case e.Task != "":
		x.task = e.Task
	}
	switch {
	case x.final > 0:
	case e.Kind == event.Message:
		x.final, x.finalBy = r.N, "a message, which is the whole answer"
	case e.Final:
		x.final, x.finalBy = r.N, "final"
	case v1 && event.Terminal(e.State):
		x.final, x.finalBy = r.N, e.State
	}
}

// state checks that a terminal state is the last one (A2A 0.3, section 6.3; 1.0,
// 4.1.3). In the development-tool extension, appendix A, a completed task continues
// with the user's next message.
func (w *agentWire) state(r *trace.Record, x *exchange, e *event.Event) {
	before, ok := w.ended[e.Task]
	switch {
	case ok && before.state == "completed" && x.devtool && x.params.Get("message.taskId").Str == e.Task:
		delete(w.ended, e.Task)
	case ok && x.request < before.record && x.request != before.request && !event.Terminal(e.State):
		// An older stream may be behind: what came first on two connections nothing tells.
	case ok && x.request > before.record && x.params.Get("message").Exists() && !x.params.Get("message.taskId").Exists():
		w.fail(r.N, x, RuleState, "the message begins a task, and its ID %q is that of one that was %s in record %d: each has an ID of its own",
			e.Task, before.state, before.record)
		delete(w.ended, e.Task)
	case ok && before.state != e.State:
		w.fail(r.N, x, RuleState, "the task %q was %s in record %d, and is %s", e.Task, before.state, before.record, e.State)
		delete(w.ended, e.Task)
	case !ok && event.Terminal(e.State):
		if len(w.ended) >= maxOpen {
			clear(w.ended)
		}
		w.ended[e.Task] = endedTask{e.State, r.N, x.request}
	}
}

func (w *agentWire) end(r *trace.Record, x *exchange) {
	ended := r.Reason == trace.EndDone || r.Reason == trace.EndEOF
	switch {
	case !ended && x.status == 0 && x.op.version != "" && time.Duration(r.Micros-x.requested)*time.Microsecond >= silence:
		w.warn(x.request, x, RuleAnswered, "no answer came within %s", (time.Duration(r.Micros-x.requested) * time.Microsecond).Round(time.Second))
	case !ended || x.answers > 0 || x.status == 0 || x.status >= 300 || x.op.result == "" && (!x.rpc || x.op.version != ""):
	case r.Bytes > 0 && strings.HasPrefix(strings.ToLower(x.media), "text/event-stream"):
		w.fail(r.N, x, RuleHTTP, "the response has ended, and nothing was in it that is an event: each is a line that begins with data: and a blank line behind it")
	default:
		w.fail(r.N, x, RuleAnswered, "the response has ended, and nothing was in it")
	}
	w.refusedHTTP(r, x)
	if x.lastEvent > 0 && x.op.result == "Event" {
		w.ending(r, x)
		w.reportHeldBack(x)
	}
	if !ended || r.Reason == trace.EndEOF {
		for _, t := range w.c.words.turns {
			t.broken = true
		}
	}
}

// asks returns a parameter, which HTTP+JSON may have in the URL, as a string.
func (x *exchange) asks(name string) gjson.Result {
	if v := x.params.Get(name); v.Exists() || x.rpc {
		return v
	}
	return gjson.Parse(strconv.Quote(inURL(x.url, name)))
}

// inURL returns a parameter of a URL; "" for none.
func inURL(address, name string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Query().Get(name)
}

// aboutTask returns the task that a request asks for; "" for none.
func aboutTask(x *exchange, r *trace.Record) string {
	if x.op.params != "TaskID" && (x.rpc || x.op.result != "Task" && x.method != "SubscribeToTask") {
		return ""
	}
	return strings.Clone(event.TaskOf(x.params, r.Path()))
}
