package check

import (
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/internal/trace/card"
)

// notThere are the codes that say that there is no such thing: no method, no push, no
// such operation, no extended card.
var notThere = []int64{-32601, -32003, -32004, -32007}

// codeOfReason returns the code of an error of HTTP+JSON, of those that matter here.
func codeOfReason(details string) int64 {
	for reason, code := range map[string]int64{"TASK_NOT_FOUND": -32001, "METHOD_NOT_FOUND": -32601, "PUSH_NOTIFICATION_NOT_SUPPORTED": -32003,
		"UNSUPPORTED_OPERATION": -32004, "EXTENDED_AGENT_CARD_NOT_CONFIGURED": -32007} {
		if strings.Contains(details, reason) {
			return code
		}
	}
	return 0
}

// claims are what a card may say of operations: part of the method's name, or the schema
// of its result, and the members of the card.
var claims = [...]struct{ name, result, member, other string }{
	{"ushNotificationConfig", "", "capabilities.pushNotifications", ""},
	{"", "Card", "capabilities.extendedAgentCard", "supportsAuthenticatedExtendedCard"},
	{"message/stream", "", "capabilities.streaming", ""},
	{"SendStreamingMessage", "", "capabilities.streaming", ""},
}

// refused checks an error against what the agent says it has.
func (w *agentWire) refused(r *trace.Record, x *exchange, code int64) {
	name := x.method
	gets := name == "tasks/get" || name == "GetTask"
	if task := w.known[x.about]; code == -32001 && gets && task != nil {
		w.c.find(r.N, Agent, RuleClaim, name, "missing: the agent does not know the task %q, which it began in record %d", x.about, task.record)
	}
	if !slices.Contains(notThere, code) || x.op.version == "" {
		return
	}
	what := "missing: the agent answers that it has no " + name
	for _, c := range claims {
		if c.name == "" && x.op.result != c.result || !strings.Contains(name, c.name) {
			continue
		}
		if member := w.offers.Get(c.member); member.Bool() || c.other != "" && w.offers.Get(c.other).Bool() {
			w.c.find(r.N, Agent, RuleClaim, name, "%s, and its card says that it has (%s)", what, c.member)
		}
		return
	}
	switch {
	case code == -32601 && (x.op.result == "Sent" || gets):
		w.c.find(r.N, Agent, RuleClaim, name, "%s, which every agent must have", what)
	case code == -32601, name == "tasks/cancel", name == "CancelTask":
		w.c.warn(r.N, Agent, RuleClaim, name, "%s", what)
	}
}

// status checks the HTTP status of a JSON-RPC answer.
func (w *agentWire) status(r *trace.Record, x *exchange) {
	switch {
	case !x.rpc:
	case r.Status >= 300 && r.Status < 400:
		w.c.warn(r.N, Agent, RuleHTTP, x.method, "the answer is a redirect (HTTP %d) to %q: many clients do not send a POST again; the card should name the right URL", r.Status, header(r, "Location"))
	case r.Status > 200 && r.Status < 300:
		w.c.warn(r.N, Agent, RuleHTTP, x.method, "the HTTP status of an answer of JSON-RPC must be 200, and is %d", r.Status)
	}
}

// refusedHTTP checks an answer that is an HTTP status, at its end. Of some a gateway is
// the author, and they say all that there is to say.
func (w *agentWire) refusedHTTP(r *trace.Record, x *exchange) {
	if !x.rpc || x.op.version == "" || x.status < 400 {
		return
	}
	switch x.status {
	case 401, 403, 407, 408, 429, 502, 503, 504:
	default:
		if x.answers == 0 {
			w.c.find(r.N, Agent, RuleHTTP, x.method, "the answer is HTTP status %d, and no error of JSON-RPC, which would tell what is wrong", x.status)
		} else {
			w.c.warn(r.N, Agent, RuleHTTP, x.method, "an error of JSON-RPC comes with HTTP status 200, and this with %d: some clients do not read it", x.status)
		}
	}
}

// notJSON tells what else a text is.
func notJSON(text string) string {
	text = strings.TrimSpace(text)
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
	case strings.HasPrefix(text, "{"):
		return ", though it begins like it"
	}
	return ""
}

// atOnce reports a stream whose events were held back.
func (w *agentWire) atOnce(x *exchange) {
	waited := time.Duration(x.first-x.asked) * time.Microsecond
	if took := time.Duration(x.at-x.first) * time.Microsecond; x.answers >= 4 && waited >= heldBack && took <= waited/50 {
		w.c.warn(x.record, Agent, RuleHTTP, x.method, "all %d events came at once, %s after the request: the agent, or something before it, holds the stream back", x.answers, waited.Round(100*time.Millisecond))
	}
}

// card checks the agent's card.
func (w *agentWire) card(r *trace.Record, x *exchange, doc gjson.Result) {
	if !card.IsCard([]byte(doc.Raw)) {
		if x.method == "card" && doc.IsObject() && !doc.Get("error").Exists() {
			w.c.find(r.N, Agent, RuleSchema, "card", "it is no card: name, capabilities, and url or supportedInterfaces must be there")
		}
		return
	}
	if doc.Raw == w.offers.Raw {
		return // it is the card before, which was checked
	}
	if media := strings.ToLower(x.media); media != "" && !strings.Contains(media, "json") {
		w.c.warn(r.N, Agent, RuleHTTP, "card", "the Content-Type of the card must be application/json, and is %q", x.media)
	}
	v1, v03 := doc.Get("supportedInterfaces").Exists(), doc.Get("url").Exists()
	if v1 && v03 {
		w.c.note("the agent's card is of A2A 0.3 and of 1.0 at once: it is held against 1.0")
	}
	if v1 {
		w.c.schema(r, Agent, "card", doc10, "Card", "A2A 1.0", doc, "")
	} else {
		w.c.schema(r, Agent, "card", doc03, "Card", "A2A 0.3", doc, "")
	}
	w.offers = gjson.Parse(strings.Clone(doc.Raw))
	w.cardRules(r, doc, v1)
}
