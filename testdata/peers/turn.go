package peers

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A Turn is a prompt that has been sent.
type Turn struct {
	e       *Editor
	session string
	text    string
	id      int
	from    int // the prompt's place in the log
	seen    int // behind the last question that WaitPermission returned
}

// Prompt sends a prompt.
func (e *Editor) Prompt(session, text string) *Turn {
	id, from := e.request("session/prompt", map[string]any{"sessionId": session,
		"prompt": []any{map[string]any{"type": "text", "text": text}}})
	return &Turn{e: e, session: session, text: text, id: id, from: from, seen: from}
}

// An Outcome is what an editor knows of a turn at its end.
type Outcome struct {
	StopReason string
	Code       string // of the error, if there is one
	Details    string // its message, or data.details
	Text       string
	Thoughts   string
	Calls      []*Call
	Asked      []*Permission
	Updates    int // lines
}

// A Call is a tool call as an editor would show it.
type Call struct {
	ID, Title, Kind, Status string
	// Statuses are the call's statuses, in order.
	Statuses []string
	Content  []any
	// Shown are all texts that the call has shown.
	Shown []string
}

// Output is the text that the call shows at its end.
func (c *Call) Output() string {
	var b strings.Builder
	for _, part := range c.Content {
		s, _ := at(part, "content.text").(string)
		b.WriteString(s)
	}
	return b.String()
}

// Wait waits for the prompt's response.
func (t *Turn) Wait() *Outcome {
	t.e.t.Helper()
	response, end := t.e.wait(t.from, fmt.Sprintf("the response to the prompt %q", t.text), func(l *Line) bool { return l.answers(t.id) })
	o := &Outcome{StopReason: response.text("result.stopReason")}
	if response.Message["error"] != nil {
		o.Code = fmt.Sprint(response.get("error.code"))
		if o.Details = response.text("error.data.details"); o.Details == "" {
			o.Details = response.text("error.message")
		}
	}
	for _, l := range t.e.lines()[t.from:end] {
		if l.text("params.sessionId") == t.session && !l.FromEditor {
			o.add(t.e, l)
		}
	}
	return o
}

// End waits for the response and demands a stop reason.
func (t *Turn) End(stopReason string) *Outcome {
	t.e.t.Helper()
	o := t.Wait()
	if o.StopReason != stopReason {
		t.e.t.Errorf("the prompt %q ended with %q %s %s, want %q", t.text, o.StopReason, o.Code, o.Details, stopReason)
	}
	return o
}

// WaitText waits until the turn's text contains part.
func (t *Turn) WaitText(part string) {
	t.e.t.Helper()
	var b strings.Builder
	t.until(fmt.Sprintf("the text %q", part), func(l *Line) bool {
		if l.update() == "agent_message_chunk" {
			b.WriteString(l.text("params.update.content.text"))
		}
		return strings.Contains(b.String(), part)
	})
}

// WaitOutput waits until a tool call shows part.
func (t *Turn) WaitOutput(part string) {
	t.e.t.Helper()
	t.until(fmt.Sprintf("output with %q", part), func(l *Line) bool {
		return l.update() == "tool_call_update" && strings.Contains(l.text("params.update.content.0.content.text"), part)
	})
}

// WaitPermission waits for the turn's next question.
func (t *Turn) WaitPermission() *Permission {
	t.e.t.Helper()
	l, i := t.e.wait(t.seen, fmt.Sprintf("a question in the turn %q", t.text), func(l *Line) bool {
		return l.answers(t.id) || l.text("method") == "session/request_permission" && l.text("params.sessionId") == t.session
	})
	if l.answers(t.id) {
		t.e.t.Fatalf("the turn %q ended without a question: %s", t.text, l.Raw)
	}
	t.seen = i + 1
	return t.e.permission(l)
}

// until waits for a line of the turn's session. It fails at the end of the turn.
func (t *Turn) until(what string, match func(*Line) bool) {
	t.e.t.Helper()
	l, _ := t.e.wait(t.from, what, func(l *Line) bool {
		return l.answers(t.id) || !l.FromEditor && l.text("params.sessionId") == t.session && match(l)
	})
	if l.answers(t.id) {
		t.e.t.Fatalf("the turn %q ended before %s: %s", t.text, what, l.Raw)
	}
}

func (o *Outcome) add(e *Editor, l *Line) {
	if l.text("method") == "session/request_permission" {
		o.Asked = append(o.Asked, e.permission(l))
		return
	}
	o.Updates++
	switch l.update() {
	case "agent_message_chunk":
		o.Text += l.text("params.update.content.text")
	case "agent_thought_chunk":
		o.Thoughts += l.text("params.update.content.text") + "\n"
	case "tool_call", "tool_call_update":
		o.call(l)
	}
}

func (o *Outcome) call(l *Line) {
	id := l.text("params.update.toolCallId")
	i := slices.IndexFunc(o.Calls, func(c *Call) bool { return c.ID == id })
	if i < 0 {
		i, o.Calls = len(o.Calls), append(o.Calls, &Call{ID: id})
	}
	c := o.Calls[i]
	if s := l.text("params.update.title"); s != "" {
		c.Title = s
	}
	if s := l.text("params.update.kind"); s != "" {
		c.Kind = s
	}
	if s := l.text("params.update.status"); s != "" {
		c.Status = s
		c.Statuses = append(c.Statuses, s)
	}
	if content, ok := l.get("params.update.content").([]any); ok {
		c.Content = content
		if s := c.Output(); s != "" {
			c.Shown = append(c.Shown, s)
		}
	}
}

// summary is for messages of tests.
func (o *Outcome) summary() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s, %d updates, %d questions", o.StopReason, o.Code, o.Updates, len(o.Asked))
	for _, c := range o.Calls {
		fmt.Fprintf(&b, "\n\t%s %q: %s", c.Kind, c.Title, strings.Join(c.Statuses, ", "))
	}
	return b.String()
}

// greeting is the text that the demo agent writes into a file.
const greeting = "Hello from the a2astdio demo agent.\n"

func contains(t *testing.T, what, got, want string) {
	t.Helper()
	if !strings.Contains(got, want) {
		t.Errorf("%s is %q, want it to contain %q", what, got, want)
	}
}
