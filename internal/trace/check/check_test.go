package check

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/internal/trace"
)

// parsed are the documents, for all tests.
var parsed = schemas{}

// talk turns a conversation into records: a line each of
//
//	E> JSON            from the editor
//	E< JSON            to the editor
//	A> X METHOD JSON   a request to the agent, exchange X, with these params
//	A< X JSON          an event of its stream, with this result or error
//	A= X JSON          all of its body
//	A: X TYPE          the Content-Type of its response
//	A~ X JSON          an event that no blank line has ended
//	A- X TEXT          an event that is no JSON
//	A. X REASON        its end; behind the reason may be an error
//	T+ TIME            time passes
//	mode WORD          at the beginning
//
// and checks them. It returns the findings, a line each, but for those about states
// without words: most scripts say none.
func talk(script string) string {
	var found []string
	c := New(&Options{Report: func(f *Finding) { found = append(found, f.String()) }, Picks: func(f *Finding) bool {
		return !strings.Contains(f.Text, "no status.message says") && !strings.Contains(f.Text, "nothing was said")
	}})
	c.schemas = parsed
	n, whole, now := int64(0), true, time.Duration(0)
	add := func(r trace.Record) {
		n++
		r.N, r.Micros = n, now.Microseconds()
		c.Add(&r)
	}
	exchange := func(s string) (x int64, rest string) {
		number, rest, _ := strings.Cut(s, " ")
		fmt.Sscan(number, &x)
		return x, rest
	}
	start := trace.Record{Kind: trace.KindStart, Mode: "bridge"}
	for i, l := range strings.Split(strings.TrimSpace(script), "\n") {
		word, rest, _ := strings.Cut(strings.TrimSpace(l), " ")
		if word == "mode" {
			start.Mode, start.Redact = rest, rest == "redact"
			continue
		}
		if n == 0 {
			add(start)
		}
		switch word {
		case "E>", "E<":
			r := trace.Record{Kind: trace.KindMessage, Wire: trace.WireEditor, Dir: map[string]string{"E>": trace.DirIn, "E<": trace.DirOut}[word]}
			if !json.Valid([]byte(rest)) {
				r.Text = rest
			} else if strings.HasPrefix(rest, "[") {
				r.JSON = json.RawMessage(rest)
			} else {
				r.JSON = json.RawMessage(strings.Replace(rest, "{", `{"jsonrpc":"2.0",`, 1))
			}
			add(r)
		case "A>":
			x, rest := exchange(rest)
			method, params, _ := strings.Cut(rest, " ")
			r := trace.Record{Kind: trace.KindRequest, Wire: trace.WireAgent, Exchange: x, HTTP: "POST", URL: "http://agent/", Method: method,
				JSON: json.RawMessage(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, x, method, params))}
			if operationOf(method).version == "1.0" {
				r.Header = map[string][]string{"A2a-Version": {"1.0"}}
			}
			add(r)
			add(trace.Record{Kind: trace.KindResponse, Wire: trace.WireAgent, Exchange: x, Status: 200})
		case "A-":
			x, rest := exchange(rest)
			add(trace.Record{Kind: trace.KindEvent, Wire: trace.WireAgent, Exchange: x, Event: int64(i), Text: rest})
		case "T+":
			d, _ := time.ParseDuration(rest)
			now += d
		case "A:":
			x, rest := exchange(rest)
			add(trace.Record{Kind: trace.KindResponse, Wire: trace.WireAgent, Exchange: x, Status: 200, Header: map[string][]string{"Content-Type": {rest}}})
		case "A<", "A~":
			x, rest := exchange(rest)
			add(trace.Record{Kind: trace.KindEvent, Wire: trace.WireAgent, Exchange: x, Event: int64(i), Error: map[string]string{"A~": "the stream ended within this event"}[word], JSON: json.RawMessage(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,%s}`, x, strings.TrimSuffix(strings.TrimPrefix(rest, "{"), "}")))})
		case "A=":
			x, rest := exchange(rest)
			add(trace.Record{Kind: trace.KindBody, Wire: trace.WireAgent, Exchange: x, JSON: json.RawMessage(rest)})
		case "A.":
			x, rest := exchange(rest)
			reason, text, _ := strings.Cut(rest, " ")
			add(trace.Record{Kind: trace.KindEnd, Wire: trace.WireAgent, Exchange: x, Reason: reason, Error: text})
		case "killed":
			whole = false
		}
	}
	if whole {
		add(trace.Record{Kind: trace.KindStop})
	}
	c.End()
	return strings.Join(found, "\n")
}

// acp begins an ACP conversation, up to an open prompt.
const acp = `
	E> {"id":0,"method":"initialize","params":{"protocolVersion":1}}
	E< {"id":0,"result":{"protocolVersion":1}}
	E> {"id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}
	E< {"id":1,"result":{"sessionId":"s"}}
	E> {"id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}`

const reply = `
	E< {"id":2,"result":{"stopReason":"end_turn"}}`

func chunk(text string) string {
	return `
	E< {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + text + `"}}}}`
}

func call(kind string) string {
	return `
	E< {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"` + kind + `","toolCallId":"c","title":"t"}}}`
}

const ask = `
	E< {"id":7,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[{"optionId":"yes","name":"y","kind":"allow_once"}]}}`

// The same for the agent's wire.
const (
	send03 = `
	A> 1 message/stream {"message":{"kind":"message","messageId":"m","role":"user","parts":[]}}`
	send10 = `
	A> 1 SendStreamingMessage {"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]}}`
	again03 = `
	A> 1 message/stream {"message":{"kind":"message","messageId":"m","taskId":"t","role":"user","parts":[]}}`
	ended = `
	A. 1 done`
	given = `
	A. 1 canceled`
)

func held03(id, text string) string {
	return fmt.Sprintf(`
	A< 1 {"result":{"kind":"task","id":"t","contextId":"c","status":{"state":"working"},"artifacts":[{"artifactId":%q,"parts":[{"kind":"text","text":%q}]}]}}`, id, text)
}

func status03(state string, final bool) string {
	return fmt.Sprintf(`
	A< 1 {"result":{"kind":"status-update","taskId":"t","contextId":"c","final":%t,"status":{"state":%q}}}`, final, state)
}

func status10(state string) string {
	return `
	A< 1 {"result":{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_` + state + `"}}}}`
}

func artifact(id, text string, goesOn bool) string {
	return fmt.Sprintf(`
	A< 1 {"result":{"kind":"artifact-update","taskId":"t","contextId":"c","append":%t,"artifact":{"artifactId":%q,"parts":[{"kind":"text","text":%q}]}}}`, goesOn, id, text)
}

const task10 = `
	A< 1 {"result":{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_SUBMITTED"}}}}`

// TestLaws: a correct conversation has no findings. Each rule finds its violation, with
// the record and the culprit.
func TestLaws(t *testing.T) {
	for _, test := range []struct{ name, script, want string }{
		{"all is well", acp + chunk("a") + call("tool_call") + ask + `
			E> {"id":7,"result":{"outcome":{"outcome":"selected","optionId":"yes"}}}` + call("tool_call_update") + reply, ""},
		{"no JSON", acp + reply + `
			E> hello`, "record 8: editor: json-rpc: the line is no JSON object"},
		{"not answered", acp, "record 6: bridge: answered: session/prompt: the request was not answered when the trace ended"},
		{"not answered, and killed", acp + "\nkilled", ""},
		{"answered twice", acp + reply + reply, "record 8: bridge: answered: the request 2 was answered already, in record 7"},
		{"nobody has asked", acp + reply + `
			E< {"id":9,"result":{}}`, `record 8: bridge: answered: nobody has made the request "9" that this answers`},
		{"an ID twice", acp + `
			E> {"id":2,"method":"session/list","params":{}}`, "record 7: editor: json-rpc: session/list: the ID is that of a request that is not answered yet, in record 6\n" +
			"record 7: bridge: answered: session/list: the request was not answered when the trace ended"},
		{"result and error", acp + `
			E< {"id":2,"result":{"stopReason":"end_turn"},"error":{"code":1,"message":"x"}}`, "record 7: bridge: json-rpc: session/prompt: an answer has either a result or an error"},
		{"an error without a code", acp + `
			E< {"id":2,"error":{"message":"x"}}`, "record 7: bridge: json-rpc: session/prompt: an error has a code"},
		{"what could not be read has no ID", acp + `
			E< {"id":null,"error":{"code":-32700,"message":"x"}}` + reply, ""},
		{"no such method", acp + reply + `
			E< {"id":3,"method":"fs/remove","params":{}}
			E> {"id":3,"error":{"code":-32601,"message":"x"}}`, "record 8: bridge: schema: fs/remove: ACP 1 has no such method for this side"},
		{"a method of one's own", acp + reply + `
			E< {"id":3,"method":"_x.org/y","params":{}}
			E> {"id":3,"result":{}}`, ""},
		{"a schema", acp + strings.Replace(chunk("a"), `"text":"a"`, `"text":1`, 1) + reply,
			"record 7: bridge: schema: session/update agent_message_chunk: params.update.content.text: must be a string, and is 1 (ACP 1)"},
		{"another version", strings.ReplaceAll(acp, `"protocolVersion":1`, `"protocolVersion":2`) + strings.Replace(reply, "end_turn", "tired", 1) + chunk("a") + call("tool_call_update"), ""},
		{"no initialize", `
			E> {"id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}
			E< {"id":1,"result":{"sessionId":"s"}}`, "record 2: editor: order: session/new: initialize must come first"},
		{"an update after the reply", acp + reply + chunk("late"), "record 8: bridge: order: session/update agent_message_chunk: it comes while no prompt of the session is open"},
		{"commands have no turn", acp + reply + `
			E< {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"available_commands_update","availableCommands":[]}}}`, ""},
		{"a session that is not known", acp + strings.Replace(chunk("a"), `"s"`, `"z"`, 1) + reply, `record 7: bridge: order: session/update agent_message_chunk: the editor does not know the session "z"`},
		{"news of a call that is not known", acp + call("tool_call_update") + reply, `record 7: bridge: order: session/update tool_call_update: no tool_call has announced "c"`},
		{"a question announces its call", acp + ask + `
			E> {"id":7,"result":{"outcome":{"outcome":"selected","optionId":"yes"}}}` + call("tool_call_update") + reply, ""},
		{"a question makes no session known", acp + strings.Replace(ask, `"sessionId":"s"`, `"sessionId":"z"`, 1) + `
			E> {"id":7,"result":{"outcome":{"outcome":"selected","optionId":"yes"}}}` + strings.Replace(chunk("a"), `"s"`, `"z"`, 1) + reply, `record 9: bridge: order: session/update agent_message_chunk: the editor does not know the session "z"`},
		{"a session that is resumed", acp + reply + `
			E> {"id":3,"method":"session/resume","params":{"sessionId":"z","cwd":"/","mcpServers":[]}}
			E< {"method":"session/update","params":{"sessionId":"z","update":{"sessionUpdate":"available_commands_update","availableCommands":[]}}}
			E< {"id":3,"result":{}}`, ""},
		{"an option that was not offered", acp + ask + `
			E> {"id":7,"result":{"outcome":{"outcome":"selected","optionId":"always"}}}` + reply, `record 8: editor: order: session/request_permission: the option "always" was not offered`},
		{"an error after a cancel", acp + `
			E> {"method":"session/cancel","params":{"sessionId":"s"}}
			E< {"id":2,"error":{"code":-32800,"message":"cancelled"}}`, "record 8: bridge: order: session/prompt: a prompt that was cancelled"},
		{"a batch", `
			mode tap
			E> {"id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}
			E< {"id":0,"result":{}}
			E> [{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","id":2,"method":"b"}]
			E< {"id":1,"result":{}}`, ""},

		{"0.3", send03 + status03("working", false) + status03("completed", true) + ended, ""},
		{"0.3: after the last", send03 + status03("completed", true) + status03("completed", false) + ended, "record 5: agent: order: message/stream: it comes after what must be the last of its stream, in record 4: final"},
		{"0.3: no final", send03 + strings.Replace(status03("working", false), `"final":false,`, "", 1) + given, "record 4: agent: schema: message/stream: result.final: is missing (A2A 0.3, section 7.2.2)"},
		{"1.0", send10 + task10 + status10("WORKING") + status10("COMPLETED") + ended, ""},
		{"1.0: no task first", send10 + status10("WORKING") + given, "record 4: agent: order: SendStreamingMessage: the first event must be a task or a message"},
		{"1.0: after the last", send10 + task10 + status10("COMPLETED") + status10("COMPLETED") + ended, "record 6: agent: order: SendStreamingMessage: it comes after what must be the last of its stream, in record 5: completed"},
		{"1.0: in the words of 0.3", send10 + task10 + strings.Replace(status10("WORKING"), "TASK_STATE_WORKING", "working", 1) + given, `record 5: agent: schema: SendStreamingMessage: result.statusUpdate.status.state: must be one of "TASK_STATE_UNSPECIFIED"`},
		{"another task", send10 + task10 + strings.Replace(status10("WORKING"), `"t"`, `"u"`, 1) + given, `record 5: agent: order: SendStreamingMessage: the stream is about the task "t", and this about "u"`},
		{"over, and not", send10 + task10 + status10("FAILED") + strings.ReplaceAll(ended+send10+task10+given, " 1", " 2"), `record 9: agent: state: SendStreamingMessage: the task "t" was failed in record 5, and is submitted`},
		{"another ID", send10 + `
			A= 1 {"jsonrpc":"2.0","id":9,"result":{"task":{"id":"t","status":{"state":"TASK_STATE_COMPLETED"}}}}` + ended, "record 4: agent: json-rpc: SendStreamingMessage: the ID must be 1, and is 9"},
		{"no JSON-RPC", send10 + `
			A= 1 {"task":{"id":"t","status":{"state":"TASK_STATE_COMPLETED"}}}` + ended, `record 4: agent: json-rpc: SendStreamingMessage: jsonrpc must be "2.0"`},
		{"nothing in it", send10 + ended, "record 4: agent: answered: SendStreamingMessage: the response has ended, and nothing was in it"},
		{"given up", send10 + "\nA. 1 canceled", ""},
		{"an error", send10 + `
			A< 1 {"error":{"code":-32001,"message":"no","data":[{"@type":"x"}]}}` + ended, ""},
		{"an error's data", send10 + `
			A< 1 {"error":{"code":-32001,"message":"no","data":"x"}}` + ended, `record 4: agent: schema: SendStreamingMessage: error.data: must be an array, and is "x" (A2A 1.0, section 9.5)`},

		{"no final state", send03 + status03("working", false) + "\nA. 1 eof", "record 4: agent: state: message/stream: the stream ended after this event, and the state is working"},
		{"an artifact and no state", send03 + artifact("a", "one", false) + "\nA. 1 eof", "record 4: agent: state: message/stream: the stream ended after this event, and the state is unknown"},
		{"no final", send03 + status03("completed", false) + ended, "record 4: agent: state: message/stream: the last event of the stream must have final: true; the state is completed"},
		{"it waits, and no final", send03 + status03("input-required", false) + ended, "record 4: agent: state: warning: message/stream: the last event of the stream should have final: true"},
		{"1.0: it waits", send10 + task10 + status10("INPUT_REQUIRED") + ended, ""},
		{"it never ends", send03 + status03("completed", true) + "\nT+ 250ms\nA. 1 done we closed the connection", "record 4: agent: state: warning: message/stream: the stream was still open 250ms after its last event"},
		{"it ends late by itself", send03 + status03("completed", true) + "\nT+ 250ms" + ended, ""},
		{"nothing comes", send03 + status03("working", false) + "\nT+ 18s\nA. 1 canceled", "record 4: agent: state: warning: message/stream: nothing came for 18s"},
		{"the user has enough", send03 + status03("working", false) + "\nT+ 5s\nA. 1 canceled", ""},
		{"no blank line", send03 + status03("working", false) + strings.Replace(status03("completed", true), "A<", "A~", 1) + ended, "record 5: agent: http: message/stream: the stream ended within this event"},
		{"the context changes", send03 + status03("working", false) + strings.Replace(status03("completed", true), `"c"`, `"d"`, 1) + ended, `record 5: agent: order: message/stream: the context was "c", and is "d"`},
		{"nothing to append to", send03 + artifact("a", "one", true) + status03("completed", true) + ended, `record 4: agent: order: warning: message/stream: it is to be appended to the artifact "a", which has not begun`},
		{"an older task has begun", again03 + artifact("a", "one", true) + status03("completed", true) + ended, ""},
		{"an event twice", send03 + artifact("a", "", false) + strings.Repeat(artifact("a", "a text that is too long to be there twice by intention", true), 2) + status03("completed", true) + ended, "record 6: agent: order: warning: message/stream: it is the event before once more"},
		{"a short one twice", send03 + artifact("a", "", false) + strings.Repeat(artifact("a", "ha", true), 2) + status03("completed", true) + ended, ""},
		{"a stream that is none", send03 + "\nA: 1 application/json" + `
			A= 1 {"jsonrpc":"2.0","id":1,"result":{"kind":"message","messageId":"n","role":"agent","parts":[{"kind":"text","text":"x"}]}}` + ended, `record 5: agent: http: message/stream: the Content-Type of the answer to a streaming method must be text/event-stream, and is "application/json"`},
		{"no JSON by its type", strings.Replace(send03, "message/stream", "message/send", 1) + "\nA: 1 text/plain; charset=utf-8" + `
			A= 1 {"jsonrpc":"2.0","id":1,"result":{"kind":"message","messageId":"n","role":"agent","parts":[{"kind":"text","text":"x"}]}}` + ended, `record 5: agent: http: warning: message/send: the Content-Type of the answer must be application/json, and is "text/plain`},

		{"words", acp + send03 + artifact("a", "one ", false) + artifact("a", "two", true) + status03("completed", true) + ended + chunk("one ") + chunk("two") + reply, ""},
		{"a word is lost", acp + send03 + artifact("a", "one ", false) + artifact("a", "two", true) + status03("completed", true) + ended + chunk("one ") + reply,
			`record 14: bridge: words: artifact "a": what the editor got in the turn that begins with record 6 is not what the agent said from "two" on, which is character 5 of 7`},
		{"a word is lost that stands elsewhere", acp + send03 + artifact("a", "one ", false) + artifact("a", "the ", true) + artifact("a", "two", true) + artifact("b", "more", false) + status03("completed", true) + ended +
			"\nE< " + `{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"session_info_update","title":"the other"}}}` + chunk("one ") + chunk("two") + chunk("more") + reply,
			`record 19: bridge: words: artifact "a": what the editor got in the turn that begins with record 6 is not what the agent said from "he two" on, which is character 6 of 11`},
		{"one text is two messages", acp + send03 + artifact("a", "one two", false) + status03("completed", true) + ended + chunk("one ") + strings.Replace(chunk("two"), `"sessionUpdate"`, `"messageId":"m2","sessionUpdate"`, 1) + reply, ""},
		{"in pieces, and once more as a whole", acp + send03 + artifact("a", "a text that is long ", false) + artifact("a", "enough to count", true) + artifact("b", "a text that is long enough to count", false) + status03("completed", true) + ended +
			chunk("a text that is long ") + chunk("enough to count") + chunk("a text that is long enough to count") + reply, ""},
		{"a record separator", send03 + "\nA- 1 \x1e" + `{"jsonrpc":"2.0","id":1,"result":{"kind":"message","messageId":"n","role":"agent","parts":[{"kind":"text","text":"x"}]}}` + ended, ""},
		{"a word comes twice", acp + send03 + artifact("a", "one ", false) + artifact("a", "two", true) + artifact("a", " three", true) + status03("completed", true) + ended + chunk("one ") + chunk("two") + chunk("two") + chunk(" three") + reply,
			`record 18: bridge: words: artifact "a": what the editor got in the turn that begins with record 6 is not what the agent said from "hree" on`},
		{"a text comes twice", acp + send03 + artifact("a", "a text that is long enough to count", false) + status03("completed", true) + ended + chunk("a text that is long enough to count") + chunk("a text that is long enough to count") + reply,
			`record 14: bridge: words: artifact "a": the editor got "a text that is long enough to count" 2 times, in the turn that begins with record 6`},
		{"what is cancelled may be lost", acp + send03 + artifact("a", "one", false) + "\nA. 1 canceled" + strings.Replace(reply, "end_turn", "cancelled", 1), ""},
		{"an agent says it again after a cut", acp + send03 + artifact("a", "one ", false) + artifact("a", "two", true) + "\nA. 1 cut" + strings.ReplaceAll(send03+artifact("a", "one two", false)+status03("completed", true)+ended, " 1", " 2") + chunk("one ") + chunk("two") + reply, "record 10: agent: state: warning: message/stream: the connection broke off after this event, before a final state"},
		{"a bridge's own words are in between", acp + send03 + artifact("a", "one ", false) + artifact("a", "two", true) + status03("completed", true) + ended + chunk("one ") +
			strings.Replace(chunk("[the connection was lost]"), `"content"`, `"messageId":"n","content"`, 1) + strings.Replace(chunk("two"), `"content"`, `"messageId":"m","content"`, 1) + reply, ""},
		{"a cancelled turn's stream goes on in the next", acp + send03 + artifact("a", "one", false) + strings.Replace(reply, "end_turn", "cancelled", 1) +
			"\n" + strings.Split(acp, "\n")[5] + artifact("a", " and the rest of it", true) + status03("completed", true) + ended + reply, ""},
		{"a filler", acp + send03 + strings.Replace(status03("working", false), `"state":"working"`, `"state":"working","message":{"kind":"message","role":"agent","messageId":"f","parts":[{"kind":"text","text":"Generating response..."}]}`, 1) +
			artifact("a", "one", false) + status03("completed", true) + ended + chunk("one") + reply, ""},
		{"what a task held before need not be said again", acp + again03 + held03("a", "old") + artifact("a", " new", true) + status03("completed", true) + ended + chunk(" new") + reply, ""},
		{"more text than is compared", acp + send03 + artifact("a", strings.Repeat("x", maxWords+1), false) + artifact("c", "one", false) + status03("completed", true) + ended + reply, ""},
		{"texts are not compared", "mode redact\n" + acp + send03 + artifact("a", "one", false) + status03("completed", true) + ended + reply, ""},
		{"several turns at once", acp + `
			E> {"id":3,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}
			E< {"id":3,"result":{"sessionId":"z"}}
			E> {"id":4,"method":"session/prompt","params":{"sessionId":"z","prompt":[]}}` + send03 + artifact("a", "one", false) + status03("completed", true) + ended + reply + `
			E< {"id":4,"result":{"stopReason":"end_turn"}}`, ""},
	} {
		got := talk(test.script)
		want := strings.Split(test.want, "\n")
		lines := strings.Split(got, "\n")
		ok := len(lines) == len(want) && (got == "") == (test.want == "")
		for i := range lines {
			ok = ok && strings.HasPrefix(lines[i], want[i])
		}
		if !ok {
			t.Errorf("%s:\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
}

// TestConversations: conversations with a bridge have no findings, except what the
// agents' cards lack; of the rest of one, whose beginning was moved aside, nothing is found
// that could be there.
func TestConversations(t *testing.T) {
	for _, test := range []struct {
		name   string
		rest   bool
		errors int // about the card
	}{{"approval", false, 3}, {"cut", false, 3}, {"lines-hello", false, 3}, {"approval", true, 0}, {"lines-hello", true, 0}} {
		r := must.Get(trace.Open("../../../testdata/trace/"+test.name+".jsonl", nil))(t)
		c := New(&Options{Picks: func(f *Finding) bool { return !test.rest || f.Who != Agent }, Report: func(f *Finding) {
			if test.rest || f.What != "card" && !(test.name == "cut" && f.Weight == Warning) {
				t.Errorf("%s: %v", test.name, f)
			}
		}})
		for rec, err := range r.All() {
			must.Do(t, err)
			if start := rec.Kind == trace.KindStart; !test.rest || start || rec.N > 12 {
				if test.rest && start {
					rec.N = 12
				}
				c.Add(rec)
			}
		}
		c.End()
		if c.Errors() != test.errors {
			t.Errorf("%s: %d findings about the card, want %d", test.name, c.Errors(), test.errors)
		}
	}
}

// TestWellKnown: a card is checked wherever the agent has it, and nothing else is taken for one.
func TestWellKnown(t *testing.T) {
	var found []string
	c := New(&Options{Report: func(f *Finding) { found = append(found, f.Text) }})
	for x, get := range [...][2]string{{"/my/card.json", `{"name":"a","capabilities":{},"url":"http://h/"}`}, {"/.well-known/jwks.json", `{"keys":[]}`}} {
		for _, r := range []trace.Record{{Kind: trace.KindRequest, HTTP: "GET", URL: "http://h" + get[0]}, {Kind: trace.KindResponse, Status: 200},
			{Kind: trace.KindBody, JSON: json.RawMessage(get[1])}, {Kind: trace.KindEnd, Reason: trace.EndDone}} {
			r.Exchange = int64(x + 1)
			c.Add(&r)
		}
	}
	if all := strings.Join(found, "\n"); !strings.Contains(all, "description: is missing") || strings.Contains(all, "no card") {
		t.Errorf("found: %s", all)
	}
}

// TestAlike: equal findings are counted, and not all reported.
func TestAlike(t *testing.T) {
	reported := 0
	c := New(&Options{Report: func(*Finding) { reported++ }})
	for n := range int64(100) {
		c.Add(&trace.Record{N: n, Kind: trace.KindMessage, Text: "no JSON"})
		c.warn(n, RuleSchema, "tasks/get", "%s", fmt.Sprintf("status.timestamp has no time zone: %q", fmt.Sprint(n)))
	}
	if c.Count() != 200 || reported != 2*maxAlike {
		t.Errorf("%d were counted and %d reported, want 200 and %d", c.Count(), reported, 2*maxAlike)
	}
}

// FuzzChecker: no record makes a Checker panic.
func FuzzChecker(f *testing.F) {
	f.Add(acp+chunk("a")+ask+reply, send10+task10+status10("FAILED")+ended)
	f.Add(`E> {"id":1,"method":"message/stream","params":{}}`, send03+artifact("a", "x", true)+status03("completed", true)+ended)
	f.Fuzz(func(t *testing.T, a, b string) { talk(a + "\n" + b + "\n" + a) })
}
