package check

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/trace"
)

// TestLegal: what the protocols allow is no finding, however odd it looks; what only looks like it is one.
func TestLegal(t *testing.T) {
	const card = `{"name":"a","description":"an agent","version":"1","supportedInterfaces":[{"url":"http://h/","protocolBinding":"JSONRPC","protocolVersion":"1.0"},` +
		`{"url":"wss://h/socket","protocolBinding":"WEBSOCKET","protocolVersion":"1.0"}],"capabilities":{"streaming":true},"defaultInputModes":["text/plain"],` +
		`"defaultOutputModes":["text/plain"],"skills":[{"id":"s","name":"s","description":"s","tags":["s"]}]}`
	const message = `"message":{"messageId":"m","taskId":"over","role":"ROLE_USER","parts":[{"text":"x"}]}`
	type call struct{ verb, url, version, request, answer string }
	for _, test := range []struct {
		name, want string
		calls      []call
	}{
		{"an ID whose letters are escaped", "", []call{{"POST", "http://h/", "1.0", `{"jsonrpc":"2.0","id":"a/é","method":"GetTask","params":{"id":"t"}}`, `{"jsonrpc":"2.0","id":"a\/\u00e9","error":{"code":-32001,"message":"no"}}`}}},
		{"the version as a parameter", "", []call{{"POST", "http://h/?A2A-Version=1.0", "", `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t"}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"no"}}`}}},
		{"colons in a task's ID", "", []call{
			{"GET", "http://h/tasks/urn:task:1", "1.0", "", `{"id":"urn:task:1","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}`},
			{"POST", "http://h/tasks/urn:task:1:cancel", "1.0", `{}`, `{"id":"urn:task:1","contextId":"c","status":{"state":"TASK_STATE_CANCELED"}}`}}},
		{"a binding of the agent's own", "", []call{{"GET", "http://h/.well-known/agent-card.json", "", "", card}}},
		{"an answer in an encoding", "", []call{{"POST", "http://h/", "1.0", `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t"}}`, ""}}},
		{"a task that has ended takes no message", "", []call{{"GET", "http://h/.well-known/agent-card.json", "", "", card},
			{"POST", "http://h/", "1.0", `{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{` + message + `}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32004,"message":"it is over"}}`}}},
		{"a task that waits takes one", "claim: SendStreamingMessage: missing", []call{{"GET", "http://h/.well-known/agent-card.json", "", "", card},
			{"POST", "http://h/", "1.0", `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{` + strings.Replace(message, `"taskId":"over",`, "", 1) + `}}`,
				`{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"over","contextId":"c","status":{"state":"TASK_STATE_INPUT_REQUIRED","message":{"messageId":"q","role":"ROLE_AGENT","parts":[{"text":"y"}]}}}}}`},
			{"POST", "http://h/", "1.0", `{"jsonrpc":"2.0","id":2,"method":"SendStreamingMessage","params":{` + message + `}}`, `{"jsonrpc":"2.0","id":2,"error":{"code":-32004,"message":"no"}}`}}},
		{"JSON-RPC 2.0", "must be JSONRPC", []call{{"GET", "http://h/.well-known/agent-card.json", "", "", strings.Replace(card, "WEBSOCKET", "JSON-RPC 2.0", 1)}}},
		{"HTTP+JSON/REST", "must be JSONRPC", []call{{"GET", "http://h/.well-known/agent-card.json", "", "", strings.Replace(card, "WEBSOCKET", "HTTP+JSON/REST", 1)}}},
	} {
		var found []string
		c := New(&Options{Report: func(f *Finding) { found = append(found, f.String()) }})
		for i, call := range test.calls {
			header := map[string][]string{}
			if call.version != "" {
				header["A2a-Version"] = []string{call.version}
			}
			method := ""
			if _, rest, ok := strings.Cut(call.request, `"method":"`); ok {
				method, _, _ = strings.Cut(rest, `"`)
			}
			response, body := trace.Record{Kind: trace.KindResponse, Status: 200}, trace.Record{Kind: trace.KindBody, JSON: json.RawMessage(call.answer)}
			if call.answer == "" {
				response.Header, body = map[string][]string{"Content-Encoding": {"gzip"}}, trace.Record{Kind: trace.KindBody, Text: "***"}
			}
			for _, r := range []trace.Record{{Kind: trace.KindRequest, HTTP: call.verb, URL: call.url, Header: header, Method: method, JSON: json.RawMessage(call.request)},
				response, body, {Kind: trace.KindEnd, Reason: trace.EndDone}} {
				r.Exchange = int64(i + 1)
				c.Add(&r)
			}
		}
		if got := strings.Join(found, "\n"); (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s: %s", test.name, got)
		}
	}
	if got := talk(send10 + task10 + status10("COMPLETED") + strings.Replace(task10, "SUBMITTED", "COMPLETED", 1) + ended); got != "" {
		t.Errorf("the task once more behind its end: %s", got)
	}
	for _, time := range []string{"2026-11-27T12:00Z", "2026-11-27T12:00:00,5Z", "20261127T120000Z", "2026-11-27T12:00:00+0000", "2026-11-27T12:00:00+00"} {
		if got := talk(send03 + strings.Replace(status03("completed", true), `"state"`, `"timestamp":"`+time+`","state"`, 1) + ended); got != "" {
			t.Errorf("%s: %s", time, got)
		}
	}
}
