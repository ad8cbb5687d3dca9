package demo

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// A task is a log of what happened in it, and its newest state.
//
// The log is the only queue. Readers hold an index into it, so a hundred slow ones cost
// no memory, and nobody waits for them. The stories bound it, and it goes with the
// task.
type task struct {
	id      string
	session *session
	over    atomic.Bool // in a terminal state; for Agent.add, which must not take mu

	mu      sync.Mutex
	state   string
	at      time.Time
	log     []event
	grown   chan struct{} // closed and replaced when log grows
	history []*said
	said    map[string]*said // by message ID, or "call " and tool call ID
	run     *run             // the running story; nil if none is
	cancel  context.CancelFunc
	pause   *pause // what the story waits for; nil if nothing
}

// said is one message of the history. Text chunks of a message are joined here. A tool
// call has only its newest version, because each update replaces the one before.
type said struct {
	message message
	text    strings.Builder
	call    *toolCall
}

func newTask(s *session) *task {
	return &task{id: uuid.NewString(), session: s, grown: make(chan struct{}), said: map[string]*said{}}
}

// append adds an event to the log and wakes the readers. The caller holds mu.
func (t *task) append(e event) {
	e.at = time.Now().UTC()
	if e.message != nil {
		if e.message.role == "agent" {
			e.message.taskID, e.message.contextID = t.id, t.session.contextID
		}
		t.remember(e.message)
	}
	t.state, t.at = e.state, e.at
	t.over.Store(terminal(e.state))
	t.log = append(t.log, e)
	close(t.grown)
	t.grown = make(chan struct{})
}

// remember adds a message to the history. The caller holds mu.
func (t *task) remember(m *message) {
	key := m.id
	var call *toolCall
	if len(m.parts) == 1 {
		if c, ok := m.parts[0].data.(toolCall); ok {
			key, call = "call "+c.ID, &c
		}
	}
	s := t.said[key]
	if s == nil || m.role == "user" {
		s = &said{message: *m}
		t.history = append(t.history, s)
		if m.role == "user" {
			return // a client may use an ID twice; these are two messages
		}
		t.said[key] = s
	}
	if call != nil {
		s.message, s.call = *m, call
		return
	}
	for _, p := range m.parts {
		s.text.WriteString(p.text)
	}
}

// view returns the task as a reader sees it now, with so much of its history; nil: all.
func (t *task) view(limit *int) taskView {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.viewLocked(limit)
}

func (t *task) viewLocked(limit *int) taskView {
	v := taskView{id: t.id, contextID: t.session.contextID, state: t.state, at: t.at}
	for _, s := range t.history {
		m := s.message
		if m.role == "agent" && s.call == nil && m.parts[0].data == nil {
			m.parts = []part{{text: s.text.String()}}
		}
		v.history = append(v.history, m)
	}
	// The message of a pause or an end is the status's message only. In the history, too,
	// clients would show it twice.
	if last, n := t.log[len(t.log)-1], len(v.history); last.final && last.message != nil && n > 0 && v.history[n-1].id == last.message.id {
		v.statusMessage, v.history = &v.history[n-1], v.history[:n-1]
	}
	if limit != nil {
		v.history = v.history[max(0, len(v.history)-*limit):]
	}
	return v
}

// wait returns the events from an index on, and waits until there is one.
func (t *task) wait(ctx, agent context.Context, from int) ([]event, error) {
	for {
		t.mu.Lock()
		events, grown := t.log[from:len(t.log):len(t.log)], t.grown
		t.mu.Unlock()
		if len(events) > 0 {
			return events, nil
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-agent.Done():
			return nil, agent.Err()
		}
	}
}

// settled waits for a final event from an index on.
func (t *task) settled(ctx, agent context.Context, from int) error {
	for {
		events, err := t.wait(ctx, agent, from)
		if err != nil {
			return err
		}
		// Any, not the last: another client may have answered.
		if slices.ContainsFunc(events, func(e event) bool { return e.final }) {
			return nil
		}
		from += len(events)
	}
}

// stop ends the story and cancels its open calls. It reports whether there was anything
// to cancel: a terminal state stays.
func (t *task) stop() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if terminal(t.state) {
		return false
	}
	if t.cancel != nil {
		t.cancel()
	}
	t.run, t.pause = nil, nil
	for _, s := range t.history {
		if s.call == nil || s.call.over() {
			continue
		}
		c := *s.call
		c.Status, c.Confirmation = callCancelled, nil
		t.append(event{state: stateWorking, kind: kindToolCall, message: t.extension(c)})
	}
	t.append(event{state: stateCanceled, kind: kindStateChange, final: true})
	return true
}

// text returns a message, or a chunk of one if the ID has been used before.
func (t *task) text(id, text string) *message {
	return &message{id: id, role: "agent", parts: []part{{text: text}}}
}

// extension returns a message that carries an object of the extension.
func (t *task) extension(object any) *message {
	return &message{
		id: uuid.NewString(), role: "agent", parts: []part{{data: object}}, extensions: []string{ExtensionURI},
	}
}
