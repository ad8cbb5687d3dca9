package peers

import (
	"fmt"
	"sync"
)

// A Permission is a question of the bridge's to the user.
type Permission struct {
	e       *Editor
	id      any
	Session string
	CallID  string
	Title   string
	Kind    string
	// Content is what the question shows of the call.
	Content []any
	options []any

	once sync.Once
}

// A Policy answers a question; [Later] leaves it to the test. It runs in the goroutine
// that reads the bridge's output.
type Policy func(*Permission) (kind string)

// Results of a policy: an option's kind, the outcome "cancelled", or nothing.
const (
	Once      = "allow_once"
	Always    = "allow_always"
	No        = "reject_once"
	Dismissed = "cancelled"
	Later     = ""
)

// Policies without state.
func Allow(*Permission) string   { return Once }
func Reject(*Permission) string  { return No }
func Dismiss(*Permission) string { return Dismissed }

// SetPolicy sets the policy for later questions.
func (e *Editor) SetPolicy(p Policy) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.policy = p
}

func (e *Editor) permission(l *Line) *Permission {
	p := &Permission{e: e, id: l.Message["id"], Session: l.text("params.sessionId"), CallID: l.text("params.toolCall.toolCallId"),
		Title: l.text("params.toolCall.title"), Kind: l.text("params.toolCall.kind")}
	p.Content, _ = l.get("params.toolCall.content").([]any)
	p.options, _ = l.get("params.options").([]any)
	return p
}

// decide answers a question by the policy.
func (e *Editor) decide(l *Line) {
	e.mu.Lock()
	policy := e.policy
	e.mu.Unlock()
	p := e.permission(l)
	if kind := policy(p); kind != Later {
		p.Answer(kind)
	}
}

// Answer answers a question: by the option of a kind, or by the outcome
// "cancelled".
func (p *Permission) Answer(kind string) {
	answered := false
	p.once.Do(func() { answered = true })
	if !answered {
		p.e.t.Errorf("the question about %q was answered twice by the test", p.Title)
		return
	}
	outcome := map[string]any{"outcome": "cancelled"}
	if kind != Dismissed {
		id := p.Option(kind)
		if id == "" {
			p.e.t.Errorf("the question about %q has no option of kind %s: %v", p.Title, kind, p.options)
			return
		}
		outcome = map[string]any{"outcome": "selected", "optionId": id}
	}
	p.e.send(map[string]any{"id": p.id, "result": map[string]any{"outcome": outcome}})
}

// Option returns the ID of the option of a kind, empty if there is none.
func (p *Permission) Option(kind string) string {
	for _, o := range p.options {
		if at(o, "kind") == kind {
			return fmt.Sprint(at(o, "optionId"))
		}
	}
	return ""
}

// Diff is the change that the question shows first, if it does.
func (p *Permission) Diff() (path, newText string, ok bool) {
	if len(p.Content) == 0 || at(p.Content[0], "type") != "diff" {
		return "", "", false
	}
	path, _ = at(p.Content[0], "path").(string)
	newText, _ = at(p.Content[0], "newText").(string)
	return path, newText, true
}
