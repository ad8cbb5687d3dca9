package demo

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
)

// A story tells what happens after a prompt.
type story func(r *run)

// errEnded ends a story whose task was canceled.
var errEnded = errors.New("the task was canceled")

// A run is a story being told. Its methods are for the story's goroutine only. After the
// first error they do nothing, as those of a bufio.Writer, so a story looks at err only
// before it does what it cannot take back.
type run struct {
	agent  *Agent
	task   *task
	ctx    context.Context // ends with the story
	prompt *message        // the newest
	// err fails the task, with its text as the message; or the task was canceled.
	err error

	asked bool     // for approval
	done  []string // actions, a line for each
}

// tell tells a story, and ends the task, unless it has ended.
func (r *run) tell(tell story) {
	r.acknowledge()
	tell(r)
	if r.asked && len(r.done) == 0 {
		r.done = []string{"ran: nothing\n"}
	}
	if len(r.done) > 0 { // so that the user sees the result of the answers
		r.say(r.done...)
	}
	t := r.task
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.run != r || r.agent.ctx.Err() != nil {
		return // canceled, or the agent was closed: the streams are cut
	}
	t.run = nil
	e := event{state: stateCompleted, kind: kindStateChange, final: true}
	if r.err != nil {
		e.state, e.message = stateFailed, t.text(uuid.NewString(), r.err.Error())
	}
	t.append(e)
}

func (r *run) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// append appends an event to the log, as long as this is the task's story. The caller
// holds the task's mu.
func (r *run) append(e event) {
	if r.task.run != r {
		r.fail(errEnded)
	}
	if r.err == nil {
		r.task.append(e)
	}
}

// emit appends an event of a task that works, and waits.
func (r *run) emit(e event, wait time.Duration) {
	e.state = stateWorking
	r.task.mu.Lock()
	r.append(e)
	r.task.mu.Unlock()
	if r.err != nil {
		return
	}
	if wait > 0 {
		select {
		case <-time.After(wait):
		case <-r.ctx.Done():
		}
	}
	r.err = r.ctx.Err()
}

func (r *run) think(subject, description string) {
	r.emit(event{kind: kindThought, message: r.task.extension(agentThought{Subject: subject, Description: description})}, r.agent.pace)
}

// say sends one message, a chunk at a time.
func (r *run) say(chunks ...string) { r.talk(r.agent.pace, chunks...) }

// talk is say with a pace of its own.
func (r *run) talk(pace time.Duration, chunks ...string) {
	id := uuid.NewString()
	for _, chunk := range chunks {
		r.emit(event{kind: kindText, message: r.task.text(id, chunk)}, pace)
	}
}

// update sends a tool call, and waits one pace, so that its steps are visible.
func (r *run) update(c toolCall) { r.emit(r.mention(c), r.agent.pace) }

func (r *run) mention(c toolCall) event {
	kind := kindToolCall
	if c.Confirmation != nil {
		kind = kindConfirmation
	}
	return event{state: stateWorking, kind: kind, message: r.task.extension(c)}
}

// ran records an action for a call. It is told exactly, with strings in Go's quotes, so
// that nothing in it is invisible. Commands and tools are only told, not run; that makes
// no difference to what the user has allowed.
func (r *run) ran(given answer, format string, args ...any) {
	how := given.option.ID
	if given.remembered {
		how = "allowed before"
	}
	r.done = append(r.done, fmt.Sprintf("ran: %s (%s)\n", fmt.Sprintf(format, args...), how))
}

// acknowledge names the prompt's parts that are not text, so that a client sees that
// they arrived.
func (r *run) acknowledge() {
	var lines []string
	for _, p := range r.prompt.Parts {
		switch {
		case p.URL != "":
			lines = append(lines, fmt.Sprintf("I received a link to %s%s.\n", p.URL, inParentheses(p.Filename, p.MediaType)))
		case p.Raw != "":
			content, _ := base64.StdEncoding.DecodeString(p.Raw) // it was checked
			lines = append(lines, fmt.Sprintf("I received %s, %d bytes%s.\n", cmp.Or(p.MediaType, "a file"), len(content), inParentheses(p.Filename)))
		case p.Data != nil:
			lines = append(lines, fmt.Sprintf("I received data: %s\n", shorten(string(p.Data), 200)))
		}
	}
	if len(lines) > 0 {
		r.say(lines...)
	}
}

func inParentheses(words ...string) string {
	s := strings.Trim(strings.Join(words, ", "), ", ")
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

func shorten(s string, limit int) string {
	if r := []rune(s); len(r) > limit {
		return string(r[:limit]) + "…"
	}
	return s
}

func (m *message) text() string {
	var texts []string
	for _, p := range m.Parts {
		if p.Text != nil && *p.Text != "" {
			texts = append(texts, *p.Text)
		}
	}
	return strings.Join(texts, " ")
}
