package cli

import (
	"cmp"
	"encoding/json"
	"flag"
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
	version := strings.NewReplacer("rest", "1.0", "http", "0.3").Replace(kind)
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
			for _, on := range regexp.MustCompile(`(?m)^on (.*)$`).FindAllStringSubmatch(head, -1) {
				right["on"] = append(right["on"], on[1])
			}
			words = append(words, "<task>", p.line("task"), "<task-2>", strings.Replace(p.line("task"), "$TASK", "task-2", 1))
		} else if !strings.HasPrefix(name, "right ") && strings.Contains(cmp.Or(p.line("in"), strings.Replace(kind, "http", "", 1), "all"), kind) {
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
		_, _ = io.WriteString(w, strings.NewReplacer("URL", a.url, "BINDING", binding, `"JSONRPC"`, strconv.Quote(binding)).Replace(a.swapped("card", a.right.line("card"))))
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
		r.URL.Path = strings.TrimPrefix(r.URL.Path, "/v1")
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
	op, id := operations[strings.ToLower(method)], call.Params.ID
	if op == "send" {
		id = call.Params.Message.TaskID
	}
	if r.Header.Get("A2A-Version") == "9.9" && place != "version" {
		op = "version"
	}
	var frames []string
	for _, e := range a.right["stream"] {
		frames = append(frames, "data: "+envelope("result", e)+"\n\n")
	}
	swap, what := a.route(place, op, id)
	text := ""
	switch what[0] {
	case "stream":
		a.stream(w, r, fill, frames)
		return
	case "follows":
		a.stream(w, r, fill, frames[1:2])
		return
	case "hang":
		a.stream(w, r, fill, nil)
		<-r.Context().Done()
		return
	case "nothing":
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	second := strings.NewReplacer("$TASK", "task-2", `"completed"`, `"canceled"`, "COMPLETED", "CANCELED", "artifacts", "x")
	switch what[0] {
	case "error":
		text = envelope("error", `{"code":`+what[1]+`,"message":"no"}`)
		if status, _ := strconv.Atoi(what[2]); a.rest {
			w.WriteHeader(status)
			text = fmt.Sprintf(`{"error":{"code":%d,"status":"X","message":"no","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":%q,"domain":"a2a-protocol.org"}]}}`, status, what[3])
		}
	case "second":
		text = second.Replace(envelope("result", a.right.line("task")))
	case "begun":
		text = second.Replace(envelope("result", a.right["stream"][0]))
	case "page":
		text = envelope("result", `{"tasks":[`+a.right.line("task")+`],"nextPageToken":"","pageSize":5,"totalSize":1}`)
	default:
		text = envelope("result", a.right.line(what[0]))
	}
	text = a.swapped(swap, text)
	if what[0] == "page" { // artifacts are not asked for
		text = strings.ReplaceAll(text, `"artifacts":[{"artifactId":"a"`, `"x":[{"artifactId":"a"`)
	}
	_, _ = io.WriteString(w, fill.Replace(text))
}

// operations are the words of both versions, and of HTTP+JSON.
var operations = map[string]string{"message/stream": "stream", "sendstreamingmessage": "stream", "stream": "stream", "tasks/get": "get", "gettask": "get", "get": "get",
	"tasks/cancel": "cancel", "canceltask": "cancel", "cancel": "cancel", "tasks/resubscribe": "subscribe", "subscribetotask": "subscribe", "subscribe": "subscribe",
	"listtasks": "list", "/tasks": "list", "message/send": "send", "sendmessage": "send", "send": "send"}

// route is the first "on" line for a request: the place of bugs in its answer, and the answer.
func (a *agentOf) route(place, op, task string) (swap string, what []string) {
	for _, line := range a.right["on"] {
		words := strings.Fields(line)
		if (words[0] == "*" || words[0] == place) && (words[1] == "*" || words[1] == op) && (words[2] == "*" || words[2] == cmp.Or(task, "none")) {
			return words[3], words[4:]
		}
	}
	return "", []string{"nothing"}
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

var everywhere = flag.Bool("everywhere", false, "TestPlantedBugs: a bug of all versions and bindings in each of them, not in one")

// TestPlantedBugs: doctor --prompt names what is wrong with an agent, in words.
func TestPlantedBugs(t *testing.T) {
	t.Parallel() // most of it waits
	for k, kind := range []string{"0.3", "1.0", "rest", "http"} {
		right, bugs := plants(t, kind)
		for _, bug := range bugs {
			if bug["in"] == nil && len(bug.line("name"))%3 != k && !*everywhere { // one of them, without a reason
				continue
			}
			t.Run(kind+"/"+bug.line("name"), func(t *testing.T) {
				t.Parallel()
				a := &agentOf{plant: bug, right: right, rest: kind == "rest" || kind == "http"}
				want, weight := bug.line("says"), ""
				if bug["warns"] != nil {
					want, weight = bug.line("warns"), check.Warning
				}
				server := httptest.NewServer(a)
				defer server.Close()
				a.url = server.URL
				status, stdout, stderr := runMain("", "--agent", server.URL, "--idle-timeout", cmp.Or(bug.line("idle"), "2s"), "doctor", "--prompt", "hello", "-o", "json")
				var e examined
				must.Fail(t, json.Unmarshal([]byte(stdout), &e), "", stdout, stderr)
				for _, s := range e.Steps {
					must.True(t, s.Step != "card" || !strings.Contains(s.Says, "/tasks/"), "the card is", s.Says)
				}
				must.True(t, bug["once"] == nil || len(e.Findings) == 1, len(e.Findings), "findings")
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
	status, stdout, stderr := runMain("", "--card", server.URL+"/.well-known/agent-card.json", "--a2a-version", "1.0", "doctor", "--prompt", "hello")
	must.Equal(t, status, 0, stdout, stderr)
}
