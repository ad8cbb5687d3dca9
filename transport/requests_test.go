package transport

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A wordOp is an operation as it is to be spelled.
type wordOp struct {
	name string
	op   *operation
}

func wordOps() []wordOp {
	of, bad := aCall, map[string]json.RawMessage{"k": json.RawMessage(`{`)}
	sends := func(m a2a.Outgoing) *operation {
		m.ID = "m"
		return of(opStream, func(c *operation) { c.message = &m })
	}
	names := func(id string) *operation { return of(opCancel, func(c *operation) { c.taskID = id }) }
	meta := func(c *operation) { c.metadata = map[string]json.RawMessage{"k": []byte(`1`)} }
	history := 0
	message := &a2a.Outgoing{ID: "m", TaskID: "t", ContextID: "c", ReferenceTaskIDs: []string{"t0"}, AcceptedOutputModes: []string{"text/plain"},
		Parts: []a2a.OutPart{
			{Text: "a <\"\u2028\x01", Metadata: []byte(`{"k":1}`)},
			{Data: []byte(`{"k":1}`)}, {Data: []byte(`[1]`), Metadata: []byte(` { "k" : 1 } `)}, {Data: []byte(`7`)},
			{File: &a2a.File{Name: "f", MediaType: "text/plain", Bytes: "eA=="}}, {File: &a2a.File{URI: "file:///f"}}, {File: &a2a.File{Name: "empty"}}, {},
		},
		Push: &a2a.PushConfig{ID: "p", URL: "https://me.example/", Token: "s",
			Authentication: &a2a.PushAuthentication{Scheme: "Bearer", Credentials: "b"}},
		HistoryLength: &history, Metadata: map[string]json.RawMessage{"k": []byte(`{"x":1}`)}, RequestMetadata: map[string]json.RawMessage{"r": []byte("2")},
		Extensions: []string{"https://e.example/a/v1"}}
	little := &a2a.Outgoing{ID: "m", Parts: []a2a.OutPart{{Text: "hi"}}}
	query := &a2a.TaskQuery{ContextID: "c d", State: a2a.StateCanceled, PageSize: 5, PageToken: "a+b=", HistoryLength: &history, StatusAfter: "2026", IncludeArtifacts: true}
	return []wordOp{
		{"send and wait", of(opSend, func(c *operation) { c.message, c.blocking = message, true })},
		{"send", of(opSend, func(c *operation) { c.message = little })},
		{"stream", of(opStream, func(c *operation) { c.message = message })},
		{"stream little", of(opStream, func(c *operation) { c.message = little })},
		{"get", of(opGet, nil)},
		{"get with a history", of(opGet, func(c *operation) { c.history = 0 })},
		{"cancel", of(opCancel, nil)},
		{"subscribe", of(opSubscribe, nil)},
		{"get with metadata", of(opGet, meta)},
		{"cancel with metadata", of(opCancel, meta)},
		{"subscribe with metadata", of(opSubscribe, meta)},
		{"list", of(opList, func(c *operation) { c.query = &a2a.TaskQuery{} })},
		{"list some", of(opList, func(c *operation) { c.query = query })},
		{"set push", of(opSetPush, func(c *operation) { push := *message.Push; push.TaskID, c.push = "t/1", &push })},
		{"set little", of(opSetPush, func(c *operation) { c.push = &a2a.PushConfig{TaskID: "t/1", URL: "u"} })},
		{"get push", of(opGetPush, nil)},
		{"list push", of(opListPush, func(c *operation) { c.pushID = "" })},
		{"delete push", of(opDeletePush, nil)},
		{"delete no push", of(opDeletePush, func(c *operation) { c.pushID = "" })},
		{"list by no state", of(opList, func(c *operation) { c.query = &a2a.TaskQuery{State: "dreaming"} })},
		{"list by the unknown state", of(opList, func(c *operation) { c.query = &a2a.TaskQuery{State: a2a.StateUnknown} })},
		{"no parts", sends(a2a.Outgoing{})},
		{"metadata that is not JSON", sends(a2a.Outgoing{Parts: little.Parts, Metadata: bad})},
		{"request metadata that is not JSON", sends(a2a.Outgoing{Parts: little.Parts, RequestMetadata: bad})},
		{"data that is not JSON", sends(a2a.Outgoing{Parts: []a2a.OutPart{{Data: json.RawMessage(`{"a":`)}}})},
		// IDs that would change the path are refused or escaped.
		{"no ID", names("")}, {"an ID that is a dot", names(".")}, {"two dots", names("..")}, {"a path", names("../../admin")},
		{"a query", names("a?b#c")}, {"an operation", names("x:cancel")}, {"other letters", names("日本")}, {"escapes", names("a b%2e")},
		{"card", of(opExtendedCard, nil)},
		{"a method of theirs", of(opMethod, func(c *operation) { c.method, c.params = "commands/get", json.RawMessage(`{"a":1}`) })},
		{"a path", of(opMethod, func(c *operation) { c.path = "/commands" })},
	}
}

// Each operation, as each version has it over each binding.
func TestRequests(t *testing.T) {
	base, _ := url.Parse("http://agent.example/base/?key=k")
	var got strings.Builder
	for _, word := range wordOps() {
		fmt.Fprintf(&got, "## %s\n", word.name)
		for _, p := range []protocol{{v03: true}, {tenant: "acme"}} {
			for _, kind := range bindings() {
				p.proto, word.op.id = p.v03 && kind.proto, 1
				r, err := word.op.spell(way{protocol: p, kind: kind})
				if err != nil {
					fmt.Fprintf(&got, "%s %s: %v\n", p.name(), kind.option, err)
					continue
				}
				if len(r.body) > 0 && !json.Valid(r.body) {
					t.Errorf("%s: not JSON: %s", word.name, r.body)
				}
				fmt.Fprintf(&got, "%s %s: %s %s %s\n", p.name(), kind.option, r.verb, r.below(base).RequestURI(), r.body)
			}
		}
	}
	must.Golden(t, *update, "testdata/requests.golden", got.String())
}

// TestTraceContext: a parent is sent, with its state. An invalid parent is
// not sent, nor its state.
func TestTraceContext(t *testing.T) {
	rows := must.Table[struct{ Parent, State, Sent string }](t, "testdata/trace-context.txt")
	rows = append(rows, struct{ Parent, State, Sent string }{rows[0].Parent, "a=" + strings.Repeat("b", 1024), "parent"})
	for _, row := range rows {
		want, got := http.Header{}, http.Header{}
		if row.Sent != "" {
			want.Set("Traceparent", row.Parent)
		}
		if row.Sent == "both" {
			want.Set("Tracestate", row.State)
		}
		setTrace(got, a2a.TraceContext{Parent: row.Parent, State: row.State})
		must.Equal(t, got, want)
	}
}
