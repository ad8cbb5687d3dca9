package check

import (
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/trace"
)

// An editorWire checks the editor's wire.
type editorWire struct {
	c        *Checker
	acp      bool // it speaks ACP 1
	open     map[string]*openRequest
	answered map[string]int64 // the records of answers
	sessions map[string]*session
	started  bool // the editor has sent something
	partial  bool // requests were not seen: what the trace begins with was moved aside, or there was a batch
}

// An openRequest has no answer yet. The keys of open and answered are who asks and the ID.
type openRequest struct {
	n        int64
	who      string
	method   string
	session  string
	options  []string // the options of a permission request
	canceled bool
}

// A session is ACP's.
type session struct {
	turns int             // open prompts and loads
	calls map[string]bool // nil: not all calls are known
}

func (w *editorWire) message(r *trace.Record) {
	doc, whole := w.c.payload(r)
	who := Editor
	if r.Dir == trace.DirOut {
		who = Bridge
	}
	switch {
	case doc.IsArray():
		w.partial = true
		w.c.note("batches of JSON-RPC are not checked")
		return
	case !doc.IsObject():
		w.c.fail(r.N, who, RuleJSONRPC, "", "the line is no JSON object")
		return
	}
	method, id := doc.Get("method").Str, doc.Get("id")
	w.detect(r, who, method, doc)
	if v := doc.Get("jsonrpc"); whole && v.Str != "2.0" {
		w.c.fail(r.N, who, RuleJSONRPC, method, `jsonrpc must be "2.0"`)
	}
	key := who + id.Raw
	switch {
	case method != "" && id.Exists():
		w.request(r, who, key, method, doc.Get("params"))
	case method != "":
		w.notification(r, who, method, doc.Get("params"))
	case !whole && r.Method != "" && w.open[peer(who)+string(r.ID)] == nil:
		return // the method is behind the recorded beginning
	default:
		if !whole {
			id = gjson.ParseBytes(r.ID)
		}
		w.reply(r, who, id, doc, whole)
		return
	}
	if whole {
		w.params(r, who, method, doc)
	}
}

// peer returns who is at the other end of the editor's wire.
func peer(who string) string {
	if who == Editor {
		return Bridge
	}
	return Editor
}

// detect finds out whether the editor speaks ACP, whose rules are checked.
func (w *editorWire) detect(r *trace.Record, who, method string, doc gjson.Result) {
	if w.started || who != Editor {
		return
	}
	w.started = true
	switch numbered := doc.Get("params.protocolVersion").Type == gjson.Number; {
	case w.partial:
		w.c.note("the trace has not the beginning of the editor's wire: only what JSON-RPC asks for is checked")
	case strings.HasPrefix(method, "session/"):
		w.acp = true
		w.c.fail(r.N, who, RuleOrder, method, "initialize must come first")
	case method == "initialize" && numbered:
		w.acp = true
	default: // such as MCP, whose versions are dates
		w.c.note("the editor's wire begins with %q, and is not ACP: only what JSON-RPC asks for is checked", method)
	}
}

func (w *editorWire) request(r *trace.Record, who, key, method string, params gjson.Result) {
	if before := w.open[key]; before != nil {
		w.c.fail(r.N, who, RuleJSONRPC, method, "the ID is that of a request that is not answered yet, in record %d", before.n)
	}
	if len(w.open) >= maxOpen {
		w.c.note("there are too many requests without an answer: the trace is not checked for them")
		return
	}
	a := &openRequest{n: r.N, who: who, method: method, session: params.Get("sessionId").Str}
	w.open[key] = a
	delete(w.answered, key)
	if who == Editor && a.session != "" {
		w.session(a.session) // it knows what it names: session/resume makes one known, too
	}
	switch method {
	case "session/prompt", "session/load":
		s := w.session(a.session)
		if s.turns++; method == "session/load" {
			s.calls = map[string]bool{}
		}
		w.c.words.begin(a.session, r.N)
	case "session/request_permission":
		if s := w.sessions[a.session]; s != nil {
			w.announce(s, params.Get("toolCall.toolCallId").Str) // as Gemini CLI does
		}
		params.Get("options").ForEach(func(_, o gjson.Result) bool {
			a.options = append(a.options, o.Get("optionId").Str)
			return true
		})
	}
}

// session returns the session of this ID, a new one if it is not known.
func (w *editorWire) session(id string) *session {
	s := w.sessions[id]
	if s == nil {
		if len(w.sessions) >= maxOpen {
			clear(w.sessions)
		}
		s = &session{}
		w.sessions[id] = s
	}
	return s
}

func (w *editorWire) notification(r *trace.Record, who, method string, params gjson.Result) {
	switch {
	case w.partial: // it may be about what began before
	case method == "session/update":
		w.update(r, who, params)
	case method == "session/cancel":
		for _, a := range w.open {
			a.canceled = a.canceled || a.session == params.Get("sessionId").Str
		}
	}
}

func (w *editorWire) reply(r *trace.Record, who string, id, doc gjson.Result, whole bool) {
	result, problem := doc.Get("result"), doc.Get("error")
	key := peer(who) + id.Raw
	a := w.open[key]
	switch {
	case a != nil:
	case problem.Exists() && id.Type == gjson.Null, w.partial:
		return // an unreadable request has no ID; or it is none that the trace has
	case w.answered[key] > 0:
		w.c.fail(r.N, who, RuleAnswered, r.Method, "the request %s was answered already, in record %d", id.Raw, w.answered[key])
		return
	default:
		w.c.fail(r.N, who, RuleAnswered, r.Method, "nobody has made the request %q that this answers", id.Raw)
		return
	}
	delete(w.open, key)
	if len(w.answered) >= maxOpen {
		clear(w.answered)
	}
	w.answered[key] = r.N
	if whole && result.Exists() == problem.Exists() {
		w.c.fail(r.N, who, RuleJSONRPC, a.method, "an answer has either a result or an error")
	}
	if whole {
		w.result(r, who, a, result, problem)
	}
	w.replied(r, a, doc)
}

// end reports the requests of a run that nobody has answered.
func (w *editorWire) end() {
	for _, a := range slices.SortedFunc(maps.Values(w.open), func(a, b *openRequest) int { return int(a.n - b.n) }) {
		w.c.fail(a.n, peer(a.who), RuleAnswered, a.method, "the request was not answered when the trace ended")
	}
	clear(w.open)
}
