package bridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"

	"github.com/tidwall/gjson"
)

// fakeTasks are the tasks that a fakeAgent's events have made, by their IDs: what a look at one
// gets that the transcript does not answer itself.
type fakeTasks map[string]*fakeTask

type fakeTask struct {
	ID        string            `json:"id"`
	ContextID string            `json:"contextId,omitempty"`
	Kind      string            `json:"kind,omitempty"`
	Status    json.RawMessage   `json:"status,omitempty"`
	History   []json.RawMessage `json:"history,omitempty"`
	Artifacts []json.RawMessage `json:"artifacts,omitempty"`
}

// event applies an event.
func (tasks fakeTasks) event(raw string) {
	ev := gjson.Parse(raw)
	kind := ev.Get("kind").Str
	for _, name := range []string{"task", "statusUpdate", "artifactUpdate"} { // 1.x
		if inner := ev.Get(name); inner.IsObject() && kind == "" {
			ev, kind = inner, name
		}
	}
	if kind == "" && ev.Get("status").IsObject() && !ev.Get("taskId").Exists() {
		kind = "task" // as an answer
	}
	id := ev.Get("taskId").Str
	if kind == "task" {
		id = ev.Get("id").Str
	}
	if id == "" {
		return
	}
	t := tasks[id]
	if t == nil {
		t = &fakeTask{ID: id, Kind: "task"}
		tasks[id] = t
		if pending := tasks[""]; pending != nil { // the message that has made it
			t.History = pending.History
			delete(tasks, "")
		}
	}
	if c := ev.Get("contextId").Str; c != "" {
		t.ContextID = c
	}
	switch kind {
	case "task":
		if h := ev.Get("history"); h.IsArray() {
			t.History = nil
			for _, m := range h.Array() {
				t.message(m)
			}
		}
		for _, a := range ev.Get("artifacts").Array() {
			t.artifact(a, false)
		}
		fallthrough
	case "status-update", "statusUpdate":
		t.Status = json.RawMessage(ev.Get("status").Raw)
		if m := ev.Get("status.message"); m.IsObject() {
			t.message(m)
			whole := t.History[named(t.History, "messageId", m)]
			t.Status = json.RawMessage(strings.Replace(string(t.Status), m.Raw, string(whole), 1))
		}
	case "artifact-update", "artifactUpdate":
		t.artifact(ev.Get("artifact"), ev.Get("append").Bool())
	}
}

// named is where a list has what has the name of another thing; -1: nowhere.
func named(list []json.RawMessage, key string, other gjson.Result) int {
	return slices.IndexFunc(list, func(one json.RawMessage) bool { return gjson.GetBytes(one, key).Str == other.Get(key).Str })
}

// message adds a message, or goes on with one.
func (t *fakeTask) message(m gjson.Result) {
	if i := named(t.History, "messageId", m); i < 0 {
		t.History = append(t.History, json.RawMessage(m.Raw))
	} else if string(t.History[i]) != m.Raw {
		t.History[i] = joined(t.History[i], m)
	}
}

// joined is a message, or an artifact, with the parts of another one behind its own.
func joined(known json.RawMessage, more gjson.Result) json.RawMessage {
	parts := gjson.GetBytes(known, "parts").Raw
	return json.RawMessage(strings.Replace(string(known), parts, strings.TrimSuffix(parts, "]")+","+strings.TrimPrefix(more.Get("parts").Raw, "["), 1))
}

func (t *fakeTask) artifact(a gjson.Result, appends bool) {
	switch i := named(t.Artifacts, "artifactId", a); {
	case i < 0:
		t.Artifacts = append(t.Artifacts, json.RawMessage(a.Raw))
	case appends:
		t.Artifacts[i] = joined(t.Artifacts[i], a)
	default:
		t.Artifacts[i] = json.RawMessage(a.Raw)
	}
}

// sent notes a message of the user's.
func (tasks fakeTasks) sent(m gjson.Result) {
	id := m.Get("taskId").Str
	t := tasks[id]
	if t == nil {
		t = &fakeTask{ID: id, Kind: "task"}
		tasks[id] = t
	}
	t.message(m)
}

// answerLook answers a request for a task, unless the transcript does so itself.
func (a *fakeAgent) answerLook(x *exchange, id string) {
	t := a.tasks[id]
	verb, rest, _ := strings.Cut(a.next, " ")
	if number, ok := strings.CutPrefix(verb, "#"); ok {
		if verb, _, _ = strings.Cut(rest, " "); number != fmt.Sprint(x.n) && verb != "json" && verb != "status" {
			verb = ""
		}
	} else if verb == "cut" {
		for _, other := range a.requests {
			if other.body != nil && !other.finished {
				verb = "" // that is cut
			}
		}
	}
	if t == nil || t.Status == nil || verb == "json" || verb == "status" || verb == "cut" || verb == "held" {
		return
	}
	task, err := json.Marshal(t)
	if err != nil {
		return
	}
	if !x.bare {
		task = []byte(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, x.id, task))
	}
	// It is answered: that the bridge gives it up in the same moment is no news.
	x.automatic, x.finished = true, true
	x.answer(respond(nil, 200, "application/json", io.NopCloser(strings.NewReader(string(task)))))
}

// expect notes what the transcript has the agent say next.
func (a *fakeAgent) expect(lines []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.next = ""
	for _, l := range lines {
		if strings.HasPrefix(l, "E> ") || strings.HasPrefix(l, "T+ ") {
			return // what comes behind that answers something else
		}
		if next, ok := strings.CutPrefix(strings.TrimSpace(l), "A< "); ok {
			a.next = next
			return
		}
	}
}

func (a *fakeAgent) RoundTrip(r *http.Request) (*http.Response, error) {
	a.mu.Lock()
	down := a.down
	a.mu.Unlock()
	if down {
		return nil, &net.OpError{Op: "dial", Net: "memory", Err: syscall.ECONNREFUSED}
	}
	if r.Method == http.MethodGet && !strings.Contains(r.URL.Path, "/tasks/") {
		if a.card == "held" {
			a.write("A> card")
			<-r.Context().Done()
			return nil, r.Context().Err()
		}
		if a.card == "none" || a.cardAt != "" && a.cardAt != r.URL.Path {
			return respond(r, 404, "text/plain", io.NopCloser(strings.NewReader("not found"))), nil
		}
		return respond(r, 200, "application/json", io.NopCloser(strings.NewReader(a.card))), nil
	}
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	m := gjson.ParseBytes(body)
	bare := !m.Get("jsonrpc").Exists()
	what := m.Get("method").Str + " " + m.Get("params").Raw
	if bare {
		what = strings.TrimSpace(r.Method + " " + r.URL.RequestURI() + " " + string(body))
	}
	if m.Get("method").Str == "commands/get" {
		a.mu.Lock()
		told := a.commands
		if told != `"result":held` {
			a.commands = `"error":{"code":-32603,"message":"they were told"}` // who asks again takes a command for a prompt
		}
		a.mu.Unlock()
		if told == `"result":held` {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}
		return respond(r, 200, "application/json", io.NopCloser(strings.NewReader(
			fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, m.Get("id").Raw, told)))), nil
	}
	a.mu.Lock()
	x := &exchange{n: len(a.requests) + 1, id: json.RawMessage(m.Get("id").Raw), response: make(chan *http.Response, 1), bare: bare, fakeAgent: a}
	a.requests = append(a.requests, x)
	a.log = append(a.log, fmt.Sprintf("A> #%d %s", x.n, what))
	for _, name := range []string{"Traceparent", "Tracestate", "Baggage"} {
		if v := r.Header.Get(name); v != "" {
			a.log = append(a.log, fmt.Sprintf("A> #%d with %s: %s", x.n, name, v))
		}
	}
	if message := m.Get("params.message"); message.IsObject() {
		a.tasks.sent(message)
	}
	if method := m.Get("method").Str; method == "tasks/get" || method == "GetTask" {
		a.answerLook(x, m.Get("params.id").Str)
	} else if bare && r.Method == http.MethodGet && !strings.Contains(r.URL.Path, ":") {
		a.answerLook(x, r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:])
	}
	a.mu.Unlock()
	select {
	case resp := <-x.response:
		if resp == nil {
			return nil, errors.New("connection reset by peer")
		}
		resp.Request = r
		if body, ok := resp.Body.(pipeBody); ok {
			context.AfterFunc(r.Context(), func() {
				a.note(x, "closed")
				body.PipeReader.CloseWithError(r.Context().Err())
			})
		}
		return resp, nil
	case <-r.Context().Done():
		a.note(x, "closed")
		return nil, r.Context().Err()
	}
}
