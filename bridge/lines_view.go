package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/dialect"
	"github.com/a2astdio/a2astdio/mapping/spell"
	"github.com/a2astdio/a2astdio/transport/a2a"
	"github.com/a2astdio/a2astdio/transport/stdio"
)

// resultMax is how much text the result of a leg repeats.
const resultMax = 1 << 20

// linesView is the editor as one leg sees it.
type linesView struct {
	agent       *Agent
	out         *stdio.Conn
	lines       spell.Lines
	buf         []byte
	text        []byte
	full        bool            // text has reached resultMax
	lastMessage string          // the message that text ends in
	passed      json.RawMessage // the result of a method that was passed on
}

// Show implements [Editor].
func (v *linesView) Show(ctx context.Context, steps []mapping.Step) error {
	for i := range steps {
		if s := &steps[i]; s.Kind == mapping.StepText && !s.Repeats && !v.full {
			if len(v.text) > 0 && s.Shown != v.lastMessage {
				v.text = append(v.text, "\n\n"...) // another message
			}
			v.lastMessage = s.Shown
			if v.full = len(v.text)+len(s.Text) > resultMax; !v.full {
				v.text = append(v.text, s.Text...)
			}
		}
	}
	if v.lines.Join = v.out.Blocked() && !v.lines.Raw; v.lines.Join { // raw belongs to one event each
		steps = v.agent.collapse(steps)
	}
	v.buf = v.lines.Append(v.buf[:0], steps)
	return v.out.Send(ctx, v.buf)
}

// Ask implements [Editor]: the leg ends, and the next request answers.
func (v *linesView) Ask(context.Context, []mapping.Question) ([]mapping.Answer, error) {
	return nil, ErrPause
}

// result is the result of a leg, and failure the task's error, "" if there is none.
func (v *linesView) result(r Result, failure string) any {
	pending := r.Pending
	if pending == nil {
		pending = []string{}
	}
	return struct {
		TaskID    string          `json:"taskId,omitempty"`
		ContextID string          `json:"contextId,omitempty"`
		State     a2a.State       `json:"state,omitempty"`
		Text      string          `json:"text"`
		TextCut   bool            `json:"textCut,omitempty"`
		Pending   []string        `json:"pending"`
		Error     string          `json:"error,omitempty"`
		Usage     json.RawMessage `json:"usage,omitempty"`
		Seq       uint64          `json:"seq"`
		dialect.Execution
	}{r.TaskID, r.ContextID, r.State, string(v.text), v.full, pending, failure, json.RawMessage(r.Usage), v.lines.Seq, r.Execution}
}

// failAgent answers with an agent's error as it is: its code, message and data.
func (c *editorRequest) failAgent(err error) {
	switch agent := a2a.ErrorOf(err); {
	case errors.As(err, new(*mapping.PromptError)):
		c.fail(acp.CodeInvalidParams, err.Error(), "")
	case agent != nil && agent.Code != 0:
		e := &jsonrpc2.Error{Code: int64(agent.Code), Message: agent.Message}
		if agent.Data != "" {
			data := json.RawMessage(c.server.mask(string(agent.Data)))
			e.Data = &data
		}
		c.failWith(e)
	default:
		c.fail(acp.CodeInternal, err.Error(), "")
	}
}

// noWaiting notes that no call of a task waits any more.
func (e *linesEditor) noWaiting(task string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.waiting, task)
}

// checkWaiting refuses words to a task whose calls wait: Gemini's server says nothing any
// more then, and the calls could not be answered. A message with data may be an answer
// that the program has spelled itself.
func (e *linesEditor) checkWaiting(m *a2a.Outgoing) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	calls := e.waiting[m.TaskID]
	if len(calls) == 0 || slices.ContainsFunc(m.Parts, func(p a2a.OutPart) bool { return len(p.Data) > 0 }) {
		return nil
	}
	return paramsErrorf("calls of task %q wait for an answer: %v: send toolCall/confirm first, or tasks/cancel", m.TaskID, calls)
}
