package demo

import (
	"context"
	"slices"
	"strings"
	"sync"
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
}

func newTask(s *session) *task {
	return &task{id: uuid.NewString(), session: s, grown: make(chan struct{}), said: map[string]*said{}}
}

// append adds an event to the log and wakes the readers. The caller holds mu.
func (t *task) append(e event) {
	e.at = time.Now().UTC()
	if e.message != nil {
		if e.message.Role == "agent" {
			e.message.TaskID, e.message.ContextID = t.id, t.session.contextID
		}
		t.remember(e.message)
	}
	t.state, t.at = e.state, e.at
	t.log = append(t.log, e)
	close(t.grown)
	t.grown = make(chan struct{})
}

// remember adds a message to the history. The caller holds mu.
func (t *task) remember(m *message) {
	key := m.ID
	if m.call != nil {
		key = "call " + m.call.ID
	}
	s := t.said[key]
	if s == nil || m.Role == "user" {
		s = &said{message: *m}
		t.history = append(t.history, s)
		if m.Role == "user" {
			return // a client may use an ID twice; these are two messages
		}
		t.said[key] = s
	}
	if m.call != nil {
		s.message = *m
	}
	s.text.WriteString(m.text())
}

// view returns the task as a reader sees it now, with so much of its history; nil: all.
func (t *task) view(limit *int) taskView {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.viewLocked(limit)
}

func (t *task) viewLocked(limit *int) taskView {
	v := taskView{ID: t.id, ContextID: t.session.contextID, Status: status{State: t.state, At: t.at}}
	for _, s := range t.history {
		m := s.message
		if m.Role == "agent" && m.Parts[0].Text != nil {
			text := s.text.String()
			m.Parts = []part{{Text: &text}}
		}
		v.History = append(v.History, m)
	}
	// The message of a pause or an end is the status's message only. In the history, too,
	// clients would show it twice.
	if last, n := t.log[len(t.log)-1], len(v.History); last.final && last.message != nil && n > 0 && v.History[n-1].ID == last.message.ID {
		v.Status.Message, v.History = &v.History[n-1], v.History[:n-1]
	}
	if limit != nil {
		v.History = v.History[max(0, len(v.History)-*limit):]
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
		if s.message.call == nil || s.message.call.over() {
			continue
		}
		c := *s.message.call
		c.Status, c.Confirmation = callCancelled, nil
		t.append(event{state: stateWorking, kind: kindToolCall, message: t.extension(c)})
	}
	t.append(event{state: stateCanceled, kind: kindStateChange, final: true})
	return true
}

// text returns a message, or a chunk of one if the ID has been used before.
func (t *task) text(id, text string) *message {
	return &message{ID: id, Role: "agent", Parts: []part{{Text: &text}}}
}

// extension returns a message that carries an object of the extension.
func (t *task) extension(object any) *message {
	m := &message{ID: uuid.NewString(), Role: "agent", Parts: []part{{Data: encoded(object)}}, Extensions: []string{ExtensionURI}}
	if c, ok := object.(toolCall); ok {
		m.call = &c
	}
	return m
}
