package transport

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

func TestRequestsV03(t *testing.T) {
	agent := newWireAgent(t, wireAnswer(200, "application/json", `{"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t","status":{"state":"working"}}}`))
	c := wireClient(t, agent.URL, &ClientOptions{Header: http.Header{"Authorization": {"Bearer s3cret"}}, UserAgent: "a2astdio/test"})
	c.Activate([]string{"https://e.example/a/v1", "https://e.example/b/v1"})
	m := &a2a.Outgoing{
		ID: "m1", TaskID: "t", ContextID: "c", ReferenceTaskIDs: []string{"t0"},
		Parts: []a2a.OutPart{
			{Text: "a < b"},
			{Data: json.RawMessage(`{"k":1}`)},
			{Data: json.RawMessage(`[1]`)},
			{File: &a2a.File{Name: "f", MediaType: "text/plain", Bytes: "aGk="}},
			{File: &a2a.File{URI: "file:///f"}},
		},
		Metadata:            map[string]json.RawMessage{"https://e.example/a/v1": json.RawMessage(`{"x":1}`)},
		Extensions:          []string{"https://e.example/a/v1"},
		AcceptedOutputModes: []string{"text/plain"},
	}
	s, err := c.Send(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	if _, err := c.Get(t.Context(), "t", -1); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(t.Context(), "t", 0); err != nil {
		t.Fatal(err)
	}
	if ev, err := c.Cancel(t.Context(), "t"); err != nil || ev.Kind != a2a.EventTask || ev.TaskID != "t" {
		t.Fatal(ev, err)
	}
	if s, err = c.Resubscribe(t.Context(), "t", ""); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if _, raw, err := c.Call(t.Context(), Call{Method: "commands/get", Params: json.RawMessage(`{"a":1}`)}); err != nil || !strings.Contains(string(raw), `"working"`) {
		t.Fatal(string(raw), err)
	}
	if s, raw, err := c.Call(t.Context(), Call{Method: "command/execute", Long: true}); s != nil || err != nil || len(raw) == 0 {
		t.Fatal(s, string(raw), err)
	}
	want := []string{
		`{"jsonrpc":"2.0","id":1,"method":"message/stream","params":{"message":{"kind":"message","messageId":"m1","role":"user","contextId":"c","taskId":"t","referenceTaskIds":["t0"],"parts":[{"kind":"text","text":"a < b"},{"kind":"data","data":{"k":1}},{"kind":"data","data":{"value":[1]},"metadata":{"data_part_compat":true}},{"kind":"file","file":{"name":"f","mimeType":"text/plain","bytes":"aGk="}},{"kind":"file","file":{"uri":"file:///f"}}],"metadata":{"https://e.example/a/v1":{"x":1}},"extensions":["https://e.example/a/v1"]},"configuration":{"acceptedOutputModes":["text/plain"]}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tasks/get","params":{"id":"t"}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tasks/get","params":{"id":"t","historyLength":0}}`,
		`{"jsonrpc":"2.0","id":4,"method":"tasks/cancel","params":{"id":"t"}}`,
		`{"jsonrpc":"2.0","id":5,"method":"tasks/resubscribe","params":{"id":"t"}}`,
		`{"jsonrpc":"2.0","id":6,"method":"commands/get","params":{"a":1}}`,
		`{"jsonrpc":"2.0","id":7,"method":"command/execute"}`,
	}
	for i, r := range agent.seen() {
		if r.Body != want[i] {
			t.Errorf("got  %s\nwant %s", r.Body, want[i])
		}
		if fmt.Sprint(r.Header["X-A2a-Extensions"]) != "[https://e.example/a/v1 https://e.example/b/v1]" ||
			r.Header.Get("Authorization") != "Bearer s3cret" || r.Header.Get("User-Agent") != "a2astdio/test" ||
			r.Header.Get("Content-Type") != "application/json" || r.Header.Get("Accept-Encoding") != "" {
			t.Errorf("%s: headers %v", r.Method, r.Header)
		}
		if stream := strings.Contains(r.Header.Get("Accept"), "text/event-stream"); stream != (i == 0 || i == 4 || i == 6) {
			t.Errorf("%s: Accept %q", r.Method, r.Header.Get("Accept"))
		}
	}
}

func TestRequestsV1(t *testing.T) {
	agent := newWireAgent(t, wireAnswer(200, "application/json", `{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t","status":{"state":"TASK_STATE_WORKING"}}}}`))
	agent.card = `{"name":"Test","url":"%[1]s/old","protocolVersion":"0.3.0","supportedInterfaces":[{"url":"%[1]s/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.1","tenant":"x"}]}`
	c := wireClient(t, agent.URL, nil)
	c.Activate([]string{"https://e.example/a/v1", "https://e.example/b/v1"})
	s, err := c.Send(t.Context(), &a2a.Outgoing{
		ID: "m1", TaskID: "t", ContextID: "c", ReferenceTaskIDs: []string{"t0"},
		Parts: []a2a.OutPart{
			{Text: "a"},
			{Data: json.RawMessage(`[1]`)},
			{File: &a2a.File{Name: "f", MediaType: "text/plain", Bytes: "aGk="}},
			{File: &a2a.File{URI: "file:///f"}},
			{File: &a2a.File{Name: "empty"}},
			{},
		},
		Metadata:            map[string]json.RawMessage{"k": json.RawMessage(`{"x":1}`)},
		Extensions:          []string{"https://e.example/a/v1"},
		AcceptedOutputModes: []string{"text/plain"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if events, err := wireReadAll(s); fmt.Sprint(events) != "[1 working]" || err != io.EOF {
		t.Error(events, err)
	}
	for _, call := range []func() error{
		func() error { _, err := c.Get(t.Context(), "t", 3); return err },
		func() error { _, err := c.Cancel(t.Context(), "t"); return err },
		func() error { _, err := c.Resubscribe(t.Context(), "t", ""); return err },
	} {
		if err := call(); err != nil {
			t.Error(err)
		}
	}
	want := []string{
		`{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{"tenant":"x","message":{"messageId":"m1","role":"ROLE_USER","contextId":"c","taskId":"t","referenceTaskIds":["t0"],"parts":[{"text":"a"},{"data":[1]},{"raw":"aGk=","filename":"f","mediaType":"text/plain"},{"url":"file:///f"},{"raw":"","filename":"empty"},{"text":""}],"metadata":{"k":{"x":1}},"extensions":["https://e.example/a/v1"]},"configuration":{"acceptedOutputModes":["text/plain"]}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"GetTask","params":{"tenant":"x","id":"t","historyLength":3}}`,
		`{"jsonrpc":"2.0","id":3,"method":"CancelTask","params":{"tenant":"x","id":"t"}}`,
		`{"jsonrpc":"2.0","id":4,"method":"SubscribeToTask","params":{"tenant":"x","id":"t"}}`,
	}
	for i, r := range agent.seen() {
		if r.Body != want[i] {
			t.Errorf("got  %s\nwant %s", r.Body, want[i])
		}
		if fmt.Sprint(r.Header["A2a-Extensions"]) != "[https://e.example/a/v1 https://e.example/b/v1]" || fmt.Sprint(r.Header["A2a-Version"]) != "[1.0]" {
			t.Errorf("%s: headers %v", r.Method, r.Header)
		}
	}
}

// "No result and no error" is success: a2a-go says so when it has deleted.
func TestCallWithoutResult(t *testing.T) {
	for _, body := range []string{`{"jsonrpc":"2.0","id":"r2"}`, `{"jsonrpc":"2.0","id":1,"result":null}`, `{"jsonrpc":"2.0","id":1,"result":null,"error":null}`} {
		agent := newWireAgent(t, wireAnswer(200, "application/json", body))
		_, raw, err := wireClient(t, agent.URL, nil).Call(t.Context(), Call{Method: "x/y"})
		if string(raw) != "null" || err != nil {
			t.Errorf("%s: %s, %v", body, raw, err)
		}
	}
}

func TestOutgoingRefused(t *testing.T) {
	agent := newWireAgent(t, wireSSE(""))
	c := wireClient(t, agent.URL, nil)
	for _, m := range []*a2a.Outgoing{
		{Parts: []a2a.OutPart{{Text: "x"}}},
		{ID: "m"},
		{ID: "m", Parts: []a2a.OutPart{{Text: "x", Data: json.RawMessage("{}")}}},
		{ID: "m", Parts: []a2a.OutPart{{Data: json.RawMessage("{")}}},
		{ID: "m", Parts: []a2a.OutPart{{File: &a2a.File{Bytes: "a", URI: "b"}}}},
		{ID: "m", Parts: []a2a.OutPart{{Text: "x"}}, Metadata: map[string]json.RawMessage{"k": json.RawMessage("{")}},
	} {
		if _, err := c.Send(t.Context(), m); err == nil || !strings.HasPrefix(err.Error(), "agent: ") {
			t.Errorf("%+v: %v", m, err)
		}
	}
	if n := len(agent.seen()); n != 0 {
		t.Errorf("%d requests", n)
	}
}
