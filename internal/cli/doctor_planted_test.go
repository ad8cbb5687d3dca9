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
	// In the texts of one place, or of card and stream, card, stream (all that is streamed), get, cancel, begun (a task
	// of doctor's own) or its ending, each odd word is replaced by the next one.
	place string
	swap  []string
	// play, if it is there, writes the stream's frames itself.
	play func(w http.ResponseWriter, r *http.Request, frames []string)
	// want are words of a finding, or of a step that is not ok; "" for nothing at all.
	want   string
	weight string // "" for an error
	one    bool   // it is told once, of whatever is wrong by it
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
	plantedSent = map[string]string{
		"0.3": `{"kind":"task","id":"$TASK","contextId":"$CTX","status":{"state":"completed"}}`,
		"1.0": `{"task":{"id":"$TASK","contextId":"$CTX","status":{"state":"TASK_STATE_COMPLETED"}}}`,
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
	if place != "" && strings.Contains(a.place, place) {
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
		Message struct{ MessageID, TaskID string }
		Params  struct {
			ID      string
			Message struct{ MessageID, TaskID string }
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
	if r.Header.Get("A2A-Version") == "9.9" && a.place != "version" {
		refuse("", -32009, 400, "VERSION_NOT_SUPPORTED")
		return
	}
	answer := func(place, body string) {
		w.Header().Set("Content-Type", "application/json")
		second := strings.NewReplacer("$TASK", "task-2", `"completed"`, `"canceled"`, "COMPLETED", "CANCELED", "artifacts", "x")
		_, _ = io.WriteString(w, fill.Replace(a.text(place, second.Replace(envelope("result", body)))))
	}
	switch strings.ToLower(method) {
	case "message/stream", "sendstreamingmessage", "stream":
		var frames []string
		for _, e := range plantedStream[a.version] {
			frames = append(frames, "data: "+envelope("result", e)+"\n\n")
		}
		a.stream(w, r, fill, frames)
	case "tasks/get", "gettask", "get":
		if call.Params.ID == "task-2" {
			answer("ending", plantedTask[a.version])
			return
		}
		if call.Params.ID != "task-1" && a.place != "known" {
			status := 404
			_, _ = fmt.Sscanf(a.place, "unknown%d", &status)
			refuse("unknown", -32001, status, "TASK_NOT_FOUND")
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, fill.Replace(a.text("get", envelope("result", plantedTask[a.version]))))
	case "tasks/cancel", "canceltask", "cancel":
		if call.Params.ID == "task-2" {
			answer("ending", plantedTask[a.version])
			return
		}
		if call.Params.ID != "task-1" {
			refuse("", -32001, 404, "TASK_NOT_FOUND")
			return
		}
		refuse("cancel", -32002, 400, "TASK_NOT_CANCELABLE")
	case "tasks/resubscribe", "subscribetotask", "subscribe":
		if call.Params.ID != "task-1" {
			if a.place == "hang" {
				a.stream(w, r, fill, nil)
				<-r.Context().Done()
				return
			}
			if a.place == "follow" && call.Params.ID == "task-2" {
				a.stream(w, r, fill, []string{"data: " + envelope("result", plantedStream[a.version][1]) + "\n\n"})
				return
			}
			refuse("", -32001, 404, "TASK_NOT_FOUND")
			return
		}
		refuse("subscribe", -32004, 400, "UNSUPPORTED_OPERATION")
	case "listtasks", "/tasks":
		if a.place == "nolist" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, fill.Replace(envelope("result", a.text("list", `{"tasks":[`+plantedTask["1.0"]+`],"nextPageToken":"","pageSize":5,"totalSize":1}`))))
	case "message/send", "sendmessage", "send": // doctor sends one to the task that has ended, and begins another
		if call.Params.Message.TaskID == "" {
			answer("begun", plantedStream[a.version][0])
			return
		}
		if a.place == "send" && len(a.swap) == 0 {
			_, _ = io.WriteString(w, fill.Replace(envelope("result", plantedSent[a.version])))
			return
		}
		refuse("send", -32004, 400, "UNSUPPORTED_OPERATION")
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

// A step is one of doctor's, as JSON.
type step struct{ Step, Status, Says, Do string }

// examined is what doctor --prompt says of an agent, as JSON.
type examined struct {
	Steps    []step
	Findings []check.Finding
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
				status, stdout, stderr := runMain("", "--agent", server.URL, "--idle-timeout", "2s", "doctor", "--prompt", "hello", "-o", "json")
				var e examined
				if err := json.Unmarshal([]byte(stdout), &e); err != nil {
					t.Fatalf("%v: %s%s", err, stdout, stderr)
				}
				for _, s := range e.Steps {
					if s.Step == "card" && strings.Contains(s.Says, "/tasks/") {
						t.Errorf("the card is %s", s.Says)
					}
				}
				if bug.one && len(e.Findings) != 1 {
					t.Errorf("%d findings", len(e.Findings))
				}
				told := map[string]bool{}
				for _, f := range e.Findings {
					if told[f.Text] {
						t.Errorf("it is told twice: %s", f.Text)
					}
					told[f.Text] = true
				}
				if all, ok := toldBy(e, bug.want, bug.weight); !ok || (status == 0) != (bug.want == "" || bug.weight == check.Warning) {
					t.Errorf("status %d, and nothing says %q:\n%s", status, bug.want, all)
				}
			})
		}
	}
}

// toldBy reports whether a finding or a step has words.
func toldBy(e examined, want, weight string) (all string, ok bool) {
	for _, f := range e.Findings {
		if want == "" && (strings.Contains(f.Text, " events came at once") || strings.Contains(f.Text, "nothing came within")) {
			continue // this machine stood still
		}
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

// TestSecondInterface: doctor --prompt reaches the card's other interfaces in the way that led to the card.
func TestSecondInterface(t *testing.T) {
	a := &agentOf{plant: &plant{place: "card", swap: []string{`"supportedInterfaces":[`, `"supportedInterfaces":[{"url":"URL/","protocolBinding":"JSONRPC","protocolVersion":"0.3"},`}}, version: "1.0"}
	server := httptest.NewServer(a)
	defer server.Close()
	a.url = server.URL
	if status, stdout, stderr := runMain("", "--card", server.URL+"/.well-known/agent-card.json", "--a2a-version", "1.0", "doctor", "--prompt", "hello"); status != 0 {
		t.Errorf("status %d: %s%s", status, stdout, stderr)
	}
}
