package check

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/internal/trace/card"
)

// notThere are the errors' codes for what the agent lacks: a method, push notifications, an
// operation, an extended card.
var notThere = []int64{-32601, -32003, -32004, -32007}

// codeOfReason returns JSON-RPC's code for an error of HTTP+JSON; 0 if it does not matter here.
func codeOfReason(details string) int64 {
	for reason, code := range map[string]int64{"TASK_NOT_FOUND": -32001, "METHOD_NOT_FOUND": -32601, "PUSH_NOTIFICATION_NOT_SUPPORTED": -32003,
		"UNSUPPORTED_OPERATION": -32004, "EXTENDED_AGENT_CARD_NOT_CONFIGURED": -32007} {
		if strings.Contains(details, reason) {
			return code
		}
	}
	return 0
}

// claims are what a card may say of operations: part of the method's name, and the member
// of the card.
var claims = [...]struct{ name, member string }{
	{"ushNotificationConfig", "capabilities.pushNotifications"},
	{"GetExtendedAgentCard", "capabilities.extendedAgentCard"},
	{"getAuthenticatedExtendedCard", "supportsAuthenticatedExtendedCard"},
	{"message/stream", "capabilities.streaming"},
	{"SendStreamingMessage", "capabilities.streaming"},
}

// fail reports an error of the agent's in an exchange.
func (w *agentWire) fail(n int64, x *exchange, rule, format string, args ...any) {
	w.weigh(n, x, rule, Error, format, args...)
}

// warn is fail for a warning. Of others than agents all findings are errors.
func (w *agentWire) warn(n int64, x *exchange, rule, format string, args ...any) {
	w.weigh(n, x, rule, Warning, format, args...)
}

// weigh is fail for what has another weight. Its source is that of the rule, in the exchange's binding.
func (w *agentWire) weigh(n int64, x *exchange, rule, weight, format string, args ...any) {
	f := &Finding{Record: n, Who: Agent, Rule: rule, Weight: weight, What: x.method, Text: fmt.Sprintf(format, args...)}
	switch binding := rule == RuleHTTP || rule == RuleAnswered || rule == RuleJSONRPC; {
	case rule == RuleSchema: // that of a tool call: others are checked by [Checker.schema]
		f.Source = "the development-tool extension, section 3.2"
	case x.rpc || !binding:
	case x.isCard:
		f.Source = "RFC 8259 (JSON), section 2"
	case x.op.version == "1.0":
		f.Source = "A2A 1.0, sections 11.4 to 11.7"
	default:
		f.Source = "A2A 0.3, sections 3.2.3 and 3.3"
	}
	w.c.report(f, format)
}

// failureHTTP checks an error of HTTP+JSON: its status, and what it says of itself.
func (w *agentWire) failureHTTP(r *trace.Record, x *exchange, problem gjson.Result) {
	reason := problem.Get("details.#.reason").String()
	want := map[int64]int{-32001: 404, -32003: 400, -32004: 400, -32007: 400}[codeOfReason(reason)]
	switch {
	case r.Kind == trace.KindEvent: // an error within a stream, which has begun with 200
	case x.status < 400:
		w.fail(r.N, x, RuleHTTP, "it is an error, and its HTTP status is %d: clients take it for a success", x.status)
	case want != 0 && want != x.status:
		w.warn(r.N, x, RuleHTTP, "the HTTP status of this error must be %d, and is %d", want, x.status)
	case !strings.Contains(reason, `"`) && x.status < 500:
		w.warn(r.N, x, RuleHTTP, "error.details has no google.rpc.ErrorInfo with a reason, by which clients tell errors apart")
	}
}

// refusedTask checks an error about a task that has begun or ended. gets: it was asked for.
func (w *agentWire) refusedTask(n int64, x *exchange, code int64, gets bool) {
	over := w.ended[cmp.Or(x.about, x.params.Get("message.taskId").Str)]
	switch task := w.begun[x.about]; {
	case over.state != "" && x.request > over.record && !gets && (code == -32603 || !x.rpc && x.status == 500): // else it has ended meanwhile
		w.warn(n, x, RuleClaim, "the task was %s in record %d, which is no internal error: a cancel is refused with -32002, a subscription or a message with -32004",
			over.state, over.record)
	case gets && task != nil && (code == -32001 || !x.rpc && x.status == 404):
		w.fail(n, x, RuleClaim, "missing: the agent does not know the task %q, which it began in record %d", x.about, task.record)
	}
}

// refused checks an error, by its code, against what the agent's card says that it has.
func (w *agentWire) refused(n int64, x *exchange, code int64) {
	name := x.method
	gets := name == "tasks/get" || name == "GetTask"
	w.refusedTask(n, x, code, gets)
	to := x.params.Get("message.taskId").Str
	_, over := w.ended[to]
	mayBeOver := over || to != "" && w.begun[to] == nil // then it takes no message
	if !slices.Contains(notThere, code) || x.op.version == "" || code == -32004 && mayBeOver {
		return
	}
	if w.unknownIn = cmp.Or(w.unknownIn, x.op.version); w.unknownIn != x.op.version {
		return // the client has tried the names of another version, which the agent need not have
	}
	what := "missing: the agent answers that it has no " + name
	if x.unserved() {
		hint := ""
		if x.op.params == "SendParams" {
			hint = "; are the card's URL and binding right?"
		}
		what += fmt.Sprintf(" (HTTP status %d%s)", x.status, hint)
	}
	for _, c := range claims {
		if !strings.Contains(name, c.name) {
			continue
		}
		if w.card.Get(c.member).Bool() && code == -32007 { // which is for that (1.0, section 3.1.11)
			w.warn(n, x, RuleClaim, "%s, and its card says that it may have (%s)", what, c.member)
		} else if w.card.Get(c.member).Bool() {
			w.fail(n, x, RuleClaim, "%s, and its card says that it has (%s)", what, c.member)
		}
		return
	}
	switch {
	case code == -32601 && (x.op.result == "Sent" || gets):
		w.fail(n, x, RuleClaim, "%s, which every agent must have", what)
	case code == -32601, name == "tasks/cancel", name == "CancelTask":
		w.warn(n, x, RuleClaim, "%s", what)
	}
}

// status checks the HTTP status of a JSON-RPC answer.
func (w *agentWire) status(r *trace.Record, x *exchange) {
	switch {
	case !x.rpc && x.op.result != "Event":
	case r.Status >= 300 && r.Status < 400:
		w.warn(r.N, x, RuleHTTP, "the answer is a redirect (HTTP %d) to %q: many clients do not send a POST again; the card should name the right URL",
			r.Status, r.HeaderOf("Location"))
	case r.Status > 200 && r.Status < 300:
		w.warn(r.N, x, RuleHTTP, "the HTTP status of this answer must be 200, and is %d", r.Status)
	}
}

// refusedHTTP checks an answer that is an HTTP status, at its end. Of some a gateway is
// the author, and they say all that there is to say.
func (w *agentWire) refusedHTTP(r *trace.Record, x *exchange) {
	switch {
	case x.unserved():
		w.refused(x.request, x, -32601)
	case !x.rpc || x.op.version == "" || x.status < 400 || ofGateway(x.status):
	case x.answers == 0:
		place := ""
		if notServed(x.status) {
			place = ": does the card name the right URL, and the right binding?"
		}
		w.fail(r.N, x, RuleHTTP, "the answer is HTTP status %d, and no error of JSON-RPC, which would tell what is wrong%s", x.status, place)
	default:
		w.warn(r.N, x, RuleHTTP, "an error of JSON-RPC comes with HTTP status 200, and this with %d: some clients do not read it", x.status)
	}
}

// unserved reports whether the server has no such URL: the status says so, and the request is
// about no task that could be unknown.
func (x *exchange) unserved() bool {
	return !x.rpc && notServed(x.status) && x.about == "" && !x.params.Get("message.taskId").Exists() &&
		slices.Contains([]string{"Tasks", "Event", "Sent", "Card"}, x.op.result)
}

// ofGateway reports whether a gateway may be the author of an answer with this status.
func ofGateway(status int) bool {
	return slices.Contains([]int{401, 403, 407, 408, 429, 502, 503, 504}, status)
}

// notServed reports whether a status tells that nothing is at a URL, or nothing that takes a POST.
func notServed(status int) bool { return status == 404 || status == 405 }

// notJSON returns what a text is that is no JSON, to be put behind that; "" if it is not known.
func notJSON(r *trace.Record) string {
	text := strings.TrimSpace(r.Text)
	lines := strings.Split(text, "\n")
	documents := len(lines) > 1 && !slices.ContainsFunc(lines, func(l string) bool { return !gjson.Valid(l) })
	switch {
	case text == "":
		return ": it is empty"
	case text == "[DONE]":
		return ", but the end of OpenAI's streams; one of A2A just ends"
	case documents, gjson.Valid(strings.Replace(text, "}{", "},{", 1)+"]") || strings.Contains(text, "}{"):
		return ", but several documents in one: between two events of a stream is a blank line"
	case strings.HasPrefix(text, "<"):
		return ", but a web page"
	case strings.HasPrefix(text, "{'"):
		return ", but a dict of Python: json.dumps makes JSON of it"
	case strings.HasPrefix(text, "data:"):
		return ", but an event of a stream within another"
	case text == "{" || text == "[":
		return ", but the first line of it: each line of an event begins with data:"
	case strings.HasPrefix(text, "\ufeff"):
		return ", but for the byte order mark before it"
	case strings.HasPrefix(text, "{"):
		return ", though it begins like it" + brokenAt(text, r.Kind == trace.KindBody)
	}
	return ""
}

// brokenAt tells where a text is no JSON any more. counted: a Content-Length may cut it off.
func brokenAt(text string, counted bool) string {
	broken, ok := errors.AsType[*json.SyntaxError](json.Unmarshal([]byte(text), new(any)))
	if !ok {
		return ""
	}
	at := min(int(broken.Offset), len(text))
	if broken.Error() == "unexpected end of JSON input" {
		why := ""
		if counted {
			why = " (is its length counted in characters, and not in bytes?)"
		}
		return ", and stops within it" + why + ", behind " + excerpt(text[max(0, at-maxQuoted):])
	}
	return fmt.Sprintf(", and goes wrong (%v) at %s", broken, excerpt(text[max(0, at-maxQuoted/2):]))
}

// reportHeldBack reports a stream whose events came all at once.
func (w *agentWire) reportHeldBack(x *exchange) {
	waited := time.Duration(x.firstEvent-x.requested) * time.Microsecond
	if took := time.Duration(x.lastSign-x.firstEvent) * time.Microsecond; x.answers >= 4 && waited >= heldBack && took <= waited/50 {
		w.warn(x.lastEvent, x, RuleHTTP, "all %d events came at once, %s after the request: the agent, or something before it, holds the stream back",
			x.answers, waited.Round(100*time.Millisecond))
	}
}

// cardAnswer checks a card that differs from the one before, and keeps it.
func (w *agentWire) cardAnswer(r *trace.Record, x *exchange, doc gjson.Result) {
	if !card.IsCard([]byte(doc.Raw)) && (!x.isCard || !doc.IsObject() || doc.Get("error").Exists()) {
		return
	}
	if doc.Raw == w.card.Raw {
		return // it is the card before, which was checked
	}
	if media := strings.ToLower(x.media); media != "" && !strings.Contains(media, "json") {
		w.broken(r, RuleHTTP, Warning, "card", fmt.Sprintf("the Content-Type of the card must be application/json, and is %q", x.media), false, [2]string{}, "media")
	}
	v1, v03 := doc.Get("supportedInterfaces").Exists() || doc.Get("supported_interfaces").Exists(), doc.Get("url").Exists()
	if v1 && v03 {
		w.c.note("the agent's card is of A2A 0.3 and of 1.0 at once: it is held against 1.0")
	}
	spec := doc03
	if v1 {
		spec = doc10
	}
	w.c.schema(r, Agent, "card", spec, "Card", doc, "")
	w.card = gjson.Parse(strings.Clone(doc.Raw))
	w.cardRules(r, doc, v1)
}
