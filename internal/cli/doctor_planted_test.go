package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/a2astdio/a2astdio/internal/trace/check"
)

// A plant is an agent that is right but for one bug.
type plant struct {
	name string
	// In the texts of one place, card, stream (all that is streamed), get or cancel, each
	// odd word is replaced by the next one.
	place string
	swap  []string
	// play, if it is there, writes the stream's frames itself.
	play func(w http.ResponseWriter, r *http.Request, frames []string)
	// want are words of a finding, or of a step that is not ok; "" for nothing at all.
	want   string
	weight string // "" for an error
}

// The right agent's texts in 0.3 and 1.0. $TASK, $CTX, $SENT and $NOW are filled in.
var (
	plantedCard = map[string]string{
		"0.3": `{"protocolVersion":"0.3.0","name":"planted","description":"an agent","version":"1","url":"URL/","preferredTransport":"JSONRPC",
			"capabilities":{"streaming":true,"pushNotifications":false},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
			"securitySchemes":{"key":{"type":"http","scheme":"bearer"}},"skills":[{"id":"s","name":"s","description":"s","tags":["s"]}]}`,
		"1.0": `{"name":"planted","description":"an agent","version":"1","supportedInterfaces":[{"url":"URL/","protocolBinding":"BINDING","protocolVersion":"1.0"}],
			"capabilities":{"streaming":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
			"securitySchemes":{"key":{"httpAuthSecurityScheme":{"scheme":"bearer"}}},"skills":[{"id":"s","name":"s","description":"s","tags":["s"]}]}`,
	}
	plantedStream = map[string][]string{
		"0.3": {
			`{"kind":"task","id":"$TASK","contextId":"$CTX","status":{"state":"submitted","timestamp":"$NOW"}}`,
			`{"kind":"status-update","taskId":"$TASK","contextId":"$CTX","final":false,"status":{"state":"working","timestamp":"$NOW","message":{"kind":"message","messageId":"m1","role":"agent","taskId":"$TASK","contextId":"$CTX","parts":[{"kind":"text","text":"I think"}]}}}`,
			`{"kind":"artifact-update","taskId":"$TASK","contextId":"$CTX","artifact":{"artifactId":"a","parts":[{"kind":"text","text":"What you have sent has come here, "}]}}`,
			`{"kind":"artifact-update","taskId":"$TASK","contextId":"$CTX","append":true,"lastChunk":true,"artifact":{"artifactId":"a","parts":[{"kind":"text","text":"and this is the answer to it."}]}}`,
			`{"kind":"status-update","taskId":"$TASK","contextId":"$CTX","final":true,"status":{"state":"completed","timestamp":"$NOW"}}`,
		},
		"1.0": {
			`{"task":{"id":"$TASK","contextId":"$CTX","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"$NOW"}}}`,
			`{"statusUpdate":{"taskId":"$TASK","contextId":"$CTX","status":{"state":"TASK_STATE_WORKING","timestamp":"$NOW","message":{"messageId":"m1","role":"ROLE_AGENT","taskId":"$TASK","contextId":"$CTX","parts":[{"text":"I think"}]}}}}`,
			`{"artifactUpdate":{"taskId":"$TASK","contextId":"$CTX","artifact":{"artifactId":"a","parts":[{"text":"What you have sent has come here, "}]}}}`,
			`{"artifactUpdate":{"taskId":"$TASK","contextId":"$CTX","append":true,"lastChunk":true,"artifact":{"artifactId":"a","parts":[{"text":"and this is the answer to it."}]}}}`,
			`{"statusUpdate":{"taskId":"$TASK","contextId":"$CTX","status":{"state":"TASK_STATE_COMPLETED","timestamp":"$NOW"}}}`,
		},
	}
	plantedTask = map[string]string{
		"0.3": `{"kind":"task","id":"$TASK","contextId":"$CTX","status":{"state":"completed"},"artifacts":[{"artifactId":"a","parts":[{"kind":"text","text":"What you have sent has come here, and this is the answer to it."}]}]}`,
		"1.0": `{"id":"$TASK","contextId":"$CTX","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[{"artifactId":"a","parts":[{"text":"What you have sent has come here, and this is the answer to it."}]}]}`,
	}
)

// An agentOf plays a planted agent.
type agentOf struct {
	*plant
	version string
	rest    bool
	url     string
}

// text returns a text of a place, with its bug.
func (a *agentOf) text(place, text string) string {
	if place == a.place {
		text = strings.NewReplacer(a.swap...).Replace(text)
	}
	return text
}

func (a *agentOf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/.well-known/agent-card.json") {
		w.Header().Set("Content-Type", "application/json")
		binding := "JSONRPC"
		if a.rest {
			binding = "HTTP+JSON"
		}
		_, _ = io.WriteString(w, strings.NewReplacer("URL", a.url, "BINDING", binding).Replace(a.text("card", plantedCard[a.version])))
		return
	}
	var call struct {
		ID      json.RawMessage
		Method  string
		Message struct{ MessageID string }
		Params  struct {
			ID      string
			Message struct{ MessageID string }
		}
	}
	_ = json.NewDecoder(r.Body).Decode(&call)
	method := call.Method
	if a.rest {
		call.ID = json.RawMessage("0")
		method, call.Params.Message = strings.TrimPrefix(r.URL.Path, "/message:"), call.Message
		if strings.HasSuffix(r.URL.Path, "/pushNotificationConfigs") {
			method = "push"
		} else if id, verb, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/tasks/"), ":"); ok {
			method, call.Params.ID = verb, id
		} else if strings.HasPrefix(r.URL.Path, "/tasks/") {
			method, call.Params.ID = "get", id
		}
	}
	fill := strings.NewReplacer("$ID", string(call.ID), "$TASK", "task-1", "$CTX", "ctx-1", "$SENT", call.Params.Message.MessageID, "$NOW", time.Now().UTC().Format(time.RFC3339Nano))
	envelope := func(member, body string) string {
		if a.rest {
			return body
		}
		return `{"jsonrpc":"2.0","id":` + string(call.ID) + `,"` + member + `":` + body + `}`
	}
	refuse := func(place string, code, status int, reason string) {
		w.Header().Set("Content-Type", "application/json")
		body := fmt.Sprintf(`{"code":%d,"message":"no"}`, code)
		if a.rest {
			w.WriteHeader(status)
			body = fmt.Sprintf(`{"error":{"code":%d,"status":"X","message":"no","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":%q,"domain":"a2a-protocol.org"}]}}`, status, reason)
		}
		_, _ = io.WriteString(w, fill.Replace(a.text(place, envelope("error", body))))
	}
	switch strings.ToLower(method) {
	case "message/stream", "sendstreamingmessage", "stream":
		var frames []string
		for _, e := range plantedStream[a.version] {
			frames = append(frames, "data: "+envelope("result", e)+"\n\n")
		}
		a.stream(w, r, fill, frames)
	case "tasks/get", "gettask", "get":
		if call.Params.ID != "task-1" {
			refuse("unknown", -32001, 404, "TASK_NOT_FOUND")
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, fill.Replace(a.text("get", envelope("result", plantedTask[a.version]))))
	case "tasks/cancel", "canceltask", "cancel":
		if call.Params.ID != "task-1" {
			refuse("", -32001, 404, "TASK_NOT_FOUND")
			return
		}
		refuse("cancel", -32002, 400, "TASK_NOT_CANCELABLE")
	case "tasks/resubscribe", "subscribetotask", "subscribe":
		if call.Params.ID != "task-1" {
			refuse("", -32001, 404, "TASK_NOT_FOUND")
			return
		}
		refuse("subscribe", -32004, 400, "UNSUPPORTED_OPERATION")
	case "listtasks", "/tasks":
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, fill.Replace(envelope("result", a.text("list", `{"tasks":[`+plantedTask["1.0"]+`],"nextPageToken":"","pageSize":5,"totalSize":1}`))))
	default:
		refuse("method", -32601, 400, "PUSH_NOTIFICATION_NOT_SUPPORTED")
	}
}

// stream writes the frames, after their bug.
func (a *agentOf) stream(w http.ResponseWriter, r *http.Request, fill *strings.Replacer, frames []string) {
	w.Header().Set("Content-Type", "text/event-stream")
	all := a.text("stream", strings.Join(frames, "\x00"))
	frames = strings.Split(fill.Replace(all), "\x00")
	if a.play != nil {
		a.play(w, r, frames)
		return
	}
	for _, f := range frames {
		_, _ = io.WriteString(w, f)
		w.(http.Flusher).Flush()
	}
}

func write(w http.ResponseWriter, frames ...string) {
	for _, f := range frames {
		_, _ = io.WriteString(w, f)
		w.(http.Flusher).Flush()
	}
}

// open keeps a stream open behind its frames.
func staysOpen(w http.ResponseWriter, r *http.Request, frames []string) {
	write(w, frames...)
	<-r.Context().Done()
}

// upTo plays the first frames.
func upTo(n int, then func(http.ResponseWriter, *http.Request)) func(http.ResponseWriter, *http.Request, []string) {
	return func(w http.ResponseWriter, r *http.Request, frames []string) {
		write(w, frames[:n]...)
		if then != nil {
			then(w, r)
		}
	}
}

// ofType plays all frames with another Content-Type.
func ofType(media string) func(http.ResponseWriter, *http.Request, []string) {
	return func(w http.ResponseWriter, _ *http.Request, frames []string) {
		w.Header().Set("Content-Type", media)
		write(w, frames...)
	}
}

func fails(code int, body string) func(http.ResponseWriter, *http.Request, []string) {
	return func(w http.ResponseWriter, _ *http.Request, _ []string) {
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

// plantedBugs are bugs of agents of all versions and bindings, and those of one.
func plantedBugs(kind string) []plant {
	const warning = check.Warning
	bugs := []plant{
		{name: "nothing"},

		// The wire.
		{name: "Content-Type of a stream", play: ofType("application/json"), want: "Content-Type"},
		{name: "no data:", play: func(w http.ResponseWriter, _ *http.Request, frames []string) {
			write(w, strings.ReplaceAll(strings.Join(frames, ""), "data: ", ""))
		}, want: "data:"},
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
		{name: "an event twice", play: func(w http.ResponseWriter, r *http.Request, frames []string) {
			long := strings.Replace(frames[1], "I think", "I think about this for a long time, and then some", 1)
			write(w, frames[0], long, long, frames[2], frames[3], frames[4])
		}, want: "the event before once more", weight: warning},
		{name: "completed without words", play: func(w http.ResponseWriter, r *http.Request, frames []string) {
			write(w, frames[0], frames[4])
		}, want: "nothing was said", weight: warning},
		{name: "failed without a reason", place: "stream", swap: []string{`"state":"completed"`, `"state":"failed"`, "TASK_STATE_COMPLETED", "TASK_STATE_FAILED"}, want: "says why", weight: ""},
		{name: "the task says otherwise", place: "get", swap: []string{`"completed"`, `"working"`, "TASK_STATE_COMPLETED", "TASK_STATE_WORKING"}, want: "was completed in record"},
		{name: "the task forgets", place: "get", swap: []string{`"artifactId":"a"`, `"artifactId":"b"`}, want: "does not hold the artifact", weight: warning},
		{name: "the task has other text", place: "get", swap: []string{"What you have sent has come here, ", ""}, want: "another text", weight: warning},

		// IDs.
		{name: "another task", place: "stream", swap: []string{`"append":true,`, `"append":true,"x":1,`, `"taskId":"$TASK","contextId":"$CTX","artifact":{"artifactId":"a","parts":[{`, `"taskId":"other","contextId":"$CTX","artifact":{"artifactId":"a","parts":[{`}, want: `the stream is about the task`},
		{name: "another context", place: "stream", swap: []string{`"contextId":"$CTX","artifact"`, `"contextId":"other","artifact"`}, want: "the context was"},
		{name: "no artifactId", place: "stream", swap: []string{`"artifactId":"a",`, ``}, want: "artifactId: is missing"},
		{name: "no messageId", place: "stream", swap: []string{`"messageId":"m1",`, ``}, want: "messageId: is missing"},
		{name: "an empty messageId", place: "stream", swap: []string{`"messageId":"m1",`, `"messageId":"",`}, want: "messageId must not be empty"},
		{name: "the user's message ID", place: "stream", swap: []string{`"messageId":"m1",`, `"messageId":"$SENT",`}, want: "ID of the user's message"},
		{name: "the message's own task", place: "stream", swap: []string{`"role":"agent","taskId":"$TASK"`, `"role":"agent","taskId":"x"`, `"role":"ROLE_AGENT","taskId":"$TASK"`, `"role":"ROLE_AGENT","taskId":"x"`}, want: "status.message.taskId is"},
		{name: "the user's role", place: "stream", swap: []string{`"role":"agent"`, `"role":"user"`, `"ROLE_AGENT"`, `"ROLE_USER"`}, want: "the role is"},
		{name: "assistant", place: "stream", swap: []string{`"role":"agent"`, `"role":"assistant"`, `"ROLE_AGENT"`, `"assistant"`}, want: "role: must be"},
		{name: "a number as ID", place: "stream", swap: []string{`"messageId":"m1"`, `"messageId":1`}, want: "messageId: must be a string"},
		{name: "snake_case", place: "stream", swap: []string{`"contextId"`, `"context_id"`}, want: "must be spelled contextId"},
		{name: "snake_case that is optional", place: "stream", swap: []string{`"lastChunk"`, `"last_chunk"`}, want: "must be spelled lastChunk"},
		{name: "another task for an ID", place: "get", swap: []string{`"id":"$TASK"`, `"id":"t9"`}, want: "was asked for"},

		// The card.
		{name: "a relative URL", place: "card", swap: []string{`"URL/"`, `"/a2a"`}, want: "absolute URL"},
		{name: "an address to listen at", place: "card", swap: []string{`"URL/"`, `"http://0.0.0.0:9/"`}, want: "0.0.0.0"},
		{name: "no description", place: "card", swap: []string{`"description":"an agent",`, ""}, want: "description: is missing"},
		{name: "a version with a v", place: "card", swap: []string{`"0.3.0"`, `"v0.3"`, `"protocolVersion":"1.0"`, `"protocolVersion":"v1"`}, want: "protocolVersion: must be a version"},
		{name: "a transport that is none", place: "card", swap: []string{`"JSONRPC"`, `"json-rpc"`, `"BINDING"`, `"REST"`}, want: "must be JSONRPC, HTTP+JSON or GRPC"},
		{name: "streaming as text", place: "card", swap: []string{`"streaming":true`, `"streaming":"true"`}, want: "capabilities.streaming: must be a boolean"},
		{name: "text is no media type", place: "card", swap: []string{`["text/plain"]`, `["text"]`}, want: "media type", weight: warning},
		{name: "a skill twice", place: "card", swap: []string{`"skills":[`, `"skills":[{"id":"s","name":"s","description":"s","tags":["s"]},`}, want: "is there twice", weight: warning},
		{name: "no skills", place: "card", swap: []string{`[{"id":"s","name":"s","description":"s","tags":["s"]}]`, `[]`}, want: "skills: is empty", weight: warning},
		{name: "a scheme that is not declared", place: "card", swap: []string{`"skills"`, `"security":[{"other":[]}],"securityRequirements":[{"schemes":{"other":{"list":[]}}}],"skills"`}, want: "names the scheme"},
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
		{name: "all at once", play: func(w http.ResponseWriter, r *http.Request, frames []string) {
			<-time.After(heldFor) // the client measures real time
			write(w, strings.Join(frames, ""))
		}, want: "at once", weight: warning},
	}
	if kind != "0.3" {
		bugs = append(bugs, plant{name: "a list without the task", place: "list", swap: []string{plantedTask["1.0"], ""}, want: "the list of tasks", weight: warning})
	}
	return append(bugs, plantedBugsOf(kind)...)
}

const heldFor = 1600 * time.Millisecond

// plantedBugsOf are bugs of one version or binding.
func plantedBugsOf(kind string) []plant {
	const warning = check.Warning
	rpc := []plant{
		{name: "streaming that is missing", play: func(w http.ResponseWriter, r *http.Request, frames []string) {
			w.Header().Set("Content-Type", "application/json")
			_, id, _ := strings.Cut(frames[0], `"id":`)
			id, _, _ = strings.Cut(id, ",")
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, id)
		}, want: "missing"},
		{name: "a task that is not known", place: "get", swap: []string{"result", "error", plantedTask["0.3"], `{"code":-32001,"message":"no"}`, plantedTask["1.0"], `{"code":-32001,"message":"no"}`}, want: "does not know the task"},
		{name: "a wrong ID", place: "stream", swap: []string{`"jsonrpc":"2.0","id":`, `"jsonrpc":"2.0","id":9`}, want: "the ID must be"},
		{name: "the ID as text", place: "get", swap: []string{`"jsonrpc":"2.0","id":`, `"jsonrpc":"2.0","id":"x","was":`}, want: "the ID must be"},
		{name: "no jsonrpc", place: "stream", swap: []string{`"jsonrpc":"2.0",`, ``}, want: `jsonrpc must be "2.0"`},
		{name: "result and error", place: "stream", swap: []string{`"result":`, `"error":null,"x":1,"result":`, `"final":true`, `"final":true`}, want: "either a result or an error"},
		{name: "a method that is not there is answered", place: "method", swap: []string{`"error":`, `"result":`}, want: "does not exist"},
		{name: "another code for no method", place: "method", swap: []string{"-32601", "-32000"}, want: "-32601", weight: warning},
	}
	switch kind {
	case "0.3":
		return append(rpc, []plant{
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
			{name: "a card of 1.0", place: "card", swap: []string{`"0.3.0"`, `"1.0"`}, want: "in the form of 0.3"},
		}...)
	case "1.0":
		return append(rpc, plant{name: "the words of 0.3", place: "stream", swap: []string{plantedStream["1.0"][0], plantedStream["0.3"][0]}, want: "in the form of A2A 0.3"},
			plant{name: "no task first", play: func(w http.ResponseWriter, r *http.Request, frames []string) { write(w, frames[1:]...) }, want: "the first event must be"},
			plant{name: "a file that is no base64", place: "stream", swap: []string{`{"text":"I think"}`, `{"raw":"not base64!","mediaType":"image/png"}`}, want: "no base64"},
			plant{name: "final in 1.0 is no member", place: "stream", swap: []string{`{"text":"I think"}`, `{"kind":"text","text":"I think","url":"x"}`}, want: "2 things at once"})
	}
	return []plant{
		{name: "an envelope", place: "get", swap: []string{plantedTask["1.0"], `{"jsonrpc":"2.0","id":1,"result":` + plantedTask["1.0"] + `}`}, want: "is missing"},
		{name: "no error object", place: "unknown", swap: []string{`"error"`, `"detail"`}, want: "no member error"},
	}
}

// TestPlantedBugs: doctor --prompt names what is wrong with an agent, in words.
func TestPlantedBugs(t *testing.T) {
	for _, kind := range []string{"0.3", "1.0", "rest"} {
		for _, bug := range plantedBugs(kind) {
			t.Run(kind+"/"+bug.name, func(t *testing.T) {
				t.Parallel()
				a := &agentOf{plant: &bug, version: strings.Replace(kind, "rest", "1.0", 1), rest: kind == "rest"}
				server := httptest.NewServer(a)
				defer server.Close()
				a.url = server.URL
				status, e := examine(t, "--agent", server.URL, "--idle-timeout", "2s")
				if all, ok := toldBy(e, bug.want, bug.weight); !ok || (status == 0) != (bug.want == "" || bug.weight == check.Warning) {
					t.Errorf("status %d, and nothing says %q:\n%s", status, bug.want, all)
				}
			})
		}
	}
}

// toldBy reports whether a finding or a step has words.
func toldBy(e *examined, want, weight string) (all string, ok bool) {
	for _, f := range e.Findings {
		all += f.Weight + ": " + f.String() + "\n"
		ok = ok || strings.Contains(f.Text, want) && (weight == "" || weight == f.Weight)
	}
	for _, s := range e.Steps {
		if s.Status != "ok" && s.Status != "skipped" && s.Step != "connection" {
			all += s.Step + ": " + s.Status + ": " + s.Says + "\n"
			ok = ok || strings.Contains(s.Says, want)
		}
	}
	if want == "" {
		return all, all == ""
	}
	return all, ok
}
