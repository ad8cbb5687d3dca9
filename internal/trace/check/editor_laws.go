package check

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/trace"
)

// update checks ACP's prompt turn: updates of a turn precede its reply, and a tool call
// is announced before its updates.
func (w *editorWire) update(r *trace.Record, who string, params gjson.Result) {
	id, update := params.Get("sessionId").Str, params.Get("update")
	kind := update.Get("sessionUpdate").Str
	what := "session/update " + kind
	s, known := w.sessions[id]
	if !known {
		w.c.fail(r.N, who, RuleOrder, what, "the editor does not know the session %q", id)
		s = w.session(id)
	}
	call := update.Get("toolCallId").Str
	first := w.acp // version 2 replies before a turn's updates, and announces no call
	switch kind {
	case "user_message_chunk", "agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan":
		if known && s.turns == 0 && first {
			w.c.fail(r.N, who, RuleOrder, what, "it comes while no prompt of the session is open: after the reply, or before the request")
		}
	}
	if first && kind == "tool_call_update" && s.calls != nil && call != "" && !s.calls[call] {
		w.c.fail(r.N, who, RuleOrder, what, "no tool_call has announced %q", call)
	}
	w.announce(s, call)
	switch kind {
	case "agent_message_chunk", "agent_thought_chunk":
		w.c.words.said(id, kind+" "+update.Get("messageId").Str, update.Get("content.text").Str)
	case "user_message_chunk":
	default:
		w.c.words.other(id, update.Raw)
	}
}

// announce notes a tool call that the editor has heard of.
func (w *editorWire) announce(s *session, call string) {
	switch {
	case s.calls == nil || call == "":
	case len(s.calls) >= maxOpen:
		s.calls = nil
	default:
		s.calls[call] = true
	}
}

// replied checks ACP's reply to a request by what came before, and notes what it ends.
func (w *editorWire) replied(r *trace.Record, a *openRequest, doc gjson.Result) {
	result := doc.Get("result")
	switch a.method {
	case "session/new":
		if id := result.Get("sessionId").Str; id != "" {
			w.session(id).calls = map[string]bool{}
		}
	case "session/prompt", "session/load":
		if s := w.session(a.session); s.turns > 0 {
			s.turns--
		}
		if a.canceled && a.method == "session/prompt" && doc.Get("error").Exists() {
			w.c.fail(r.N, peer(a.who), RuleOrder, a.method, `a prompt that was cancelled is answered with the stop reason "cancelled", and not with an error`)
		}
		w.c.words.other(a.session, doc.Raw)
		w.c.words.end(a.session, r.N, peer(a.who), a.method == "session/prompt" && result.Get("stopReason").Str != "cancelled" && !doc.Get("error").Exists())
	case "session/request_permission":
		option := result.Get("outcome.optionId").Str
		if option != "" && !slices.Contains(a.options, option) {
			w.c.fail(r.N, peer(a.who), RuleOrder, a.method, "the option %q was not offered", option)
		}
	}
}

// acpSchema names the schema of a method's request or response, by who asks; "" for none.
func (w *editorWire) acpSchema(asker, method, kind string) string {
	side := "agent"
	if asker == Bridge {
		side = "client"
	}
	methods := w.c.schemas.get(docACP).methods
	return cmp.Or(methods[side+" "+method+" "+kind], methods["protocol "+method+" "+kind])
}

// params checks a request or notification against the protocol's schema.
func (w *editorWire) params(r *trace.Record, who, method string, doc gjson.Result) {
	if !w.acp || strings.HasPrefix(method, "_") {
		return
	}
	what := strings.TrimSpace(method + " " + doc.Get("params.update.sessionUpdate").Str)
	if name := w.acpSchema(who, method, "request"); name != "" {
		w.c.schema(r, who, what, docACP, name, doc.Get("params"), "params")
		return
	}
	w.c.fail(r.N, who, RuleSchema, method, "ACP 1 has no such method for this side; names of one's own begin with _")
}

// result checks an answer against the protocol's schema.
func (w *editorWire) result(r *trace.Record, who string, a *openRequest, result, problem gjson.Result) {
	switch {
	case problem.Exists():
		if !problem.Get("code").Exists() || problem.Get("message").Type != gjson.String {
			w.c.fail(r.N, who, RuleJSONRPC, a.method, "an error has a code, which is a number, and a message")
		}
	case w.acp && a.method == "initialize" && result.Get("protocolVersion").Int() != 1:
		w.acp = false
		w.c.note("this is ACP %s, and the schema is that of ACP 1: only what JSON-RPC asks for is checked", result.Get("protocolVersion").Raw)
	case w.acp && !strings.HasPrefix(a.method, "_"):
		w.c.schema(r, who, a.method, docACP, w.acpSchema(a.who, a.method, "response"), result, "result")
	}
}
