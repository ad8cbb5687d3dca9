package agent

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// An Agent plays a script. It is an [http.Handler]. The caller ends it by Close.
type Agent struct {
	script *Script
	v      version
	done   chan struct{}
	wg     sync.WaitGroup

	mu      sync.Mutex
	tasks   map[string]*kept
	order   []*kept
	prompts int // that were taken
	seen    map[string]bool
	numbers map[string]int
	heard   []Heard
	said    []Said
}

// Heard is a request that has come.
type Heard struct {
	At      time.Time
	Method  string // in A2A 0.3's words; "hang-up": a stream was closed before its end
	Task    string
	Answers map[string]string
	Refused int // the code of the error
	// Turn is that of the prompt or of the task, -1 for none.
	Turn int
}

// Said is a step that was played.
type Said struct {
	At    time.Time
	Turn  int
	State State
	Step  *Step
}

// New returns an agent.
func New(s *Script) *Agent {
	a := &Agent{script: s, done: make(chan struct{}), tasks: map[string]*kept{}, seen: map[string]bool{}, numbers: map[string]int{}}
	if s.V1 {
		a.v = 1
	}
	return a
}

// Close ends all that the agent does, and waits for it.
func (a *Agent) Close() {
	close(a.done)
	a.wg.Wait()
}

// Heard returns what has come so far.
func (a *Agent) Heard() []Heard {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.heard)
}

// Said returns what was said so far.
func (a *Agent) Said() []Said {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.said)
}

// State returns the state of the newest task, and the calls that wait for an answer.
func (a *Agent) State() (State, []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.order) == 0 {
		return "", nil
	}
	t := a.order[len(a.order)-1]
	return t.State, t.open()
}

// A request is one that has come.
type request struct {
	w      http.ResponseWriter
	r      *http.Request
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		ID      string       `json:"id"`
		Message *userMessage `json:"message"`
	} `json:"params"`
}

type userMessage struct {
	MessageID string            `json:"messageId"`
	TaskID    string            `json:"taskId"`
	ContextID string            `json:"contextId"`
	Parts     []json.RawMessage `json:"parts"`
}

// ServeHTTP implements [http.Handler].
func (a *Agent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.Method == http.MethodGet {
		w.Write(a.script.card())
		return
	}
	q := &request{w: w, r: r}
	if err := json.NewDecoder(r.Body).Decode(q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	switch a.v.method(q.Method) {
	case "message/stream":
		a.send(q)
	case "tasks/get":
		a.get(q)
	case "tasks/resubscribe":
		a.subscribe(q)
	case "tasks/cancel":
		a.cancel(q)
	default:
		q.refuse(-32601, "method not found: "+q.Method)
	}
}

func (q *request) reply(member string, value any) {
	q.w.Write(encode(map[string]any{"jsonrpc": "2.0", "id": q.ID, member: value}))
}

func (q *request) refuse(code int, message string) {
	q.reply("error", map[string]any{"code": code, "message": message})
}

// note adds to what was heard. The lock is held.
func (a *Agent) note(h Heard, t *kept) {
	h.At, h.Turn = time.Now(), -1
	if t != nil {
		h.Task, h.Turn = t.ID, slices.Index(a.script.Turns, t.turn)
	}
	a.heard = append(a.heard, h)
}

// find finds the task of a request, and notes it.
func (a *Agent) find(q *request) *kept {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := a.tasks[q.Params.ID]
	a.note(Heard{Method: a.v.method(q.Method), Task: q.Params.ID}, t)
	return t
}

func (a *Agent) get(q *request) {
	t := a.find(q)
	switch mode := a.script.Get; {
	case mode == GetMissing:
		q.refuse(-32601, "method not found")
	case mode == GetFails:
		q.w.WriteHeader(http.StatusBadGateway)
	case t == nil:
		q.refuse(-32001, "task not found")
	default:
		a.mu.Lock()
		now := t.json()
		a.mu.Unlock()
		if mode == GetSlow && !a.wait(q.r, Delay) {
			return
		}
		q.reply("result", now)
	}
}

// wait waits while the client does; 0: for ever.
func (a *Agent) wait(r *http.Request, d time.Duration) bool {
	var over <-chan time.Time
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-over:
		return true
	case <-r.Context().Done():
	case <-a.done:
	}
	return false
}

func (a *Agent) subscribe(q *request) {
	t := a.find(q)
	mode := a.script.Subscribe
	switch {
	case mode == SubscribeMissing:
		q.refuse(-32601, "method not found")
		return
	case t == nil:
		q.refuse(-32001, "task not found")
		return
	case mode == SubscribeRefused:
		q.refuse(-32004, "not possible now")
		return
	}
	a.mu.Lock()
	s := t.listen(q)
	if mode == SubscribeTask || mode == SubscribeEnds || mode == SubscribeEcho {
		s.push(a.v.wrap("task", a.v.task(t.shown())), false)
	}
	if mode == SubscribeEcho && t.newest != nil && t.busy && !t.waiting {
		s.push(t.newest, false)
	}
	if mode == SubscribeEnds || !t.busy && !t.waiting && !t.turn.Open || t.gone {
		s.end()
	}
	if mode == SubscribeSilent {
		s.leave()
	}
	a.mu.Unlock()
	s.serve()
}

func (a *Agent) cancel(q *request) {
	t := a.find(q)
	switch mode := a.script.Cancel; {
	case mode == CancelMissing:
		q.refuse(-32601, "method not found")
	case mode == CancelHangs:
		a.wait(q.r, 0)
	case t == nil:
		q.refuse(-32001, "task not found")
	case mode == CancelRefused:
		q.refuse(-32002, "task cannot be canceled")
	default:
		a.mu.Lock()
		over := t.State.Over()
		if !over {
			t.stop()
		}
		now := encode(a.v.task(t.shown()))
		a.mu.Unlock()
		if over {
			q.refuse(-32002, "task cannot be canceled")
			return
		}
		q.reply("result", now)
	}
}

// answersIn are a message's answers to questions, by call.
func answersIn(parts []json.RawMessage) map[string]string {
	var answers map[string]string
	for _, raw := range parts {
		var p struct {
			Data struct {
				Call   string `json:"tool_call_id"`
				Option string `json:"selected_option_id"`
			} `json:"data"`
		}
		if json.Unmarshal(raw, &p) == nil && p.Data.Call != "" {
			if answers == nil {
				answers = map[string]string{}
			}
			answers[p.Data.Call] = p.Data.Option
		}
	}
	return answers
}

// rejects reports whether an option is one that refuses.
func rejects(option string) bool { return option == "" || strings.HasPrefix(option, "cancel") }
