package check

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/trace"
)

// params checks a request or notification against the protocol's schema.
func (w *editorWire) params(r *trace.Record, who, method string, doc gjson.Result) {
	switch {
	case w.protocol == speaksACP && !strings.HasPrefix(method, "_"):
		side := "agent"
		if who == Bridge {
			side = "client"
		}
		methods := w.c.schemas.get(docACP).methods
		name := methods[side+" "+method+" request"]
		if name == "" {
			name = methods["protocol "+method+" request"]
		}
		if name == "" {
			w.c.find(r.N, who, RuleSchema, method, "ACP 1 has no such method for this side; names of one's own begin with _")
			return
		}
		w.c.schema(r, who, named(method, doc), docACP, name, speaksACP, doc.Get("params"), "params")
	case w.protocol == speaksLines && who == Bridge:
		w.c.schema(r, who, method, docLines, "event", speaksLines, doc, "")
	}
}

// named names a method, with the kind of its update.
func named(method string, doc gjson.Result) string {
	if kind := doc.Get("params.update.sessionUpdate").Str; kind != "" {
		return method + " " + kind
	}
	return method
}

// result checks an answer against the protocol's schema.
func (w *editorWire) result(r *trace.Record, who string, a *asked, result, problem gjson.Result) {
	switch {
	case problem.Exists():
		if !problem.Get("code").Exists() || problem.Get("message").Type != gjson.String {
			w.c.find(r.N, who, RuleJSONRPC, a.method, "an error has a code, which is a number, and a message")
		}
	case w.protocol == speaksACP && !strings.HasPrefix(a.method, "_"):
		side := "agent"
		if who == Editor {
			side = "client"
		}
		if a.method == "initialize" && result.Get("protocolVersion").Int() != 1 {
			w.protocol = fmt.Sprintf("ACP %s", result.Get("protocolVersion").Raw)
			w.c.note("this is %s, and the schema is that of ACP 1: only what JSON-RPC asks for is checked", w.protocol)
			return
		}
		if name := w.c.schemas.get(docACP).methods[side+" "+a.method+" response"]; name != "" {
			w.c.schema(r, who, a.method, docACP, name, speaksACP, result, "result")
		}
	case w.protocol == speaksLines && who == Bridge && (operationOf(a.method).result == "Event" || a.method == "toolCall/confirm" || a.method == "command/execute"):
		w.c.schema(r, who, a.method, docLines, "legResult", speaksLines, result, "result")
	}
}
