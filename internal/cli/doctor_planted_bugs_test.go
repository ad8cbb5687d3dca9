package cli

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/a2astdio/a2astdio/internal/trace/check"
)

// plantedBugs are bugs of agents of all versions and bindings, and those of one.
func plantedBugs(kind string) []plant {
	const warning = check.Warning
	bugs := []plant{
		{name: "nothing"},

		// Odd, and legal.
		{name: "CRLF, comments and IDs in a stream", play: func(w http.ResponseWriter, _ *http.Request, frames []string) {
			s := strings.ReplaceAll(strings.Join(frames, ""), "data: ", "event: message\nid: 7\ndata:")
			write(w, "\ufeff: hello\n\nretry: 500\n\n", strings.ReplaceAll(s, "\n", "\r\n"))
		}},
		{name: "an event over many lines", place: "stream", swap: []string{`,"`, ",\ndata: \"", "data: ", "data:"}},
		{name: "the names of members are escaped", place: "stream", swap: []string{`"taskId"`, `"\u0074askId"`, `"text"`, `"\u0074ext"`}},
		{name: "members that nobody knows", place: "stream", swap: []string{`"contextId":"$CTX"`, `"contextId":"$CTX","x-trace":{"a":[1,2]},"metadata":{"k":{"z":null,"n":1e400}}`}},
		{name: "no times", place: "stream", swap: []string{`,"timestamp":"$NOW"`, ""}},
		{name: "a sign-in on the way", play: func(w http.ResponseWriter, _ *http.Request, frames []string) {
			waits := strings.NewReplacer(`"working"`, `"auth-required"`, "_WORKING", "_AUTH_REQUIRED").Replace(frames[1])
			write(w, frames[0], waits, frames[1], frames[2], frames[3], frames[4])
		}},
		{name: "a binding of its own", place: "card", swap: []string{`"supportedInterfaces":[`, `"supportedInterfaces":[{"url":"wss://h/x","protocolBinding":"WEBSOCKET","protocolVersion":"1.0"},`,
			`"skills"`, `"additionalInterfaces":[{"url":"wss://h/x","transport":"WEBSOCKET"}],"skills"`}},
		{name: "files and data", place: "stream", swap: []string{`{"kind":"text","text":"I think"}`, `{"kind":"data","data":{"a":1}},{"kind":"file","file":{"uri":"data:text/plain,hi"}}`,
			`{"text":"I think"}`, `{"data":[1,2]},{"url":"data:text/plain,hi"},{"data":"text"}`}},
		{name: "Content-Type in capitals", play: ofType("Text/Event-Stream; charset=utf-8")},

		// The wire.
		{name: "Content-Type of a stream", play: ofType("application/json"), want: "Content-Type"},
		{name: "no data:", play: func(w http.ResponseWriter, _ *http.Request, frames []string) {
			write(w, strings.ReplaceAll(strings.Join(frames, ""), "data: ", ""))
		}, want: "data:"},
		{name: "data: before the first line alone", place: "stream", swap: []string{`"artifact":{`, "\"artifact\":\n{\n", `data: {`, "data: {\n"}, want: "each line of an event begins with data:"},
		{name: "no blank line between", play: func(w http.ResponseWriter, _ *http.Request, frames []string) {
			write(w, strings.ReplaceAll(strings.Join(frames, ""), "\n\n", "\n"))
		}, want: "blank line"},
		{name: "no blank line at the end", play: func(w http.ResponseWriter, _ *http.Request, frames []string) {
			write(w, strings.TrimSpace(strings.Join(frames, "")))
		}, want: "blank line must follow"},
		{name: "OpenAI's end", play: func(w http.ResponseWriter, _ *http.Request, frames []string) {
			write(w, append(frames, "data: [DONE]\n\n")...)
		}, want: "OpenAI"},
		{name: "a dict of Python", place: "stream", swap: []string{`"`, `'`}, want: "json.dumps"},
		{name: "a broken document", place: "stream", swap: []string{`"artifact":{`, `"artifact":{{`}, want: "is no JSON"},
		{name: "Latin-1", place: "stream", swap: []string{"I think", "I th\xefnk"}, want: "UTF-8", weight: warning},
		{name: "no number", place: "stream", swap: []string{`"artifactId":"a"`, `"artifactId":NaN`}, want: "invalid character 'N'"},
		{name: "an event without data", play: func(w http.ResponseWriter, _ *http.Request, frames []string) {
			write(w, strings.Replace(strings.Join(frames, ""), "\n\n", "\n\ndata:\n\n", 1))
		}, want: "no data", weight: warning},
		{name: "HTTP 500", play: fails(500, "Internal Server Error"), want: "500"},
		{name: "nothing comes", play: upTo(0, nil), want: "nothing was in it"},
		{name: "cut in the middle", play: upTo(3, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }), want: "before a final state", weight: warning},

		// States and order.
		{name: "no last state", play: upTo(4, nil), want: "the stream ended after this event"},
		{name: "a state that is none", place: "stream", swap: []string{`"working"`, `"running"`, `"TASK_STATE_WORKING"`, `"TASK_STATE_RUNNING"`}, want: "status.state: must be one of"},
		{name: "upper case", place: "stream", swap: []string{`"completed"`, `"COMPLETED"`, `"TASK_STATE_COMPLETED"`, `"completed"`}, want: "status.state: must be one of"},
		{name: "it works after the end", play: func(w http.ResponseWriter, r *http.Request, frames []string) {
			write(w, append(frames, frames[1])...)
		}, want: "after what must be the last"},
		{name: "text after the end", play: func(w http.ResponseWriter, r *http.Request, frames []string) {
			write(w, frames[0], frames[1], frames[2], frames[4], frames[3])
		}, want: "after what must be the last"},
		{name: "append to nothing", play: func(w http.ResponseWriter, r *http.Request, frames []string) {
			write(w, frames[0], frames[1], frames[3], frames[4])
		}, want: "has not begun", weight: warning},
		{name: "append is forgotten", place: "stream", swap: []string{`"append":true,`, ""}, want: "append: true would add", weight: warning},
		{name: "one more piece behind the last", place: "stream", swap: []string{`"contextId":"$CTX","artifact"`, `"contextId":"$CTX","lastChunk":true,"artifact"`}, want: "lastChunk: true came before", weight: warning},
		{name: "back to submitted", play: func(w http.ResponseWriter, r *http.Request, frames []string) {
			back := strings.NewReplacer(`"working"`, `"submitted"`, "_WORKING", "_SUBMITTED").Replace(frames[1])
			write(w, frames[0], frames[1], back, frames[2], frames[3], frames[4])
		}, want: "goes back to submitted", weight: warning},
		{name: "an event of A2A as its text", place: "stream", swap: []string{"I think", `{\"kind\":\"text\"}`}, want: "JSON of A2A itself", weight: warning},
		{name: "an event twice", play: func(w http.ResponseWriter, r *http.Request, frames []string) {
			long := strings.Replace(frames[1], "I think", "I think about this for a long time, and then some", 1)
			write(w, frames[0], long, long, frames[2], frames[3], frames[4])
		}, want: "the event before once more", weight: warning},
		{name: "completed without words", play: func(w http.ResponseWriter, r *http.Request, frames []string) {
			write(w, frames[0], frames[4])
		}, want: "nothing was said", weight: warning},
		{name: "completed with an empty text", play: func(w http.ResponseWriter, r *http.Request, frames []string) {
			write(w, frames[0], strings.Replace(frames[1], "I think", "", 1), frames[4])
		}, want: "nothing was said", weight: warning},
		{name: "failed without a reason", place: "stream", swap: []string{`"state":"completed"`, `"state":"failed"`, "TASK_STATE_COMPLETED", "TASK_STATE_FAILED"}, want: "says why", weight: ""},
		{name: "it waits for who knows what", play: upTo(1, nil), place: "stream", swap: []string{`"submitted"`, `"auth-required"`, "SUBMITTED", "AUTH_REQUIRED"}, want: "for what", weight: warning},
		{name: "it waits for a sign-in", play: upTo(1, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }), place: "stream", swap: []string{`"submitted"`, `"auth-required"`, "SUBMITTED", "AUTH_REQUIRED"}, want: "signed in somewhere else", weight: warning},
		{name: "the task says otherwise", place: "get", swap: []string{`"completed"`, `"working"`, "TASK_STATE_COMPLETED", "TASK_STATE_WORKING"}, want: "was completed in record"},
		{name: "the task forgets", place: "get", swap: []string{`"artifactId":"a"`, `"artifactId":"b"`}, want: "does not hold the artifact", weight: warning},
		{name: "the task has other text", place: "get", swap: []string{"What you have sent has come here, ", ""}, want: "another text", weight: warning},

		// IDs.
		{name: "another task", place: "stream", swap: []string{`"append":true,`, `"append":true,"x":1,`, `"taskId":"$TASK","contextId":"$CTX","artifact":{"artifactId":"a","parts":[{`, `"taskId":"other","contextId":"$CTX","artifact":{"artifactId":"a","parts":[{`}, want: `the stream is about the task`},
		{name: "another context", place: "stream", swap: []string{`"contextId":"$CTX","artifact"`, `"contextId":"other","artifact"`}, want: "the context was"},
		{name: "no artifactId", place: "stream", swap: []string{`"artifactId":"a",`, ``}, want: "artifactId: is missing"},
		{name: "no messageId", place: "stream", swap: []string{`"messageId":"m1",`, ``}, want: "messageId: is missing"},
		{name: "an empty contextId", place: "stream", swap: []string{`"contextId":"$CTX"`, `"contextId":""`}, want: "contextId must not be empty"},
		{name: "an empty messageId", place: "stream", swap: []string{`"messageId":"m1",`, `"messageId":"",`}, want: "messageId must not be empty"},
		{name: "the user's message ID", place: "stream", swap: []string{`"messageId":"m1",`, `"messageId":"$SENT",`}, want: "ID of the user's message"},
		{name: "the message's own task", place: "stream", swap: []string{`"role":"agent","taskId":"$TASK"`, `"role":"agent","taskId":"x"`, `"role":"ROLE_AGENT","taskId":"$TASK"`, `"role":"ROLE_AGENT","taskId":"x"`}, want: "status.message.taskId is"},
		{name: "the user's role", place: "stream", swap: []string{`"role":"agent"`, `"role":"user"`, `"ROLE_AGENT"`, `"ROLE_USER"`}, want: "the role is"},
		{name: "assistant", place: "stream", swap: []string{`"role":"agent"`, `"role":"assistant"`, `"ROLE_AGENT"`, `"assistant"`}, want: "role: must be"},
		{name: "a number as ID", place: "stream", swap: []string{`"messageId":"m1"`, `"messageId":1`}, want: "messageId: must be a string"},
		{name: "snake_case", place: "stream", swap: []string{`"contextId"`, `"context_id"`}, want: "must be spelled contextId"},
		{name: "snake_case that is optional", place: "stream", swap: []string{`"lastChunk"`, `"last_chunk"`}, want: "must be spelled lastChunk"},
		{name: "all text so far, each time", place: "stream", swap: []string{`"and this is`, `"What you have sent has come here, and this is`}, want: "begins with all that the artifact holds", weight: warning},
		{name: "a task that has ended goes on", place: "send", want: "has ended (completed), so a message to it must be refused"},
		{name: "each task has a context of its own", place: "begun", swap: []string{"$CTX", "other"}, want: "the context was"},
		{name: "the user's message is the agent's", place: "stream", swap: []string{`"status":{"state":"submitted"`, `"history":[{"kind":"message","messageId":"$SENT","role":"agent","parts":[]}],"status":{"state":"submitted"`,
			`"status":{"state":"TASK_STATE_SUBMITTED"`, `"history":[{"messageId":"$SENT","role":"ROLE_AGENT","parts":[]}],"status":{"state":"TASK_STATE_SUBMITTED"`}, want: "the history has the user's message"},
		{name: "historyLength is not read", place: "get", swap: []string{`"status":{"state":"completed"}`, `"history":[{"kind":"message","messageId":"1","role":"user","parts":[]},{"kind":"message","messageId":"2","role":"agent","parts":[]}],"status":{"state":"completed"}`,
			`"status":{"state":"TASK_STATE_COMPLETED"}`, `"history":[{"messageId":"1","role":"ROLE_USER","parts":[]},{"messageId":"2","role":"ROLE_AGENT","parts":[]}],"status":{"state":"TASK_STATE_COMPLETED"}`}, want: "historyLength was 1", weight: warning},
		{name: "another task for an ID", place: "get", swap: []string{`"id":"$TASK"`, `"id":"t9"`}, want: "was asked for"},

		// A task without a stream, and its cancel.
		{name: "an answer that is neither", place: "begun", swap: []string{`"kind":"task"`, `"kind":"answer"`, `{"task":`, `{"answer":`}, want: "must "},
		{name: "a cancel is not done", place: "ending", swap: []string{`"canceled"`, `"working"`, "CANCELED", "WORKING"}, want: "waits for it in vain", weight: warning},
		{name: "a cancel is answered with no task", place: "ending", swap: []string{`"id":`, `"cancelled":true,"i":`}, want: "id: is missing"},

		{name: "a subscription without the cancel", place: "follow", want: "the stream ended after this event"},

		// The card.
		{name: "no name", place: "card", swap: []string{`"name":"planted",`, ""}, want: "name: is missing"},
		{name: "an operation's URL", place: "card", swap: []string{`"URL/"`, `"URL/message:send"`}, want: "before the paths", weight: warning},
		{name: "a relative URL", place: "card", swap: []string{`"URL/"`, `"/a2a"`}, want: "absolute URL"},
		{name: "an address to listen at", place: "card", swap: []string{`"URL/"`, `"http://0.0.0.0:9/"`}, want: "0.0.0.0", weight: warning},
		{name: "no description", place: "card", swap: []string{`"description":"an agent",`, ""}, want: "description: is missing"},
		{name: "a version with a v", place: "card", swap: []string{`"0.3.0"`, `"v0.3"`, `"protocolVersion":"1.0"`, `"protocolVersion":"v1"`}, want: "protocolVersion: must be a version"},
		{name: "a version that is none", place: "card", swap: []string{`"0.3.0"`, `"2.0"`, `"protocolVersion":"1.0"`, `"protocolVersion":"2.0"`}, want: "must be a version of A2A"},
		{name: "a transport that is none", place: "card", swap: []string{`"JSONRPC"`, `"json-rpc"`, `"BINDING"`, `"REST"`}, want: "must be JSONRPC, HTTP+JSON or GRPC"},
		{name: "streaming as text", place: "card", swap: []string{`"streaming":true`, `"streaming":"true"`}, want: "capabilities.streaming: must be a boolean"},
		{name: "text is no media type", place: "card", swap: []string{`["text/plain"]`, `["text"]`}, want: "media type", weight: warning},
		{name: "a skill twice", place: "card", swap: []string{`"skills":[`, `"skills":[{"id":"s","name":"s","description":"s","tags":["s"]},`}, want: "is there twice", weight: warning},
		{name: "no skills", place: "card", swap: []string{`[{"id":"s","name":"s","description":"s","tags":["s"]}]`, `[]`}, want: "skills: is empty", weight: warning},
		{name: "a scheme that is not declared", place: "card", swap: []string{`"skills"`, `"security":[{"other":[]}],"securityRequirements":[{"schemes":{"other":{"list":[]}}}],"skills"`}, want: "names the scheme"},
		{name: "a signature that is none", place: "card", swap: []string{`"skills"`, `"signatures":[{"protected":"!","signature":"x"}],"skills"`}, want: "signatures[0].protected: must be"},
		{name: "a broken card", place: "card", swap: []string{`"skills":[`, `"skills":[,`}, want: "is no JSON"},

		// Claims.
		{name: "push that is missing", place: "card", swap: []string{`"streaming":true`, `"streaming":true,"pushNotifications":true`, `,"pushNotifications":false`, ""}, want: "missing"},
		{name: "an extended card that is missing", place: "card", swap: []string{`"capabilities":{`, `"supportsAuthenticatedExtendedCard":true,"capabilities":{"extendedAgentCard":true,`}, want: "missing"},
		{name: "an error without a code", place: "unknown", swap: []string{`"code":-32001,`, ``, `"code":404,`, ``}, want: "error.code: is missing"},
		{name: "another code for an unknown task", place: "unknown", swap: []string{"-32001", "-32603", "TASK_NOT_FOUND", "INTERNAL_ERROR"}, want: "fault of its own", weight: warning},

		// Time.
		{name: "a time that is none", place: "stream", swap: []string{"$NOW", "yesterday"}, want: "status.timestamp must be"},
		{name: "another time zone", place: "stream", swap: []string{"$NOW", "2020-01-31T12:00:00Z"}, want: "time zone", weight: warning},
		{name: "it works for ever", play: upTo(3, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }), want: "has not told it and has not ended"},
		{name: "open at the end", play: staysOpen, want: "still open", weight: warning},
		{name: "a task that is not there is followed", place: "hang", want: "nothing came within", weight: warning},
		{name: "all at once", play: func(w http.ResponseWriter, r *http.Request, frames []string) {
			<-time.After(heldFor) // the client measures real time
			write(w, strings.Join(frames, ""))
		}, want: "at once", weight: warning},
	}
	if kind != "0.3" {
		two := plantedTask["1.0"] + "," + strings.Replace(plantedTask["1.0"], "$TASK", "task-2", 1)
		bugs = append(bugs, plant{name: "a list without the task", place: "list", swap: []string{plantedTask["1.0"], ""}, want: "the list of tasks", weight: warning},
			plant{name: "a list of other conversations", place: "list", swap: []string{"$CTX", "other"}, want: `the context "ctx-1" was asked for`},
			plant{name: "a page is longer than pageSize", place: "list", swap: []string{plantedTask["1.0"], two}, want: "pageSize was 1"},
			plant{name: "a page comes again", place: "list", swap: []string{plantedTask["1.0"], two, `"nextPageToken":""`, `"nextPageToken":"x"`}, want: "on the page before"},
			plant{name: "any version", place: "version", want: "9.9", weight: warning},
			plant{name: "a task without its context", place: "stream", swap: []string{`{"id":"$TASK","contextId":"$CTX"`, `{"id":"$TASK"`}, want: "the task that came before has none", weight: warning},
			plant{name: "a subscription without the task", place: "follow", want: "the first event of a subscription"})
	}
	return append(append(bugs, plantedCalls()...), plantedBugsOf(kind)...)
}

// plantedCalls are bugs of the development-tool extension: the agent's calls are data parts of one message.
func plantedCalls() (bugs []plant) {
	const uri = "https://github.com/google-gemini/gemini-cli/blob/main/docs/a2a/developer-profile/v0/spec.md"
	const begins, runs, ends = `{"tool_call_id":"c","tool_name":"ls","status":"PENDING"}`, `{"tool_call_id":"c","tool_name":"ls","status":"EXECUTING"}`,
		`{"tool_call_id":"c","tool_name":"ls","status":"SUCCEEDED","output":{"text":"a"}}`
	const asks = `{"tool_call_id":"c","tool_name":"ls","status":"PENDING","confirmation_request":{"options":[{"id":"yes","name":"Yes"}],"execute_details":{"command":"ls"}}}`
	plan := func(name, want, weight, metadata string, calls ...string) {
		swap := []string{`"streaming":true`, `"streaming":true,"extensions":[{"uri":"` + uri + `"}]`,
			`"status":{"state":"working"`, `"metadata":` + metadata + `,"status":{"state":"working"`, `"status":{"state":"TASK_STATE_WORKING"`, `"metadata":` + metadata + `,"status":{"state":"TASK_STATE_WORKING"`,
			`{"kind":"text","text":"I think"}`, `{"kind":"data","data":` + strings.Join(calls, `},{"kind":"data","data":`) + `}`, `{"text":"I think"}`, `{"data":` + strings.Join(calls, `},{"data":`) + `}`}
		bugs = append(bugs, plant{name: name, place: "card stream", swap: swap, want: want, weight: weight})
	}
	const warning = check.Warning
	update := `{"` + uri + `":{"kind":"TOOL_CALL_UPDATE"}}`
	plan("a call as it should be", "", "", update, asks, runs, ends)
	plan("numbers and camels", "", "", strings.Replace(update, `"TOOL_CALL_UPDATE"`, "2", 1), `{"toolCallId":"c","toolName":"ls","status":1}`, ends)
	plan("a call without an ID", "no tool_call_id", "", update, strings.Replace(runs, `"tool_call_id":"c",`, "", 1), ends)
	plan("a call without a name", "no tool_name", warning, update, begins, strings.Replace(ends, `"tool_name":"ls",`, "", 1))
	plan("a state that no call has", "must have a status of PENDING", "", update, strings.Replace(runs, "EXECUTING", "RUNNING", 1), ends)
	plan("a call goes back", "was SUCCEEDED in record", "", update, begins, runs, ends, runs)
	plan("a call that never ends", "is still EXECUTING", warning, update, begins, runs)
	plan("nothing to choose", "confirmation_request has no options", "", update, strings.Replace(asks, `{"id":"yes","name":"Yes"}`, "", 1), ends)
	plan("an option without an ID", "an option without an id", "", update, strings.Replace(asks, `"id":"yes",`, "", 1), ends)
	plan("nothing to decide about", "confirmation_request has no details", warning, update, strings.Replace(asks, `,"execute_details":{"command":"ls"}`, "", 1), ends)
	plan("an output and an error", "an output and an error", "", update, begins, strings.Replace(ends, `"output"`, `"error":{"message":"no"},"output"`, 1))
	plan("two calls, and each is wrong", "an output and an error", "", update, strings.Replace(runs, "EXECUTING", "RUNNING", 1), strings.Replace(ends, `"output"`, `"error":{"message":"no"},"output"`, 1))
	plan("a failure without a reason", "no error says why", warning, update, begins, `{"tool_call_id":"c","tool_name":"ls","status":"FAILED"}`)
	plan("metadata under another URI", "no metadata under the URI", "", `{"https://example.com/tools":{"kind":"TOOL_CALL_UPDATE"}}`, begins, ends)
	plan("a kind that is none", "kind in the extension's metadata", "", strings.Replace(update, "TOOL_CALL_UPDATE", "tool-call", 1), begins, ends)
	plan("data of its own, with the names of a call", "", "", `{"k":1}`, `{"tool_name":"ls","toolCallId":"c","status":"running"}`)
	bugs[len(bugs)-1].place = "stream"
	plan("an extension that the card has not", "which the request has not activated", warning, update, begins, ends)
	bugs[len(bugs)-1].place = "stream"
	return bugs
}

const heldFor = 1600 * time.Millisecond

// plantedBugsOf are bugs of one version or binding.
func plantedBugsOf(kind string) []plant {
	const warning = check.Warning
	rpc := []plant{
		{name: "an answer of text", place: "begun", swap: []string{`"result":`, `"result":"ok","x":`}, want: `result: must be an object, and is "ok"`},
		{name: "streaming that is missing", play: func(w http.ResponseWriter, r *http.Request, frames []string) {
			w.Header().Set("Content-Type", "application/json")
			_, id, _ := strings.Cut(frames[0], `"id":`)
			id, _, _ = strings.Cut(id, ",")
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, id)
		}, want: "missing"},
		{name: "a task that is not known", place: "get", swap: []string{"result", "error", plantedTask["0.3"], `{"code":-32001,"message":"no"}`, plantedTask["1.0"], `{"code":-32001,"message":"no"}`}, want: "does not know the task"},
		{name: "JSON within JSON", play: func(w http.ResponseWriter, _ *http.Request, frames []string) {
			for i, f := range frames {
				frames[i] = fmt.Sprintf("data: %q\n\n", strings.TrimSpace(f[len("data: "):]))
			}
			write(w, frames...)
		}, want: "made JSON twice"},
		{name: "HTTP 201", play: func(w http.ResponseWriter, _ *http.Request, frames []string) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(http.StatusCreated)
			write(w, frames...)
		}, want: "must be 200", weight: warning},
		{name: "nothing is there", play: fails(404, `{"detail":"Not Found"}`), want: "does the card name the right URL?"},
		{name: "a part with a type", place: "stream", swap: []string{`{"kind":"text","text":"I think"}`, `{"type":"text","content":"I think"}`, `{"text":"I think"}`, `{"content":"I think"}`}, want: `what is there is "`},
		{name: "a byte order mark", place: "get", swap: []string{`{"jsonrpc"`, "\ufeff{\"jsonrpc\""}, want: "byte order mark"},
		{name: "a wrong ID", one: true, place: "stream get", swap: []string{`"jsonrpc":"2.0","id":`, `"jsonrpc":"2.0","id":9`}, want: "the ID must be"},
		{name: "the ID as text", place: "get", swap: []string{`"jsonrpc":"2.0","id":`, `"jsonrpc":"2.0","id":"x","was":`}, want: "the ID must be"},
		{name: "an error without its ID", place: "unknown", swap: []string{`"jsonrpc":"2.0","id":`, `"jsonrpc":"2.0","id":null,"was":`}, want: "the ID must be"},
		{name: "message/send that is missing", place: "send", swap: []string{"-32004", "-32601"}, want: "which every agent must have"},
		{name: "no jsonrpc", place: "stream", swap: []string{`"jsonrpc":"2.0",`, ``}, want: `jsonrpc must be "2.0"`},
		{name: "result and error", place: "stream", swap: []string{`"result":`, `"error":null,"x":1,"result":`, `"final":true`, `"final":true`}, want: "either a result or an error"},
		{name: "a method that is not there is answered", place: "method", swap: []string{`"error":`, `"result":`}, want: "does not exist"},
		{name: "another code for no method", place: "method", swap: []string{"-32601", "-32000"}, want: "-32601", weight: warning},
	}
	switch kind {
	case "0.3":
		return append(rpc, []plant{
			{name: "a message to what has ended begins another task", place: "send", swap: []string{`"error":{"code":-32004,"message":"no"}`, `"result":{"kind":"task","id":"task-3","contextId":"$CTX","status":{"state":"submitted"}}`}},
			{name: "cancel of what has ended", place: "cancel", swap: []string{`"error":`, `"result":`, `{"code":-32002,"message":"no"}`, plantedTask["0.3"]}, want: "cannot be cancelled", weight: warning},
			{name: "an interface that is missing", place: "card", swap: []string{`"skills"`, `"additionalInterfaces":[{"url":"URL/v9","transport":"HTTP+JSON"}],"skills"`}, want: "missing"},
			{name: "final is false", place: "stream", swap: []string{`"final":true`, `"final":false`}, want: "must have final: true"},
			{name: "final too early", place: "stream", swap: []string{`"final":false`, `"final":true`}, want: "final: true tells"},
			{name: "no final", place: "stream", swap: []string{`"final":true,`, ``}, want: "final: is missing"},
			{name: "no kind", place: "stream", swap: []string{`"kind":"artifact-update",`, ``}, want: "kind: is missing"},
			{name: "a kind that is none", place: "stream", swap: []string{`"status-update"`, `"statusUpdate"`}, want: "kind: must be one of"},
			{name: "a part with type", place: "stream", swap: []string{`"kind":"text"`, `"type":"text"`}, want: "kind: is missing"},
			{name: "the words of 1.0", place: "stream", swap: []string{`"result":`, `"result":{"task":`, "\n\n", "}\n\n"}, want: "in the form of A2A 1.0"},
			{name: "a file that is no base64", place: "stream", swap: []string{`{"kind":"text","text":"I think"}`, `{"kind":"file","file":{"bytes":"not base64!","mimeType":"image/png"}}`}, want: "no base64"},
			{name: "text and a file", place: "stream", swap: []string{`{"kind":"text","text":"I think"}`, `{"kind":"text","text":"I think","file":{"uri":"https://h/x"}}`}, want: "text and a file at once", weight: warning},
			{name: "bytes and an empty uri", place: "stream", swap: []string{`{"kind":"text","text":"I think"}`, `{"kind":"file","file":{"bytes":"aGk=","uri":""}}`}, want: "of which one is empty", weight: warning},
			{name: "bytes and a uri", place: "stream", swap: []string{`{"kind":"text","text":"I think"}`, `{"kind":"file","file":{"bytes":"aGk=","uri":"https://h/x"}}`}, want: "must have one of them"},
			{name: "it says nothing", play: upTo(0, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }), want: "the agent was not done"},
			{name: "no transport", place: "card", swap: []string{`"preferredTransport":"JSONRPC",`, ``}, want: "preferredTransport: is missing", weight: warning},
			{name: "a file in the words of 1.0", place: "stream", swap: []string{`{"kind":"text","text":"I think"}`, `{"kind":"file","file":{"uri":"https://h/x"},"mediaType":"image/png"}`}, want: "mediaType is a member of A2A 1.0", weight: warning},
			{name: "a card of 1.0", place: "card", swap: []string{`"0.3.0"`, `"1.0"`}, want: "in the form of 0.3"},
		}...)
	case "1.0":
		return append(rpc, plant{name: "the task once more, whole", play: func(w http.ResponseWriter, _ *http.Request, frames []string) {
			write(w, append(frames, strings.Replace(frames[0], "SUBMITTED", "COMPLETED", 1))...)
		}}, plant{name: "the words of 0.3", place: "stream", swap: []string{plantedStream["1.0"][0], plantedStream["0.3"][0]}, want: "in the form of A2A 0.3"},
			plant{name: "no task first", play: func(w http.ResponseWriter, r *http.Request, frames []string) { write(w, frames[1:]...) }, want: "the first event must be"},
			plant{name: "a file that is no base64", place: "stream", swap: []string{`{"text":"I think"}`, `{"raw":"not base64!","mediaType":"image/png"}`}, want: "no base64"},
			plant{name: "final in 1.0", place: "stream", swap: []string{`"contextId":"$CTX","status"`, `"contextId":"$CTX","final":false,"status"`}, want: "final is a member of A2A 0.3", weight: warning},
			plant{name: "kind in 1.0", place: "stream", swap: []string{`{"text"`, `{"kind":"text","text"`}, want: "kind is a member of A2A 0.3", weight: warning},
			plant{name: "a time that is not UTC", place: "stream", swap: []string{`$NOW`, "2026-01-31T12:00:00+01:00"}, want: "with a Z", weight: warning},
			plant{name: "a version of three numbers", place: "card", swap: []string{`"protocolVersion":"1.0"`, `"protocolVersion":"1.0.0"`}, want: "without a number behind", weight: warning},
			plant{name: "two things in a part", place: "stream", swap: []string{`{"text":"I think"}`, `{"kind":"text","text":"I think","url":"x"}`}, want: "2 things at once"})
	}
	return []plant{
		{name: "an envelope", place: "get", swap: []string{plantedTask["1.0"], `{"jsonrpc":"2.0","id":1,"result":` + plantedTask["1.0"] + `}`}, want: "the envelope of JSON-RPC"},
		{name: "any ID is a task", place: "known", want: "whose ID was invented"},
		{name: "no list", place: "nolist", want: "has no ListTasks (HTTP status 404)", weight: warning},
		{name: "an error as a success", place: "unknown200", want: "clients take it for a success"},
		{name: "a wrong status", place: "unknown500", want: "must be 404, and is 500", weight: warning},
		{name: "an error without its reason", place: "unknown", swap: []string{`"reason":"TASK_NOT_FOUND",`, ``}, want: "ErrorInfo", weight: warning},
		{name: "push/set that is missing", place: "card", swap: []string{`"streaming":true`, `"streaming":true,"pushNotifications":true`}, want: "has no CreateTaskPushNotificationConfig"},
		{name: "no error object", place: "unknown", swap: []string{`"error"`, `"detail"`}, want: "no member error"},
	}
}
