package demo

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// A story tells what happens after a prompt. A nil error completes the task; any other
// fails it, with the error's text as the message.
type story func(ctx context.Context, r *run) error

// errEnded ends a story whose task was canceled.
var errEnded = errors.New("the task was canceled")

// A run is a story being told. Its methods are for the story's goroutine only.
type run struct {
	agent  *Agent
	task   *task
	prompt *message // the newest

	asked bool     // for approval
	done  []string // actions, a line for each
}

func (r *run) tell(ctx context.Context, tell story) error {
	if err := r.acknowledge(ctx); err != nil {
		return err
	}
	if err := tell(ctx, r); err != nil {
		return err
	}
	return r.report(ctx)
}

// finish ends the task, unless it has ended.
func (r *run) finish(err error) {
	t := r.task
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.run != r || t.life.Err() != nil {
		return // canceled, or the agent was closed: the streams are cut
	}
	t.run = nil
	e := event{state: stateCompleted, kind: kindStateChange, final: true}
	if err != nil {
		e.state, e.message = stateFailed, t.text(t.newID(), err.Error())
	}
	t.append(e)
}

// emit appends an event to the log, as long as this is the task's story.
func (r *run) emit(e event) error {
	t := r.task
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.run != r {
		return errEnded
	}
	e.state = stateWorking
	t.append(e)
	return nil
}

// rest waits for one pace.
func (r *run) rest(ctx context.Context) error { return rest(ctx, r.agent.pace) }

func rest(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *run) think(ctx context.Context, subject, description string) error {
	err := r.emit(event{kind: kindThought, message: r.task.extension(agentThought{Subject: subject, Description: description})})
	if err != nil {
		return err
	}
	return r.rest(ctx)
}

// say sends one message, a chunk at a time.
func (r *run) say(ctx context.Context, chunks ...string) error {
	id := r.task.newID()
	for _, chunk := range chunks {
		if err := r.emit(event{kind: kindText, message: r.task.text(id, chunk)}); err != nil {
			return err
		}
		if err := r.rest(ctx); err != nil {
			return err
		}
	}
	return nil
}

// update sends a tool call, and waits one pace, so that its steps are visible.
func (r *run) update(ctx context.Context, c toolCall) error {
	kind := kindToolCall
	if c.Confirmation != nil {
		kind = kindConfirmation
	}
	if err := r.emit(event{kind: kind, message: r.task.extension(c)}); err != nil {
		return err
	}
	return r.rest(ctx)
}

// ran records an action for a call. It is told exactly, with strings in Go's quotes, so
// that nothing in it is invisible. Commands and tools are only told, not run; that makes
// no difference to what the user has allowed.
func (r *run) ran(given answer, format string, args ...any) {
	what, how := fmt.Sprintf(format, args...), given.option.ID
	if given.remembered {
		how = "allowed before"
	}
	r.done = append(r.done, fmt.Sprintf("ran: %s (%s)\n", what, how))
	r.agent.ran(given.option.ID, what)
}

// report ends a story with its actions, if it has asked for approval, so that the user
// sees the result of the answers.
func (r *run) report(ctx context.Context) error {
	switch {
	case len(r.done) > 0:
		return r.say(ctx, r.done...)
	case r.asked:
		return r.say(ctx, "ran: nothing\n")
	}
	return nil
}

// acknowledge names the prompt's parts that are not text, so that a client sees that
// they arrived.
func (r *run) acknowledge(ctx context.Context) error {
	var lines []string
	for _, p := range r.prompt.parts {
		switch {
		case p.file != nil && p.file.uri != "":
			lines = append(lines, fmt.Sprintf("I received a link to %s%s.\n", p.file.uri, inParentheses(p.file.name, p.file.mimeType)))
		case p.file != nil:
			kind := p.file.mimeType
			if kind == "" {
				kind = "a file"
			}
			lines = append(lines, fmt.Sprintf("I received %s, %d bytes%s.\n", kind, p.file.size, inParentheses(p.file.name)))
		case p.data != nil:
			lines = append(lines, fmt.Sprintf("I received data: %s\n", shorten(string(p.json()), 200)))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return r.say(ctx, lines...)
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

// text returns the text of a message.
func (m *message) text() string {
	var b strings.Builder
	for _, p := range m.parts {
		if p.text == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(p.text)
	}
	return b.String()
}

func (m *message) words() []string { return strings.Fields(m.text()) }
