package bridge_test

import (
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"
)

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
	heard     []string // the IDs of the user's messages
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
	// had holds the chunks of text that have reached the bridge in any form. known: the
	// task's ID has reached it; told: the end has.
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

// story returns what the agent says after the prompt, and after the answer.
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

// A subscription is a stream that is open. Its channel has room for all events, so that
// the task never waits.
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

// tell sends the events of the task to whoever has subscribed.
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

// write writes until the cut, and then closes the connection. With nil there is no cut.
// whole: all of text was written.
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
		var list []string
		for _, id := range t.heard {
			list = append(list, t.agent.userMessage(id))
		}
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

// userMessage is one of the user's, as a history keeps it.
func (a *cutAgent) userMessage(id string) string {
	if a.version == "1.0" {
		return fmt.Sprintf(`{"messageId":%q,"role":"ROLE_USER","parts":[{"text":"go"}]}`, id)
	}
	return fmt.Sprintf(`{"kind":"message","messageId":%q,"role":"user","parts":[{"kind":"text","text":"go"}]}`, id)
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
