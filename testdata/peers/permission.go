package peers

import (
	"slices"
	"sync"
)

// A Permission is a question of the bridge's to the user.
type Permission struct {
	e       *Editor
	id      any
	CallID  string
	Title   string
	content []any // what the question shows of the call
	options []any

	once sync.Once
}

// A Policy answers a question, by an option's kind or the outcome "cancelled"; "" leaves it to the
// test. It runs in the goroutine that reads the bridge's output.
type Policy func(*Permission) (kind string)

const dismissed = "cancelled"

// Policies without state.
func Allow(*Permission) string   { return "allow_once" }
func Reject(*Permission) string  { return "reject_once" }
func Dismiss(*Permission) string { return dismissed }

// SetPolicy sets the policy for later questions.
func (e *Editor) SetPolicy(p Policy) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.policy = p
}

func (e *Editor) permission(l *Line) *Permission {
	p := &Permission{e: e, id: l.Message["id"], CallID: l.text("params.toolCall.toolCallId"), Title: l.text("params.toolCall.title")}
	p.content, _ = l.get("params.toolCall.content").([]any)
	p.options, _ = l.get("params.options").([]any)
	return p
}

// decide answers a question by the policy.
func (e *Editor) decide(l *Line) {
	e.mu.Lock()
	policy := e.policy
	e.mu.Unlock()
	p := e.permission(l)
	if kind := policy(p); kind != "" {
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
	if kind != dismissed {
		i := slices.IndexFunc(p.options, func(o any) bool { return at(o, "kind") == kind })
		if i < 0 {
			p.e.t.Errorf("the question about %q has no option of kind %s: %v", p.Title, kind, p.options)
			return
		}
		outcome = map[string]any{"outcome": "selected", "optionId": at(p.options[i], "optionId")}
	}
	p.e.send(map[string]any{"id": p.id, "result": map[string]any{"outcome": outcome}})
}

// Diff is the change that the question shows first, if it does.
func (p *Permission) Diff() (path, newText string, ok bool) {
	if len(p.content) == 0 || at(p.content[0], "type") != "diff" {
		return "", "", false
	}
	path, _ = at(p.content[0], "path").(string)
	newText, _ = at(p.content[0], "newText").(string)
	return path, newText, true
}
