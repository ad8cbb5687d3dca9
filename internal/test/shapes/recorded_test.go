package shapes

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/test/agent"
	"github.com/a2astdio/a2astdio/internal/test/must"
)

// A recorded is a conversation with an agent that was running.
type recorded struct {
	name     string
	card     json.RawMessage
	v1       bool
	gemini   bool
	prompts  []string
	picks    []string // ACP's kinds of options, or their IDs
	says     string   // what a user should see of it; "": that is not known
	dialect  string   // that the user names
	requests []*heard
	pace     time.Duration // of the events, if it is not agent.Pace
}

// heard is a message to the agent, and what its stream said.
type heard struct {
	user   string // the message's ID
	events []json.RawMessage
	held   json.RawMessage // what tasks/get answered behind it
}

// recordings reads all of testdata/recordings.
func recordings(t *testing.T) (all []*recorded) {
	root := filepath.Join("..", "..", "..", "testdata", "recordings")
	texts, _ := filepath.Glob(filepath.Join(root, "dialects", "*.txt"))
	lines, _ := filepath.Glob(filepath.Join(root, "gemini", "*", "*.jsonl"))
	for _, file := range append(texts, lines...) {
		b := must.Get(os.ReadFile(file))(t)
		r := &recorded{name: filepath.Base(filepath.Dir(file)) + "/" + filepath.Base(file)}
		if filepath.Ext(file) == ".txt" {
			r.readText(string(b))
		} else {
			r.readLines(string(b))
		}
		r.requests = slices.DeleteFunc(r.requests, func(h *heard) bool { return len(h.events) == 0 })
		if len(r.requests) > 0 {
			all = append(all, r)
		}
	}
	if len(all) < 30 {
		t.Fatalf("%d recordings", len(all))
	}
	return all
}

// readText reads the form of testdata/recordings/dialects.
func (r *recorded) readText(text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "card":
			r.card = json.RawMessage(strings.ReplaceAll(rest, "AGENT", agent.URL))
		case "prompt":
			r.prompts = append(r.prompts, rest)
		case "answer":
			r.picks = append(r.picks, rest)
		case "says":
			r.says += rest
		case "dialect":
			r.dialect = rest
		case "request":
			r.requests = append(r.requests, &heard{})
		case "json", "bare", "rs":
			line = rest
		}
		if strings.HasPrefix(line, "{") {
			h := r.requests[len(r.requests)-1]
			r.v1 = r.v1 || !gjson.Get(line, "kind").Exists() && !gjson.Get(line, "id").Exists()
			h.events = append(h.events, json.RawMessage(line))
			r.findUser(h, gjson.Parse(line))
		}
	}
}

// findUser looks for the ID of our message in a history.
func (r *recorded) findUser(h *heard, event gjson.Result) {
	for _, path := range []string{"history", "task.history"} {
		for _, m := range event.Get(path).Array() {
			id := m.Get("messageId").Str
			known := slices.ContainsFunc(r.requests, func(o *heard) bool { return o.user == id })
			if h.user == "" && !known && strings.HasSuffix(strings.ToLower(m.Get("role").Str), "user") {
				h.user = id
			}
		}
	}
}

// readLines reads the form of testdata/recordings/gemini.
func (r *recorded) readLines(text string) {
	r.gemini = true
	r.card = json.RawMessage(`{"name":"Gemini SDLC Agent","url":"` + agent.URL + `","protocolVersion":"0.3.0","capabilities":{"streaming":true},"defaultInputModes":["text"]}`)
	byNumber := map[int64]*heard{}
	var newest *heard
	for line := range strings.Lines(text) {
		m := gjson.Parse(line)
		n := m.Get("req").Int()
		switch {
		case m.Get("request").Exists() && m.Get("body.method").Str == "message/stream":
			newest = &heard{user: m.Get("body.params.message.messageId").Str}
			byNumber[n] = newest
			r.requests = append(r.requests, newest)
			for _, p := range m.Get("body.params.message.parts").Array() {
				if p.Get("text").Exists() {
					r.prompts = append(r.prompts, p.Get("text").Str)
				}
				if v := p.Get("data.outcome"); v.Exists() {
					r.picks = append(r.picks, v.Str)
				}
			}
		case m.Get("data.result").Exists() && byNumber[n] == newest && newest != nil:
			newest.events = append(newest.events, json.RawMessage(m.Get("data.result").Raw))
		case m.Get("body.result.kind").Str == "task" && byNumber[n] == nil && newest != nil:
			newest.held = json.RawMessage(m.Get("body.result").Raw)
		}
	}
}

// script is the agent of a recording.
func (r *recorded) script() *agent.Script {
	s := &agent.Script{V1: r.v1, Card: r.card}
	if r.gemini {
		s.Subscribe, s.Keep = agent.SubscribeEvents, firstChunks
	}
	if strings.HasPrefix(r.name, "dialects/langgraph") {
		s.Subscribe, s.Keep = agent.SubscribeMissing, newestOfGrowing
	}
	for _, h := range r.requests {
		var steps []*agent.Step
		var task, context string
		for _, raw := range h.events {
			step, of, in := readStep(raw)
			if strings.HasPrefix(r.name, "dialects/iaccode") {
				step.Kept, _ = gjson.GetBytes(raw, "statusUpdate.metadata").Value().(map[string]any)
			}
			step.After = r.pace
			steps = append(steps, step)
			if of != "" {
				task, context = of, in
			}
		}
		end := steps[len(steps)-1]
		end.Ends, end.Held = end.Final, h.held
		last := len(s.Turns) - 1
		if last >= 0 && task != "" && s.Turns[last].Task == task && !stateOf(s.Turns[last].Steps).Over() {
			turn := s.Turns[last]
			turn.Steps[len(turn.Steps)-1].Waits = true
			turn.Steps, turn.Users = append(turn.Steps, steps...), append(turn.Users, h.user)
			continue
		}
		s.Turns = append(s.Turns, &agent.Turn{Task: task, Context: context, Steps: steps, Users: []string{h.user}, Open: !end.Ends && end.Kind != agent.Direct})
	}
	return s
}

// stateOf is the newest state.
func stateOf(steps []*agent.Step) (state agent.State) {
	for _, s := range steps {
		if s.State != "" {
			state = s.State
		}
	}
	return state
}

// firstChunks is what Gemini CLI's server keeps: of each message its first chunk.
func firstChunks(t *agent.Task) {
	seen := map[string]bool{}
	t.History = slices.DeleteFunc(slices.Clone(t.History), func(m *agent.Message) bool {
		was := seen[m.ID]
		seen[m.ID] = true
		return was
	})
}

// newestOfGrowing is what LangGraph's server keeps: of what a message was so far the newest, also where nodes that
// run at once speak in turns.
func newestOfGrowing(t *agent.Task) {
	if t.Message != nil {
		t.History, t.Message = append(slices.Clone(t.History), t.Message), nil
	}
	text := func(m *agent.Message) string { return gjson.GetBytes(m.Raw, "parts.#(text).text").Str }
	var kept []*agent.Message
	for i, m := range t.History {
		behind := t.History[i+1:]
		if end := slices.IndexFunc(behind, func(m *agent.Message) bool { return m.User }); end >= 0 {
			behind = behind[:end]
		}
		if m.User || !slices.ContainsFunc(behind, func(o *agent.Message) bool { return strings.HasPrefix(text(o), text(m)) }) {
			kept = append(kept, m)
		}
	}
	t.History = kept
}

// readStep reads an event of either version.
func readStep(raw json.RawMessage) (s *agent.Step, task, context string) {
	e := gjson.ParseBytes(raw)
	kind := e.Get("kind").Str
	for name, of := range map[string]string{"task": "task", "statusUpdate": "status-update", "artifactUpdate": "artifact-update", "message": "message"} {
		if v := e.Get(name); kind == "" && v.IsObject() && !e.Get("status").Exists() {
			e, kind = v, of
			break
		}
	}
	s = &agent.Step{Raw: raw, State: state(e.Get("status.state").Str)}
	s.Final = e.Get("final").Bool() || s.State.Over() || s.State == agent.InputRequired && !e.Get("final").Exists()
	task, context = e.Get("taskId").Str, e.Get("contextId").Str
	switch kind {
	case "task":
		s.Kind, task = agent.TaskEvent, e.Get("id").Str
		s.Task = &agent.Task{ID: task, Context: context, State: s.State, Message: message(e.Get("status.message"))}
		for _, m := range e.Get("history").Array() {
			s.Task.History = append(s.Task.History, message(m))
		}
		for _, a := range e.Get("artifacts").Array() {
			s.Task.Artifacts = append(s.Task.Artifacts, artifact(a))
		}
	case "artifact-update":
		s.Kind, s.Artifact, s.Append, s.Last = agent.ArtifactUpdate, artifact(e.Get("artifact")), e.Get("append").Bool(), e.Get("lastChunk").Bool()
	case "message":
		return &agent.Step{Kind: agent.Direct, Raw: raw, Message: message(e), Ends: true, Final: true}, "", context
	default:
		s.Message = message(e.Get("status.message"))
	}
	return s, task, context
}

func state(word string) agent.State {
	return agent.State(strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(word, "TASK_STATE_")), "_", "-"))
}

func message(m gjson.Result) *agent.Message {
	if !m.Exists() {
		return nil
	}
	return &agent.Message{ID: m.Get("messageId").Str, User: strings.HasSuffix(strings.ToLower(m.Get("role").Str), "user"), Raw: json.RawMessage(m.Raw)}
}

func artifact(a gjson.Result) *agent.Artifact {
	out := &agent.Artifact{ID: a.Get("artifactId").Str, Name: a.Get("name").Str}
	for _, uri := range a.Get("extensions").Array() {
		out.Extensions = append(out.Extensions, uri.Str)
	}
	for _, p := range a.Get("parts").Array() {
		out.Parts = append(out.Parts, agent.Part{Raw: json.RawMessage(p.Raw)})
	}
	if md, ok := a.Get("metadata").Value().(map[string]any); ok {
		out.Metadata = md
	}
	return out
}
