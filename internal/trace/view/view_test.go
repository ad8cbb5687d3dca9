package view

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/internal/trace"
)

// lines makes items and spans of records, given as their members.
func lines(t *testing.T, records ...string) ([]Item, *Builder) {
	t.Helper()
	var b strings.Builder
	for i, r := range append([]string{`"wire":"bridge","kind":"start","format":2,"run":"r","part":1,"limit":1`}, records...) {
		fmt.Fprintf(&b, `{"n":%d,"t":"2026-01-02T03:04:05Z","us":%d,%s}`+"\n", i+1, i*1000, r)
	}
	reader := must.Get(trace.NewReader(bytes.NewReader([]byte(b.String()))))(t)
	build := NewBuilder()
	var all []Item
	for {
		r, err := reader.Next()
		if err == io.EOF {
			return all[1:], build
		}
		if err != nil {
			t.Fatal(err)
		}
		it := Of(r)
		build.Add(&it)
		all = append(all, it)
	}
}

// TestOf: each kind of record says in a line who said what to whom.
func TestOf(t *testing.T) {
	const in, out = `"wire":"editor","dir":"in","kind":"message","json":`, `"wire":"editor","dir":"out","kind":"message","json":`
	const event = `"wire":"agent","dir":"in","kind":"event","x":1,"e":1,"json":`
	for _, test := range []struct{ record, want string }{
		{in + `{"id":0,"method":"initialize","params":{"protocolVersion":1,"clientInfo":{"name":"zed","version":"1"}}}`, `editor>bridge request initialize: version 1 zed 1`},
		{`"method":"initialize",` + out + `{"id":0,"result":{"protocolVersion":1,"agentInfo":{"name":"a"}}}`, `bridge>editor reply initialize: version 1 a`},
		{in + `{"id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"fix it"},{"type":"resource_link","uri":"file:///a"}]}}`, `editor>bridge request session/prompt: fix it[file:///a] (s)`},
		{out + `{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"I\nsee"}}}}`, `bridge>editor notification agent_message_chunk: I see (s)`},
		{out + `{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c1","title":"ls","status":"pending"}}}`, `bridge>editor notification tool_call: pending ls (s) [c1 pending]`},
		{out + `{"id":1,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c1","title":"ls"}}}`, `bridge>editor request session/request_permission: ls (s) [c1 ] ask`},
		{`"method":"session/request_permission",` + in + `{"id":1,"result":{"outcome":{"outcome":"selected","optionId":"yes"}}}`, `editor>bridge reply session/request_permission: selected yes ask`},
		{`"method":"session/prompt",` + out + `{"id":1,"error":{"code":-32603,"message":"x","data":{"details":"why"}}}`, `bridge>editor reply session/prompt: error -32603: x: why BAD`},
		{in + `{"id":1,"method":"tools/call","params":{"name":"wait_task","arguments":{"handle":"h"}}}`, `editor>bridge request tools/call: wait_task {"handle":"h"}`},
		{`"method":"tools/call",` + out + `{"id":1,"result":{"content":[{"type":"text","text":"state: working"},{"type":"resource_link","uri":"a2a://h/a","name":"a"}]}}`, `bridge>editor reply tools/call: state: working[a]`},
		{out + `{"id":2,"method":"elicitation/create","params":{"message":"May it?","requestedSchema":{}}}`, `bridge>editor request elicitation/create: May it?`},
		{`"method":"elicitation/create",` + in + `{"id":2,"result":{"action":"accept","content":{"choice":"yes"}}}`, `editor>bridge reply elicitation/create: accept`},
		{out + `{"method":"event/connection","params":{"phase":"lost"}}`, `bridge>editor notification event/connection: lost reconnect`},
		{in + `[{"id":1,"method":"a"}]`, `editor>bridge note batch: [{"id":1,"method":"a"}]`},
		{`"wire":"editor","dir":"in","kind":"message","text":"hello"`, `editor>bridge note no JSON: hello BAD`},
		{`"wire":"agent","dir":"out","kind":"request","x":1,"method":"message/stream","http":"POST","url":"http://h/","json":{"id":1,"params":{"message":{"taskId":"t","parts":[{"data":{"tool_call_id":"c1","selected_option_id":"yes"}}]}}}`, `bridge>agent request message/stream: answer: yes <t> [c1 ] ask`},
		{`"wire":"agent","dir":"out","kind":"request","x":1,"http":"GET","url":"http://h/a?b"`, `bridge>agent request GET /a?b: `},
		{`"wire":"agent","dir":"in","kind":"response","x":1,"status":503`, `agent>bridge http HTTP 503:  BAD`},
		{event + `{"id":1,"result":{"kind":"status-update","taskId":"t","status":{"state":"working","message":{"parts":[{"kind":"text","text":"hi"}]}}}}`, `agent>bridge event status: working: hi <t>`},
		{event + `{"id":1,"result":{"statusUpdate":{"taskId":"t","status":{"state":"TASK_STATE_INPUT_REQUIRED"}}}}`, `agent>bridge event status: input-required <t> ask`},
		{event + `{"id":1,"result":{"artifactUpdate":{"taskId":"t","artifact":{"parts":[{"text":"x"}]}}}}`, `agent>bridge event artifact: x <t>`},
		{event + `{"id":1,"result":{"task":{"id":"t","status":{"state":"TASK_STATE_FAILED"}}}}`, `agent>bridge event task: failed <t> BAD`},
		{event + `{"statusUpdate":{"taskId":"t","status":{"state":"TASK_STATE_WORKING","message":{"parts":[{"data":{"tool_call_id":"c","tool_name":"n","status":"PENDING"}}]}}}}`, `agent>bridge event status: working: PENDING n <t> [c PENDING]`},
		{event + `{"result":{"kind":"status-update","taskId":"t","status":{"state":"working","message":{"parts":[{"data":{"request":{"callId":"c","name":"n"},"status":"success"}}]}}}}`, `agent>bridge event status: working: success n <t> [c success]`},
		{event + `{"id":1,"error":{"code":-32001,"message":"no"}}`, `agent>bridge event error: -32001 no BAD`},
		{`"wire":"agent","dir":"in","kind":"event","x":1,"comment":": ping"`, `agent>bridge event comment: : ping`},
		{`"wire":"agent","dir":"in","kind":"end","x":1,"reason":"cut","error":"reset"`, `agent>bridge http end: cut: reset BAD cut`},
		{`"wire":"agent","dir":"in","kind":"end","x":1,"reason":"closed"`, `bridge>agent http end: closed: `},
		{`"wire":"bridge","kind":"decision","what":"answer","outcome":"allow_once","option":"yes","by":"user","call":"c"`, `> decision answer: allowed once by the user (yes) [c ] ask`},
		{`"wire":"moon","kind":"eclipse"`, `> note eclipse: `},
	} {
		all, _ := lines(t, test.record)
		it := all[0]
		lanes := map[string]string{LaneEditor: "editor", LaneBridge: "bridge", LaneAgent: "agent"}
		got := fmt.Sprintf("%s>%s %s %s: %s", lanes[it.From], lanes[it.To], it.Type, it.Name, it.Text)
		if it.Session != "" {
			got += " (" + it.Session + ")"
		}
		if it.Task != "" {
			got += " <" + it.Task + ">"
		}
		for _, c := range it.Calls {
			got += " [" + c.ID + " " + c.Status + "]"
		}
		if it.Bad {
			got += " BAD"
		}
		if it.Mark != "" {
			got += " " + it.Mark
		}
		if got != test.want {
			t.Errorf("%s\n is %s\nwant %s", test.record, got, test.want)
		}
	}
}

// TestSpans: a turn, its legs, a tool call, the user's answer and a lost connection
// are found, each with its beginning and its end.
func TestSpans(t *testing.T) {
	const in, out = `"wire":"editor","dir":"in","kind":"message",`, `"wire":"editor","dir":"out","kind":"message",`
	_, b := lines(t,
		in+`"id":2,"method":"session/prompt","json":{"id":2,"method":"session/prompt","params":{"sessionId":"s"}}`,
		`"wire":"agent","dir":"out","kind":"request","x":1,"id":1,"method":"message/stream","http":"POST","url":"http://h/"`,
		`"wire":"agent","dir":"in","kind":"event","x":1,"e":1,"json":{"result":{"kind":"task","id":"t","status":{"state":"submitted"}}}`,
		out+`"json":{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"ls","status":"pending"}}}`,
		out+`"id":1,"method":"session/request_permission","json":{"id":1,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c","title":"ls"}}}`,
		`"wire":"agent","dir":"in","kind":"end","x":1,"reason":"cut"`,
		in+`"id":1,"method":"session/request_permission","json":{"id":1,"result":{"outcome":{"outcome":"selected","optionId":"yes"}}}`,
		`"wire":"agent","dir":"out","kind":"request","x":2,"id":2,"method":"tasks/resubscribe","http":"POST","url":"http://h/"`,
		`"wire":"agent","dir":"in","kind":"event","x":2,"e":1,"json":{"result":{"kind":"task","id":"t","status":{"state":"working"}}}`,
		out+`"json":{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"}}}`,
		`"wire":"agent","dir":"in","kind":"end","x":2,"reason":"done"`,
		out+`"id":2,"method":"session/prompt","json":{"id":2,"result":{"stopReason":"end_turn"}}`,
	)
	var got []string
	for _, s := range b.Spans {
		got = append(got, fmt.Sprintf("%s %s %d-%d in %d: %s %v", s.Kind, s.Name, s.First, s.Last, s.Parent, s.Status, s.Bad))
	}
	want := strings.Join([]string{
		"turn session/prompt 2-13 in -1: end_turn false",
		"leg message/stream 3-7 in 0: cut true",
		"call ls 5-11 in 0: completed false",
		"approval ls 6-8 in 0: selected yes false",
		"reconnect no connection 7-10 in 0: connected false",
		"leg tasks/resubscribe 9-12 in 0: done false",
	}, "\n")
	if strings.Join(got, "\n") != want {
		t.Errorf("the spans are\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}

// TestSpansAlone: without an editor the agent's requests are the turns.
func TestSpansAlone(t *testing.T) {
	_, b := lines(t,
		`"wire":"agent","dir":"out","kind":"request","x":1,"id":1,"method":"SendStreamingMessage","http":"POST","url":"http://h/"`,
		`"wire":"agent","dir":"in","kind":"event","x":1,"e":1,"json":{"result":{"statusUpdate":{"taskId":"t","status":{"state":"TASK_STATE_WORKING","message":{"parts":[{"data":{"tool_call_id":"c","tool_name":"n","status":"PENDING","confirmation_request":{}}}]}}}}}`,
		`"wire":"agent","dir":"in","kind":"event","x":1,"e":2,"json":{"result":{"statusUpdate":{"taskId":"t","status":{"state":"TASK_STATE_INPUT_REQUIRED"}}}}`,
		`"wire":"agent","dir":"in","kind":"end","x":1,"reason":"done"`,
		`"wire":"agent","dir":"out","kind":"request","x":2,"id":2,"method":"SendStreamingMessage","http":"POST","url":"http://h/","json":{"params":{"message":{"taskId":"t","parts":[{"data":{"tool_call_id":"c","selected_option_id":"yes"}}]}}}`,
		`"wire":"agent","dir":"in","kind":"event","x":2,"e":1,"json":{"result":{"statusUpdate":{"taskId":"t","status":{"state":"TASK_STATE_COMPLETED","message":{"parts":[{"data":{"tool_call_id":"c","tool_name":"n","status":"SUCCEEDED"}}]}}}}}`,
		`"wire":"agent","dir":"in","kind":"end","x":2,"reason":"done"`,
	)
	var got []string
	for _, s := range b.Spans {
		got = append(got, fmt.Sprintf("%s %d-%d %s", s.Kind, s.First, s.Last, s.Status))
	}
	if want := "turn 2-5 input-required, leg 2-5 done, call 3-7 completed, approval 3-6 yes, turn 6-8 completed, leg 6-8 done"; strings.Join(got, ", ") != want {
		t.Errorf("the spans are %s, want %s", strings.Join(got, ", "), want)
	}
}

// TestResumed: a prompt is one turn, however often its task was followed again.
func TestResumed(t *testing.T) {
	b := NewBuilder()
	n := int64(0)
	add := func(r trace.Record) {
		n++
		r.N, r.Micros, r.Wire = n, n*1000, trace.WireAgent
		it := Of(&r)
		b.Add(&it)
	}
	leg := func(x int64, http, url, method, params, state, reason string) {
		add(trace.Record{Kind: trace.KindRequest, Exchange: x, HTTP: http, URL: url, Method: method, JSON: []byte(`{"method":"` + method + `","params":` + params + `}`)})
		add(trace.Record{Kind: trace.KindEvent, Exchange: x, Event: 1, JSON: []byte(`{"result":{"statusUpdate":{"taskId":"t","status":{"state":"TASK_STATE_` + state + `"}}}}`)})
		add(trace.Record{Kind: trace.KindEnd, Exchange: x, Reason: reason})
	}
	leg(1, "POST", "http://h/", "SendStreamingMessage", `{"message":{"parts":[{"text":"hello"}]}}`, "WORKING", trace.EndCut)
	leg(2, "POST", "http://h/", "SubscribeToTask", `{"id":"t"}`, "WORKING", trace.EndCut)
	leg(3, "POST", "http://h/tasks/t:subscribe", "", `{}`, "COMPLETED", trace.EndDone)
	leg(4, "POST", "http://h/", "SendStreamingMessage", `{"message":{"parts":[{"text":"more"}]}}`, "COMPLETED", trace.EndDone)
	var turns []Span
	for _, s := range b.Spans {
		if s.Kind == SpanTurn {
			turns = append(turns, s)
		}
	}
	if len(turns) != 2 || turns[0].Status != "completed" || turns[0].Bad || turns[0].Last != 9 {
		t.Errorf("the turns are %+v", turns)
	}
}
