package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/internal/trace/check"
)

// A plant is an agent that is right but for one bug: a block of testdata/planted.txt, its lines by their words.
type plant map[string][]string

// plants reads the blocks: the right agents, and those with a bug of a kind.
func plants(t *testing.T, kind string) (right plant, bugs []plant) {
	t.Helper()
	version := strings.Replace(kind, "rest", "1.0", 1)
	head, blocks, _ := strings.Cut(string(must.Get(os.ReadFile("../../testdata/planted.txt"))(t)), "\n== ")
	words := []string{"$NL", "\n", "$CR", "\r", "$SP", " ", "$BOM", "\ufeff", "$EF", "\xef"}
	for _, let := range regexp.MustCompile(`(?m)^let (\w+) (.*)$`).FindAllStringSubmatch(head, -1) {
		words = append(words, "<"+let[1]+">", let[2])
	}
	for block := range strings.SplitSeq(blocks, "\n== ") {
		name, lines, _ := strings.Cut(block, "\n")
		p := plant{"name": {name}}
		for _, line := range regexp.MustCompile(`(?m)^(\w+):? ?(.*)$`).FindAllStringSubmatch(lines, -1) {
			p[line[1]] = append(p[line[1]], strings.NewReplacer(words...).Replace(line[2]))
		}
		if name == "right "+version {
			right = p
			words = append(words, "<task>", p.line("task"), "<task-2>", strings.Replace(p.line("task"), "$TASK", "task-2", 1))
		} else if !strings.HasPrefix(name, "right ") && strings.Contains(cmp.Or(p.line("in"), kind), kind) {
			p.call()
			bugs = append(bugs, p)
		}
	}
	return right, bugs
}

// line is what stands behind a word.
func (p plant) line(word string) string { return strings.Join(p[word], "") }

// call puts calls of the development-tool extension into the stream.
func (p plant) call() {
	calls := strings.Fields(p.line("calls"))
	if len(calls) == 0 {
		return
	}
	for _, state := range []string{`"status":{"state":"working"`, `"status":{"state":"TASK_STATE_WORKING"`} {
		p["stream"] = append(p["stream"], state+` => "metadata":`+p.line("meta")+`,`+state)
	}
	for _, kind := range []string{`{"kind":"text","text":"I think"} => {"kind":"data",`, `{"text":"I think"} => {`} {
		_, begin, _ := strings.Cut(kind, " => ")
		p["stream"] = append(p["stream"], kind+`"data":`+strings.Join(calls, `},`+begin+`"data":`)+`}`)
	}
}

// swapped is a text of a place with its bug.
func (p plant) swapped(place, text string) string {
	var pairs []string
	for _, line := range p[place] {
		before, after, _ := strings.Cut(line, " =>")
		pairs = append(pairs, before, strings.TrimPrefix(after, " "))
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// An agentOf plays a planted agent.
type agentOf struct {
	plant
	right plant
	rest  bool
	url   string
}

func (a *agentOf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/.well-known/agent-card.json") {
		w.Header().Set("Content-Type", "application/json")
		binding := "JSONRPC"
		if a.rest {
			binding = "HTTP+JSON"
		}
		_, _ = io.WriteString(w, strings.NewReplacer("URL", a.url, "BINDING", binding).Replace(a.swapped("card", a.right.line("card"))))
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
	method, place := call.Method, a.line("place")
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
		_, _ = io.WriteString(w, fill.Replace(a.swapped(place, envelope("error", body))))
	}
	if r.Header.Get("A2A-Version") == "9.9" && place != "version" {
		refuse("", -32009, 400, "VERSION_NOT_SUPPORTED")
		return
	}
	answer := func(place, body string) {
		w.Header().Set("Content-Type", "application/json")
		second := strings.NewReplacer("$TASK", "task-2", `"completed"`, `"canceled"`, "COMPLETED", "CANCELED", "artifacts", "x")
		_, _ = io.WriteString(w, fill.Replace(a.swapped(place, second.Replace(envelope("result", body)))))
	}
	switch strings.ToLower(method) {
	case "message/stream", "sendstreamingmessage", "stream":
		var frames []string
		for _, e := range a.right["stream"] {
			frames = append(frames, "data: "+envelope("result", e)+"\n\n")
		}
		a.stream(w, r, fill, frames)
	case "tasks/get", "gettask", "get":
		if call.Params.ID == "task-2" {
			answer("ending", a.right.line("task"))
			return
		}
		if call.Params.ID != "task-1" && place != "known" {
			status := 404
			_, _ = fmt.Sscanf(place, "unknown%d", &status)
			refuse("unknown", -32001, status, "TASK_NOT_FOUND")
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, fill.Replace(a.swapped("get", envelope("result", a.right.line("task")))))
	case "tasks/cancel", "canceltask", "cancel":
		if call.Params.ID == "task-2" {
			answer("ending", a.right.line("task"))
			return
		}
		if call.Params.ID != "task-1" {
			refuse("", -32001, 404, "TASK_NOT_FOUND")
			return
		}
		refuse("cancel", -32002, 400, "TASK_NOT_CANCELABLE")
	case "tasks/resubscribe", "subscribetotask", "subscribe":
		if call.Params.ID != "task-1" {
			if place == "hang" {
				a.stream(w, r, fill, nil)
				<-r.Context().Done()
				return
			}
			if place == "follow" && call.Params.ID == "task-2" {
				a.stream(w, r, fill, []string{"data: " + envelope("result", a.right["stream"][1]) + "\n\n"})
				return
			}
			refuse("", -32001, 404, "TASK_NOT_FOUND")
			return
		}
		refuse("subscribe", -32004, 400, "UNSUPPORTED_OPERATION")
	case "listtasks", "/tasks":
		if place == "nolist" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, fill.Replace(envelope("result", a.swapped("list", `{"tasks":[`+a.right.line("task")+`],"nextPageToken":"","pageSize":5,"totalSize":1}`))))
	case "message/send", "sendmessage", "send": // doctor sends one to the task that has ended, and begins another
		if call.Params.Message.TaskID == "" {
			answer("begun", a.right["stream"][0])
			return
		}
		if place == "send" {
			_, _ = io.WriteString(w, fill.Replace(envelope("result", a.right.line("sent"))))
			return
		}
		refuse("send", -32004, 400, "UNSUPPORTED_OPERATION")
	default:
		refuse("method", -32601, 400, "PUSH_NOTIFICATION_NOT_SUPPORTED")
	}
}

// stream writes the frames, or what the bug makes of them.
func (a *agentOf) stream(w http.ResponseWriter, r *http.Request, fill *strings.Replacer, frames []string) {
	w.Header().Set("Content-Type", cmp.Or(a.line("type"), "text/event-stream"))
	if status, err := strconv.Atoi(a.line("status")); err == nil {
		w.WriteHeader(status)
	}
	if body := a.line("body"); body != "" {
		_, _ = io.WriteString(w, fill.Replace(body))
		return
	}
	frames = strings.Split(fill.Replace(a.swapped("stream", strings.Join(frames, "\x00"))), "\x00")
	plays := "0 1 2 3 4"[:2*len(frames)-1]
	if played := a.plant["plays"]; played != nil {
		plays = played[0]
	}
	_, _ = io.WriteString(w, a.line("begin"))
	for group := range strings.FieldsSeq(plays) {
		switch group {
		case "open":
			<-r.Context().Done()
			return
		case "cut":
			panic(http.ErrAbortHandler)
		case "later":
			<-time.After(heldFor) // the client measures real time
			continue
		}
		for one := range strings.SplitSeq(group, "+") {
			frame := frames[one[0]-'0']
			switch one[1:] {
			case "'":
				frame = a.swapped("again", frame)
			case `"`:
				frame = fmt.Sprintf("data: %q\n\n", strings.TrimSpace(frame[len("data: "):]))
			}
			_, _ = io.WriteString(w, frame)
		}
		w.(http.Flusher).Flush()
	}
}

const heldFor = 1600 * time.Millisecond

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
		right, bugs := plants(t, kind)
		for _, bug := range bugs {
			t.Run(kind+"/"+bug.line("name"), func(t *testing.T) {
				t.Parallel()
				a := &agentOf{plant: bug, right: right, rest: kind == "rest"}
				want, weight := bug.line("says"), ""
				if bug["warns"] != nil {
					want, weight = bug.line("warns"), check.Warning
				}
				server := httptest.NewServer(a)
				defer server.Close()
				a.url = server.URL
				status, stdout, stderr := runMain("", "--agent", server.URL, "--idle-timeout", "2s", "doctor", "--prompt", "hello", "-o", "json")
				var e examined
				must.Fail(t, json.Unmarshal([]byte(stdout), &e), "", stdout, stderr)
				for _, s := range e.Steps {
					if s.Step == "card" && strings.Contains(s.Says, "/tasks/") {
						t.Errorf("the card is %s", s.Says)
					}
				}
				if bug["once"] != nil && len(e.Findings) != 1 {
					t.Errorf("%d findings", len(e.Findings))
				}
				told := map[string]bool{}
				for _, f := range e.Findings {
					must.Equal(t, told[f.Text], false, f.Text, "is told twice")
					told[f.Text] = true
				}
				if all, ok := toldBy(e, want, weight); !ok || (status == 0) != (want == "" || weight == check.Warning) {
					t.Errorf("status %d, and nothing says %q:\n%s", status, want, all)
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
	right, _ := plants(t, "1.0")
	second := `"supportedInterfaces":[ => "supportedInterfaces":[{"url":"URL/","protocolBinding":"JSONRPC","protocolVersion":"0.3"},`
	a := &agentOf{plant: plant{"card": {second}}, right: right}
	server := httptest.NewServer(a)
	defer server.Close()
	a.url = server.URL
	if status, stdout, stderr := runMain("", "--card", server.URL+"/.well-known/agent-card.json", "--a2a-version", "1.0", "doctor", "--prompt", "hello"); status != 0 {
		t.Errorf("status %d: %s%s", status, stdout, stderr)
	}
}
