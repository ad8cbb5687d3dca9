package world

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tidwall/gjson"
)

// An agent is the A2A agent of a plan. Bridges reach it over a [line]. It follows the
// plan and its habits, and records what it did and heard.
type agent struct {
	plan  *Plan
	spell spelling
	start time.Time
	// done ends all that the agent does; wg counts its goroutines.
	done chan struct{}
	wg   sync.WaitGroup
	keep bool // the story, line by line

	mu       sync.Mutex
	tasks    map[string]*task
	contexts map[string]bool
	runs     map[int]*run // by turn
	record   *Record
	counts   map[string]int
	open     int // streams that are open
	refuse   int // connections left to refuse
	downTill time.Time
	current  int // the newest turn
	// hooks are the receivers of pushes, by URL. They take pushes at once.
	hooks map[string]func(payload []byte)
}

func newAgent(p *Plan, keep bool) *agent {
	a := &agent{plan: p, spell: spelling{p.Agent.V1, p.Agent.Explicit}, start: time.Now(), done: make(chan struct{}), keep: keep,
		tasks: map[string]*task{}, contexts: map[string]bool{}, hooks: map[string]func([]byte){}, runs: map[int]*run{}, counts: map[string]int{},
		record: &Record{Turns: map[int]*TurnRecord{}}}
	for _, t := range p.Turns {
		a.runs[t.N] = &run{agent: a, turn: t, moments: map[int]chan struct{}{}}
	}
	return a
}

// finish ends the agent, after the bridge.
func (a *agent) finish() {
	close(a.done)
	a.wg.Wait()
}

// now is the time since the world began, never 0, which means that something has not
// happened.
func (a *agent) now() time.Duration { return time.Since(a.start) + 1 }

// tell adds a line to the story, if a story is wanted. The lock is held.
func (a *agent) tell(who, format string, args ...any) {
	if a.keep {
		a.record.Story = append(a.record.Story, Line{a.now(), who, fmt.Sprintf(format, args...)})
	}
}

// count numbers things from 1. The lock is held.
func (a *agent) count(what string) int {
	a.counts[what]++
	return a.counts[what]
}

// begin notes the beginning of a turn, from the editor's side.
func (a *agent) begin(t *Turn) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.current, a.downTill = t.N, time.Time{}
	a.refuse = 0
	for _, f := range t.Faults {
		switch f.Kind {
		case Refused:
			a.refuse = f.Times
		case RestartBefore:
			a.restart(a.runs[t.N], f)
		}
	}
}

// heard notes what has come. The lock is held.
func (a *agent) heard(h *Heard) *Heard {
	h.At = a.now()
	a.record.Heard = append(a.record.Heard, h)
	return h
}

// happened notes a fault. The lock is held.
func (a *agent) happened(r *run, f *Fault) {
	a.record.Happened = append(a.record.Happened, Happening{At: a.now(), Turn: r.turn.N, Fault: f, Known: r.known, Over: r.told})
	a.tell("world", "turn %d: %s", r.turn.N, f)
}

// A run is a turn on the agent's side.
type run struct {
	agent *agent
	turn  *Turn
	task  *task // nil until the prompt is accepted, or if there is none
	// context is the context that the agent has named, "" for none.
	context string

	taken   int // how often the prompt was accepted
	begun   bool
	stopped bool
	stop    chan struct{} // closed when the agent has to stop
	streams int           // number of streams
	leg     int           // the first stream of the newest leg
	said    int           // events
	reads   int
	known   bool // the task's ID has reached the bridge
	told    bool // so has the turn's end
	moments map[int]chan struct{}
	pause   *pausing
}

// moment returns a channel that is closed after this many events.
func (r *run) moment(after int) <-chan struct{} {
	r.agent.mu.Lock()
	defer r.agent.mu.Unlock()
	c := make(chan struct{})
	if r.begun && r.said >= after {
		close(c)
		return c
	}
	if old := r.moments[after]; old != nil {
		return old
	}
	r.moments[after] = c
	return c
}

// reach closes the channels of past moments. The lock is held.
func (r *run) reach() {
	for after, c := range r.moments {
		if r.begun && r.said >= after {
			close(c)
			delete(r.moments, after)
		}
	}
}

// halt ends the run's story. The lock is held.
func (r *run) halt() {
	if r.begun && !r.stopped {
		r.stopped = true
		close(r.stop)
	}
}

// wait waits, unless the story has to stop.
func (r *run) wait(d time.Duration) bool {
	if d == 0 {
		select {
		case <-r.stop:
			return false
		case <-r.agent.done:
			return false
		default:
			return true
		}
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.stop:
	case <-r.agent.done:
	}
	return false
}

// Prompt is the text of a turn's prompt.
func (t *Turn) Prompt() string { return fmt.Sprintf("prompt %d", t.N) }

// turnOf finds the turn of a message's prompt, nil if it is none.
func (a *agent) turnOf(params gjson.Result) *run {
	for n, r := range a.runs {
		if params.Get("message.parts.0.text").Str == fmt.Sprint("prompt ", n) {
			return r
		}
	}
	return nil
}

// restart makes the agent forget everything and break its connections. The lock is
// held.
func (a *agent) restart(by *run, f *Fault) {
	for _, r := range a.runs {
		if r == by || r.task != nil && a.tasks[r.task.id] == r.task && !r.stopped && (!r.task.idle || !r.told) {
			a.happened(r, f)
		}
	}
	for id, t := range a.tasks {
		if t.run != nil {
			t.run.halt()
		}
		for _, s := range slices.Clone(t.streams) {
			s.fail(errReset)
		}
		t.streams = nil
		delete(a.tasks, id)
	}
}

func (f *Fault) String() string {
	at := fmt.Sprintf("stream %d, event %d", f.Stream, f.Event)
	switch f.Kind {
	case CutAt:
		how := "breaks"
		if f.Clean {
			how = "ends"
		}
		return fmt.Sprintf("the connection %s (%s, after %d‰ of it)", how, at, f.Permille)
	case SilentAt:
		return fmt.Sprintf("the connection falls silent (%s) for %v (0: for ever)", at, f.For)
	case RestartAt:
		return fmt.Sprintf("the agent is restarted (%s)", at)
	case ReadsFail:
		return fmt.Sprintf("tasks/get fails %d times: %s", f.Times, [...]string{"HTTP 503", "an error", "its answer is cut", "connection reset", "no answer"}[f.Read])
	case NoHead:
		return fmt.Sprintf("stream %d is not answered for %v (0: for ever)", f.Stream, f.For)
	case LostHead:
		return fmt.Sprintf("the connection of stream %d breaks before the answer begins", f.Stream)
	case Refused:
		return fmt.Sprintf("%d connections are refused", f.Times)
	case Undelivered:
		return fmt.Sprintf("the request of stream %d is lost", f.Stream)
	case RestartBefore:
		return "the agent is restarted before the prompt"
	}
	return fmt.Sprintf("after a cut the agent cannot be reached for %v", f.For)
}
