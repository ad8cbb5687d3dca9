package bridge_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"
)

// A cutAgent is an A2A agent with one story and a bad line: the connection that
// carries its events is closed after a given number of bytes. It writes HTTP by
// itself, so that a byte on the wire is a byte, status line and chunk sizes
// included. It goes on telling the story to nobody, and holds what its carrier
// holds, like a real one.
//
// It speaks over [net.Pipe], where a write returns when it was read: what it has
// written, the bridge has got.
type cutAgent struct {
	version   string // 0.3 or 1.0
	behaviour behaviour
	carrier   carrier
	// legs are the story: what it says after the prompt, and after the answer.
	// words are the chunks of text in it, in order.
	legs  [][]item
	words []string

	mu    sync.Mutex
	tasks map[string]*cutTask
	next  int // the budget of the next conversation
	last  *cutTask
	wg    sync.WaitGroup
	done  chan struct{}
}

// carrier is how an agent says text, which decides what it holds of it.
type carrier string

const (
	// inArtifact: chunks are appended to an artifact, which the task keeps.
	inArtifact carrier = "artifact"
	// inHistory: each chunk is a status message of its own, and the task's
	// history keeps them (the SDKs' task stores).
	inHistory carrier = "history"
	// inStatus: the chunks of one text are status messages with one ID, and the
	// task holds the newest alone (Gemini's server).
	inStatus carrier = "status message"
)

// behaviour is what an agent answers to a subscription.
type behaviour string

const (
	// snapshotting: the task as it is, then what follows. Over: 0.3 sends the
	// task and ends, 1.0 refuses.
	snapshotting behaviour = "snapshot"
	// echoing: likewise, but the newest event comes again after the task, since
	// the queue was attached before the task was read (JS and Python).
	echoing behaviour = "echo"
	// liveOnly: what follows, and nothing of before. Over: not found (Go 0.3.15).
	liveOnly behaviour = "no snapshot"
	// refusing: an error; tasks/get works.
	refusing behaviour = "refused"
	// silent: the headers, and nothing ever (trpc, where the task is over).
	silent behaviour = "silent"
	// empty: the headers, and the end (Mastra).
	empty behaviour = "empty"
	// restarted: the cut was the agent's end. Another one is there, to which the
	// task is unknown.
	restarted behaviour = "restarted"
)

// pace is the time between two events: a wait before a subscription loses two or
// three of them.
const pace = 400 * time.Millisecond

// A cutTask is the one conversation that a task of a cutAgent holds.
type cutTask struct {
	agent *cutAgent
	id    string
	ctx   string

	budget int // bytes until the cut
	cut    bool

	state     string
	status    item // the newest status message, if it has one
	history   []item
	artifacts []item
	newest    string // the newest frame
	over      bool
	asleep    bool // it has said that it waits, and has got no answer yet
	subs      []*subscription
	answered  chan struct{}
	quiet     chan struct{} // closed when the first stream has been written

	facts cutFacts
}

// cutFacts are what the agent knows of a conversation.
type cutFacts struct {
	wire  int   // bytes written to the streams that are cut
	edges []int // how many there were after each event, and each piece around one
	// had holds the chunks of text that have reached the bridge in any form;
	// known says that the task's ID has, told that its end has.
	had   map[string]bool
	known bool
	told  bool

	sends    map[string]int // how often each message came, by its ID
	requests []string
}

// An item is one thing that the agent says.
type item struct {
	state    string
	final    bool
	message  string // the ID of a status message
	artifact string
	text     string
	data     string
	// event and body are of a recording: the event as it was sent, and the message
	// in it.
	event, body string
	wait        time.Duration // before it
}

// story is what the agent says after the prompt, and after the answer.
func story(c carrier) [][]item {
	n := 0
	say := func(id string, words ...string) (items []item) {
		for _, w := range words {
			n++
			switch c {
			case inArtifact:
				items = append(items, item{artifact: id, text: w})
			case inHistory:
				items = append(items, item{state: "working", message: fmt.Sprint(id, n), text: w})
			case inStatus:
				items = append(items, item{state: "working", message: id, text: w})
			}
		}
		return items
	}
	w := storyWords()
	before := append(say("a", w[:3]...), item{state: "input-required", final: true, message: "q",
		data: `{"tool_call_id":"c","status":"PENDING","tool_name":"ls","confirmation_request":{"options":[{"id":"proceed_once","name":"Yes"}]}}`})
	after := append([]item{},
		item{state: "working", message: "r1", data: `{"tool_call_id":"c","status":"EXECUTING","live_content":"x"}`},
		item{state: "working", message: "r2", data: `{"tool_call_id":"c","status":"EXECUTING","live_content":"x y"}`},
		item{state: "working", message: "r3", data: `{"tool_call_id":"c","status":"SUCCEEDED","output":{"text":"x y z"}}`})
	after = append(after, say("b", w[3:]...)...)
	legs := [][]item{before, append(after, item{state: "completed", final: true})}
	for _, leg := range legs {
		for i := range leg {
			leg[i].wait = pace
		}
	}
	return legs
}

// storyWords are the chunks of text in the story, in order.
func storyWords() []string { return []string{"One ", "two ", "three.", "Four ", "five."} }

func newCutAgent(version string, b behaviour, c carrier) *cutAgent {
	a := &cutAgent{version: version, behaviour: b, carrier: c, tasks: map[string]*cutTask{}, done: make(chan struct{})}
	if c == recorded {
		a.legs, a.words = recording()
	} else {
		a.legs, a.words = story(c), storyWords()
	}
	return a
}

// dial is the agent's network.
func (a *cutAgent) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	a.wg.Go(func() { // ends with the connection, which the client closes
		defer server.Close()
		_ = a.serve(server)
	})
	return client, nil
}

// finish ends the stories, and the streams.
func (a *cutAgent) finish() { close(a.done) }

// close waits until the connections, which the client closes, have ended.
func (a *cutAgent) close() { a.wg.Wait() }

// takeFacts returns what is known of the newest conversation; nil: there was
// none.
func (a *cutAgent) takeFacts() *cutFacts {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := a.last
	if a.last = nil; t == nil {
		return nil
	}
	f := t.facts
	f.had = maps.Clone(f.had)
	return &f
}

var errCut = errors.New("the line is cut")

func (a *cutAgent) serve(conn net.Conn) error {
	r := bufio.NewReader(conn)
	for {
		req, err := http.ReadRequest(r)
		if err != nil {
			return err
		}
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return err
		}
		if req.Method == http.MethodGet {
			err = answer(conn, a.card())
		} else {
			err = a.call(conn, gjson.ParseBytes(body))
		}
		if err != nil {
			return err
		}
	}
}

func answer(conn net.Conn, json string) error {
	_, err := fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(json), json)
	return err
}

func failure(code int, message string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"error":{"code":%d,"message":%q}}`, code, message)
}

func result(json string) string { return `{"jsonrpc":"2.0","id":1,"result":` + json + `}` }

func (a *cutAgent) card() string {
	if a.carrier == recorded {
		return geminiCard
	}
	if a.version == "1.0" {
		return `{"name":"cut","supportedInterfaces":[{"url":"http://agent.invalid/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"capabilities":{"streaming":true},"defaultInputModes":["text"]}`
	}
	return `{"name":"cut","url":"http://agent.invalid/","protocolVersion":"0.3.0","capabilities":{"streaming":true},"defaultInputModes":["text"]}`
}

func (a *cutAgent) call(conn net.Conn, m gjson.Result) error {
	params := m.Get("params")
	a.mu.Lock()
	t := a.tasks[params.Get("id").Str]
	if id := params.Get("message.taskId").Str; id != "" {
		t = a.tasks[id]
	}
	if a.last != nil {
		a.last.facts.requests = append(a.last.facts.requests, m.Get("method").Str)
	}
	a.mu.Unlock()
	switch m.Get("method").Str {
	case "message/stream", "SendStreamingMessage":
		return a.send(conn, t, params)
	case "tasks/resubscribe", "SubscribeToTask":
		return a.subscribe(conn, t)
	case "tasks/get", "GetTask":
		if t == nil {
			return answer(conn, failure(-32001, "Task not found"))
		}
		// 0.3's SDK for JS leaves the history out unless it is told how much.
		task, had := t.snapshot(a.version == "1.0" || params.Get("historyLength").Int() > 0)
		err := answer(conn, result(task))
		a.mu.Lock()
		defer a.mu.Unlock()
		had()
		return err
	}
	return answer(conn, failure(-32601, "Method not found"))
}

// send begins the conversation, or goes on with it after the answer.
func (a *cutAgent) send(conn net.Conn, t *cutTask, params gjson.Result) error {
	id := params.Get("message.messageId").Str
	if params.Get("message.taskId").Exists() {
		a.mu.Lock()
		a.last.facts.sends[id]++
		a.mu.Unlock()
		if t == nil {
			return answer(conn, failure(-32001, "Task not found"))
		}
		if !strings.Contains(params.Raw, "proceed_once") {
			return answer(conn, failure(-32602, "what is the answer?"))
		}
		<-t.quiet // so that the bytes of the two streams have an order
		s := t.attach(false)
		a.mu.Lock()
		t.asleep = false
		a.mu.Unlock()
		close(t.answered) // a second answer is a panic, and deserves it
		return a.stream(conn, t, s)
	}
	a.mu.Lock()
	t = &cutTask{agent: a, id: fmt.Sprintf("t%04d", len(a.tasks)), ctx: params.Get("message.contextId").Str, budget: a.next,
		state: "submitted", answered: make(chan struct{}), quiet: make(chan struct{}),
		facts: cutFacts{had: map[string]bool{}, sends: map[string]int{id: 1}, requests: []string{"send"}}}
	a.tasks[t.id], a.last = t, t
	a.mu.Unlock()
	s := t.attach(true)
	a.wg.Go(t.tell) // ends with the story, or with the agent
	defer close(t.quiet)
	return a.stream(conn, t, s)
}

// A subscription is a stream that is open. It may fall behind by the whole
// story, so that the story never waits.
type subscription struct{ frames chan frame }

type frame struct {
	json string
	had  func() // notes that it has arrived; called with the agent's lock
}

// attach opens a subscription, which begins with the task if that is wanted.
func (t *cutTask) attach(task bool) *subscription {
	t.agent.mu.Lock()
	defer t.agent.mu.Unlock()
	s := &subscription{frames: make(chan frame, 32)}
	if task {
		json, had := t.snapshotLocked(t.state != "submitted")
		if t.agent.version == "1.0" {
			json = `{"task":` + json + `}`
		}
		s.frames <- frame{json, had}
	}
	paused := t.state == "input-required"
	if t.agent.carrier == recorded {
		paused = t.asleep // it says input-required while it executes what was allowed
	}
	if t.over || task && paused && t.agent.version == "0.3" {
		close(s.frames) // JS 0.3: the task, and the end
	} else {
		t.subs = append(t.subs, s)
	}
	return s
}

// tell tells the story, whether anybody listens or not.
func (t *cutTask) tell() {
	for _, leg := range t.agent.legs {
		for _, i := range leg {
			select {
			case <-time.After(i.wait):
			case <-t.agent.done:
				return
			}
			t.say(i)
		}
		if t.over {
			return
		}
		select {
		case <-t.answered:
		case <-t.agent.done:
			return
		}
	}
}

func (t *cutTask) say(i item) {
	t.agent.mu.Lock()
	defer t.agent.mu.Unlock()
	first := false
	switch {
	case i.artifact != "":
		at := slices.IndexFunc(t.artifacts, func(o item) bool { return o.artifact == i.artifact })
		if first = at < 0; first {
			t.artifacts = append(t.artifacts, i)
		} else {
			t.artifacts[at].text += i.text
		}
	default:
		if t.status.message != "" && t.agent.carrier != inStatus && !t.holds(t.status) {
			t.history = append(t.history, t.status)
		}
		t.state, t.status = i.state, i
		t.over = i.state == "completed"
	}
	t.asleep = i.final
	t.newest = t.spell(i, first)
	f := frame{t.newest, func() { t.note(i); t.facts.told = t.facts.told || t.over }}
	for _, s := range t.subs {
		s.frames <- f
		if i.final {
			close(s.frames)
		}
	}
	if i.final {
		t.subs = nil
	}
}

// holds reports whether the history has a message of this ID: Gemini's server, of
// which the recording is, keeps the first alone.
func (t *cutTask) holds(i item) bool {
	return t.agent.carrier == recorded && slices.ContainsFunc(t.history, func(h item) bool { return h.message == i.message })
}

// note notes what has reached the bridge; the agent's lock is held.
func (t *cutTask) note(items ...item) {
	t.facts.known = true
	for _, i := range items {
		for _, w := range t.agent.words {
			if strings.Contains(i.text, w) {
				t.facts.had[w] = true
			}
		}
	}
}

func (a *cutAgent) subscribe(conn net.Conn, t *cutTask) error {
	if t == nil {
		return a.refuse(conn, -32001, "Task not found")
	}
	a.mu.Lock()
	over, paused, newest := t.over, t.state == "input-required", t.newest
	a.mu.Unlock()
	switch a.behaviour {
	case refusing:
		return a.refuse(conn, -32004, "no subscriptions")
	case silent:
		if _, err := a.open(conn, nil); err != nil {
			return err
		}
		<-a.done
		return errCut
	case empty:
		return a.stream(conn, nil, nil)
	case liveOnly:
		if over || paused && a.version == "1.0" {
			return a.refuse(conn, -32001, "no active execution")
		}
		return a.stream(conn, nil, t.attach(false))
	}
	if over && a.version == "1.0" {
		return a.refuse(conn, -32004, "the task is over")
	}
	s := t.attach(true)
	if a.behaviour == echoing && newest != "" && !over && !paused {
		s.frames <- frame{newest, func() {}}
	}
	return a.stream(conn, nil, s)
}

// refuse: 0.3's SDK for JS reports errors in a stream, others in JSON.
func (a *cutAgent) refuse(conn net.Conn, code int, message string) error {
	if a.version == "1.0" {
		return answer(conn, failure(code, message))
	}
	body := "event: error\ndata: " + failure(code, message) + "\n\n"
	_, err := fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	return err
}

// open writes the head of a stream. 0.3 is chunked, where a cut is an error; 1.0
// lasts as long as its connection, where a cut looks like an end.
func (a *cutAgent) open(conn net.Conn, cut *cutTask) (bool, error) {
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
	if a.version == "0.3" {
		head += "Transfer-Encoding: chunked\r\n"
	}
	return cut.write(conn, head+"\r\n")
}

// stream writes what a subscription brings; nil: nothing. It is cut where cut
// says; nil: nowhere.
func (a *cutAgent) stream(conn net.Conn, cut *cutTask, s *subscription) error {
	_, err := a.open(conn, cut)
	for s != nil && err == nil {
		var f frame
		more := false
		select {
		case f, more = <-s.frames:
		case <-a.done:
		}
		if !more {
			break
		}
		data := "data: " + result(f.json) + "\n\n"
		if a.version == "0.3" {
			data = fmt.Sprintf("%x\r\n%s", len(data), data)
		}
		var whole bool
		if whole, err = cut.write(conn, data); whole {
			a.mu.Lock()
			f.had()
			a.mu.Unlock()
		}
		if a.version == "0.3" && err == nil {
			_, err = cut.write(conn, "\r\n")
		}
	}
	if err == nil && a.version == "0.3" {
		_, err = cut.write(conn, "0\r\n\r\n")
		return err
	}
	return errors.Join(err, io.EOF) // which closes the connection
}

// write writes until the cut, and then closes the connection; nil never comes to
// that. whole: all of text was written.
func (t *cutTask) write(conn net.Conn, text string) (whole bool, err error) {
	if t == nil {
		_, err := io.WriteString(conn, text)
		return err == nil, err
	}
	t.agent.mu.Lock()
	n := len(text)
	if !t.cut {
		n = min(n, t.budget)
	}
	t.budget -= n
	t.agent.mu.Unlock()
	if _, err := io.WriteString(conn, text[:n]); err != nil {
		return false, err
	}
	t.agent.mu.Lock()
	defer t.agent.mu.Unlock()
	t.facts.wire += n
	t.facts.edges = append(t.facts.edges, t.facts.wire)
	if !t.cut && t.budget == 0 {
		t.cut = true
		if t.agent.behaviour == restarted {
			delete(t.agent.tasks, t.id)
		}
		return n == len(text), errCut
	}
	return n == len(text), nil
}

// snapshot is the task as it is held, for tasks/get.
func (t *cutTask) snapshot(history bool) (json string, had func()) {
	t.agent.mu.Lock()
	defer t.agent.mu.Unlock()
	return t.snapshotLocked(history)
}

func (t *cutTask) snapshotLocked(history bool) (json string, had func()) {
	items := append(slices.Clone(t.artifacts), t.status)
	status := fmt.Sprintf(`{"state":%q%s}`, t.agent.stateName(t.state), t.agent.messageMember(t.status))
	json = fmt.Sprintf(`{"kind":"task","id":%q,"contextId":%q,"status":%s`, t.id, t.ctx, status)
	if t.agent.version == "1.0" {
		json = fmt.Sprintf(`{"id":%q,"contextId":%q,"status":%s`, t.id, t.ctx, status)
	}
	if history && t.agent.carrier != inStatus {
		items = append(items, t.history...)
		list := []string{t.agent.userMessage()}
		for _, i := range t.history {
			list = append(list, t.agent.message(i))
		}
		json += `,"history":[` + strings.Join(list, ",") + `]`
	}
	if len(t.artifacts) > 0 {
		var list []string
		for _, i := range t.artifacts {
			list = append(list, t.agent.artifact(i))
		}
		json += `,"artifacts":[` + strings.Join(list, ",") + `]`
	}
	over := t.over
	return json + "}", func() { t.note(items...); t.facts.told = t.facts.told || over }
}

// spell is an item as an event.
func (t *cutTask) spell(i item, first bool) string {
	if i.event != "" {
		return strings.NewReplacer(recordedTask, t.id, recordedContext, t.ctx).Replace(i.event)
	}
	ids := fmt.Sprintf(`"taskId":%q,"contextId":%q`, t.id, t.ctx)
	v1 := t.agent.version == "1.0"
	switch {
	case i.artifact != "" && v1:
		return fmt.Sprintf(`{"artifactUpdate":{%s,"artifact":%s,"append":%v}}`, ids, t.agent.artifact(i), !first)
	case i.artifact != "":
		return fmt.Sprintf(`{"kind":"artifact-update",%s,"artifact":%s,"append":%v}`, ids, t.agent.artifact(i), !first)
	}
	status := fmt.Sprintf(`"status":{"state":%q%s}`, t.agent.stateName(i.state), t.agent.messageMember(i))
	if v1 {
		return fmt.Sprintf(`{"statusUpdate":{%s,%s}}`, ids, status)
	}
	return fmt.Sprintf(`{"kind":"status-update",%s,%s,"final":%v}`, ids, status, i.final)
}

func (a *cutAgent) stateName(s string) string {
	if a.version == "1.0" {
		return "TASK_STATE_" + strings.ToUpper(strings.ReplaceAll(s, "-", "_"))
	}
	return s
}

func (a *cutAgent) messageMember(i item) string {
	if i.message == "" {
		return ""
	}
	return `,"message":` + a.message(i)
}

func (a *cutAgent) message(i item) string {
	if i.body != "" {
		return i.body
	}
	if a.version == "1.0" {
		return fmt.Sprintf(`{"messageId":%q,"role":"ROLE_AGENT","parts":[%s]}`, i.message, a.part(i))
	}
	return fmt.Sprintf(`{"kind":"message","messageId":%q,"role":"agent","parts":[%s]}`, i.message, a.part(i))
}

// userMessage is the prompt, as a history keeps it.
func (a *cutAgent) userMessage() string {
	if a.version == "1.0" {
		return `{"messageId":"u","role":"ROLE_USER","parts":[{"text":"go"}]}`
	}
	return `{"kind":"message","messageId":"u","role":"user","parts":[{"kind":"text","text":"go"}]}`
}

func (a *cutAgent) artifact(i item) string {
	return fmt.Sprintf(`{"artifactId":%q,"parts":[%s]}`, i.artifact, a.part(i))
}

func (a *cutAgent) part(i item) string {
	kind, json := "text", fmt.Sprintf(`"text":%q`, i.text)
	if i.data != "" {
		kind, json = "data", `"data":`+i.data
	}
	if a.version == "1.0" {
		return "{" + json + "}"
	}
	return fmt.Sprintf(`{"kind":%q,%s}`, kind, json)
}
