package check

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/internal/trace/card"
	"github.com/a2astdio/a2astdio/internal/trace/event"
)

func (w *agentWire) answer(r *trace.Record, x *exchange) {
	doc, whole := w.c.payload(r)
	if !doc.Exists() {
		w.noJSON(r, x)
		return
	}
	x.answers++
	if !whole {
		w.c.words.voidAll("a payload that is too long for the trace")
		return
	}
	switch {
	case x.notOurs(doc):
		x.answers = 0
		return
	case x.isCardAt(doc):
		w.cardAnswer(r, x, doc)
		return
	case x.final > 0 && !x.endsAgain(doc):
		w.fail(r.N, x, RuleOrder, "it comes after what must be the last of its stream, in record %d: %s", x.final, x.finalBy)
	case x.rpc && r.Kind == trace.KindBody && x.answers > 1:
		w.fail(r.N, x, RuleAnswered, "it is a second answer")
	}
	result := doc
	if x.rpc {
		result = doc.Get("result")
		w.envelope(r, x, doc, result)
	} else if w.foreignEnvelope(r, x, doc) {
		return
	}
	switch problem := doc.Get("error"); {
	case problem.Type != gjson.Null:
		w.failure(r, x, doc, problem)
	case !x.rpc && x.status >= 400 && x.op.version != "":
		w.failure(r, x, doc, doc)
	case x.op.result != "" && result.Exists() && x.status < 300:
		w.success(r, x, result)
	}
}

// endsAgain reports whether an event is the task that has ended, whole: A2A 1.0, section 11.7, allows
// that before a stream closes.
func (x *exchange) endsAgain(doc gjson.Result) bool {
	e, _ := event.OfPayload(doc)
	return x.op.version == "1.0" && e.Kind == event.Task && e.State == x.finalBy
}

// foreignEnvelope reports an answer of HTTP+JSON in the envelope of JSON-RPC. isResult: it is
// one, and no error.
func (w *agentWire) foreignEnvelope(r *trace.Record, x *exchange, doc gjson.Result) (isResult bool) {
	if !doc.Get("jsonrpc").Exists() || x.op.version != "1.0" {
		return false
	}
	w.fail(r.N, x, RuleHTTP, "it is in the envelope of JSON-RPC, which HTTP+JSON has not")
	return !doc.Get("error").Exists()
}

// notOurs reports whether an answer is none of A2A: a gateway's, or of a server without such a URL.
func (x *exchange) notOurs(doc gjson.Result) bool {
	return x.unserved() || x.rpc && (ofGateway(x.status) || notServed(x.status)) && !doc.Get("jsonrpc").Exists()
}

// isCardAt reports whether an answer is meant as the card, or is one: agents may have it anywhere.
func (x *exchange) isCardAt(doc gjson.Result) bool {
	return x.status < 300 && (x.isCard || !x.rpc && x.op == (operation{}) && card.IsCard([]byte(doc.Raw)))
}

// noJSON reports an answer that is no JSON, unless it is a comment or an error page.
func (w *agentWire) noJSON(r *trace.Record, x *exchange) {
	switch {
	case x.encoded != "" && !strings.EqualFold(x.encoded, "identity"):
		w.c.note("answers in the Content-Encoding %s are not in the trace, and not checked", x.encoded)
	case r.Event > 0 && r.Text == "" && r.Size == 0:
		w.warn(r.N, x, RuleHTTP, "an event with no data: clients read each as JSON; a comment (a line that begins with a colon) keeps a stream alive")
	case r.Kind == trace.KindEvent && r.Text == "", x.status >= 300, !x.rpc && !x.isCard && x.op.result == "":
		return
	case x.op.result == "Event" && strings.Contains(r.Text, "data:") && r.Kind == trace.KindBody:
		w.fail(r.N, x, RuleHTTP, "the answer is a stream of events, and its Content-Type must be text/event-stream, and is %q", x.media)
	default:
		w.fail(r.N, x, RuleJSONRPC, "the answer is no JSON%s: %s", notJSON(r), excerpt(r.Text))
	}
	x.answers++
}

// failure checks an error: problem is the member of doc that is one, or doc itself.
func (w *agentWire) failure(r *trace.Record, x *exchange, doc, problem gjson.Result) {
	switch {
	case x.rpc:
		x.final, x.finalBy = r.N, "an error"
		if x.op.version != "" {
			w.c.schema(r, Agent, x.method, x.doc(), "Error", problem, "error")
		}
		w.refused(r.N, x, problem.Get("code").Int())
	case x.op.version == "1.0" && problem.Raw == doc.Raw:
		w.fail(r.N, x, RuleHTTP, "the answer has HTTP status %d, and no member error that says what is wrong", x.status)
	case x.op.version == "1.0":
		x.final, x.finalBy = r.N, "an error"
		w.c.schema(r, Agent, x.method, doc10, "HTTPError", doc, "")
		w.failureHTTP(r, x, problem)
		w.refused(r.N, x, codeOfReason(problem.Get("details.#.reason").String()))
	default:
		w.refused(r.N, x, problem.Get("code").Int())
	}
}

// success checks a result against its schema, and then against the rules.
func (w *agentWire) success(r *trace.Record, x *exchange, result gjson.Result) {
	what, path := x.method, ""
	switch {
	case x.op.result == "Card":
		what = "card" // what is wrong with the first one is told once
	case x.rpc:
		path = "result"
	}
	if v := x.inSchema(result); v.Exists() {
		w.c.schema(r, Agent, what, x.doc(), x.op.result, v, path)
	}
	w.result(r, x, result)
}

// inSchema returns what of a result has a schema, if anything has. HTTP+JSON of 0.3 may be in
// the form of JSON-RPC, which has one, or in that of the proto, which has none: there a
// member tells what it is, and states are in capitals.
func (x *exchange) inSchema(result gjson.Result) gjson.Result {
	e := event.Of(result)
	state := e.Body.Get("status.state")
	switch proto := e.V1 || state.Type == gjson.Number || strings.HasPrefix(state.Str, "TASK_STATE_"); {
	case !x.loose:
		return result
	case e.Kind == "" || proto && !e.Body.Get("kind").Exists():
		return gjson.Result{}
	}
	return e.Body
}

// envelope checks what JSON-RPC asks of an answer.
func (w *agentWire) envelope(r *trace.Record, x *exchange, doc, result gjson.Result) {
	id, sent := doc.Get("id"), gjson.Parse(x.id)
	switch {
	case !doc.IsObject():
		twice := ""
		if gjson.Parse(doc.Str).IsObject() {
			twice = ": it was made JSON twice"
		}
		w.fail(r.N, x, RuleJSONRPC, "the answer must be an object, and is %s%s", quote(doc), twice)
	case !doc.Get("jsonrpc").Exists() && !result.Exists() && !doc.Get("error").Exists():
		w.fail(r.N, x, RuleJSONRPC, `jsonrpc must be "2.0": the answer is not in the envelope of JSON-RPC, {"jsonrpc":"2.0","id":…,"result":…}`)
	case doc.Get("jsonrpc").Str != "2.0":
		w.fail(r.N, x, RuleJSONRPC, `jsonrpc must be "2.0", and is %s`, quote(doc.Get("jsonrpc")))
	// By their value: encoders escape "/" and letters, or write 1 as 1.0.
	case x.id != "" && (id.Type != sent.Type || id.String() != sent.String()) &&
		!(id.Type == gjson.Null && slices.Contains([]int64{-32700, -32600}, doc.Get("error.code").Int())): // what was not understood
		w.fail(r.N, x, RuleJSONRPC, "the ID must be %s, and is %s", x.id, quote(id))
	case result.Exists() == doc.Get("error").Exists():
		w.fail(r.N, x, RuleJSONRPC, "an answer has either a result or an error")
	}
}
