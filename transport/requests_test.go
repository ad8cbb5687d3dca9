package transport

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// TestRequests: each operation of testdata/requests.txt, as each version has it over each binding.
func TestRequests(t *testing.T) {
	const file = "testdata/requests.txt"
	base, _ := url.Parse("http://agent.example/base/?key=k")
	cases := strings.Split(string(must.Get(os.ReadFile(file))(t)), "\n\n== ")
	for i, text := range cases[1:] {
		name, text, _ := strings.Cut(text, "\n")
		line, _, _ := strings.Cut(text, "\n")
		op, got := anOperation(t, line), name+"\n"+line
		for _, p := range []protocol{{v03: true}, {tenant: "acme"}} {
			for _, b := range bindings() {
				p.proto = p.v03 && b.proto
				got += fmt.Sprintf("\n= %s %s: ", p.name(), b.option)
				if r, err := op.spell(way{protocol: p, binding: b}); err != nil {
					got += err.Error()
				} else {
					got += fmt.Sprintf("%s %s %s", r.verb, r.below(base).RequestURI(), r.body)
					must.Equal(t, len(r.body) == 0 || json.Valid(r.body), true, name)
				}
			}
		}
		cases[i+1] = got
	}
	must.Golden(t, *update, file, strings.Join(cases, "\n\n== ")+"\n")
}

// anOperation reads a method of A2A 0.3, or a path, and members of the operation; $BAD is what is not JSON.
func anOperation(t *testing.T, line string) *operation {
	method, members, _ := strings.Cut(line, " ")
	op := newOperation(opMethod)
	op.method = method
	for _, s := range spellings() {
		if s.v03 == method {
			op = newOperation(s.kind)
		}
	}
	if strings.HasPrefix(method, "/") {
		op.path = method
	}
	m := struct {
		TaskID, PushID string
		History        int
		Message        *a2a.Outgoing
		Blocking       bool
		Metadata       map[string]json.RawMessage
		Query          *a2a.TaskQuery
		Push           *a2a.PushConfig
		Params         any
	}{TaskID: "t/1", PushID: "c:2", History: -1}
	must.Do(t, json.Unmarshal([]byte(cmp.Or(members, "{}")), &m))
	if m.Message != nil {
		for _, raw := range []json.RawMessage{m.Message.Metadata["k"], m.Message.RequestMetadata["k"], append(m.Message.Parts, a2a.OutPart{})[0].Data} {
			if string(raw) == `"$BAD"` {
				copy(raw, `{"k"::`)
			}
		}
	}
	op.id, op.taskID, op.pushID, op.history, op.message, op.blocking = 1, m.TaskID, m.PushID, m.History, m.Message, m.Blocking
	op.metadata, op.query, op.push, op.params = m.Metadata, m.Query, m.Push, m.Params
	return op
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
