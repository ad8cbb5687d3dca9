package check

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/trace"
)

// acpSchema returns the schema of a request or response of a method, by who asks.
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
	switch {
	case w.protocol == speaksACP && !strings.HasPrefix(method, "_"):
		what := strings.TrimSpace(method + " " + doc.Get("params.update.sessionUpdate").Str)
		if name := w.acpSchema(who, method, "request"); name != "" {
			w.c.schema(r, who, what, docACP, name, speaksACP, doc.Get("params"), "params")
			return
		}
		w.c.find(r.N, who, RuleSchema, method, "ACP 1 has no such method for this side; names of one's own begin with _")
	case w.protocol == speaksLines && who == Bridge:
		w.c.schema(r, who, method, docLines, "event", speaksLines, doc, "")
	}
}

// result checks an answer against the protocol's schema.
func (w *editorWire) result(r *trace.Record, who string, a *asked, result, problem gjson.Result) {
	switch {
	case problem.Exists():
		if !problem.Get("code").Exists() || problem.Get("message").Type != gjson.String {
			w.c.find(r.N, who, RuleJSONRPC, a.method, "an error has a code, which is a number, and a message")
		}
	case w.protocol == speaksACP && a.method == "initialize" && result.Get("protocolVersion").Int() != 1:
		w.protocol = fmt.Sprintf("ACP %s", result.Get("protocolVersion").Raw)
		w.c.note("this is %s, and the schema is that of ACP 1: only what JSON-RPC asks for is checked", w.protocol)
	case w.protocol == speaksACP && !strings.HasPrefix(a.method, "_"):
		w.c.schema(r, who, a.method, docACP, w.acpSchema(a.who, a.method, "response"), speaksACP, result, "result")
	case w.protocol == speaksLines && who == Bridge && isTurn(a.method):
		w.c.schema(r, who, a.method, docLines, "legResult", speaksLines, result, "result")
	}
}

// isTurn reports whether a request of A2A lines begins a turn.
func isTurn(method string) bool {
	return operationOf(method).result == "Event" || method == "toolCall/confirm" || method == "command/execute"
}
