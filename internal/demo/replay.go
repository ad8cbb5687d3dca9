package demo

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
)

// A story's state is its program counter, which cannot be stored. So another process
// tells a resting story again, silently, up to where it rests. The facts that it has
// met (IDs, files, answers, results of actions) were recorded, and are met again. No
// action is repeated.

// errAstray ends a retold story that does not reach its pause.
var errAstray = errors.New("this task cannot be gone on with: it was begun by another version of the demo agent")

// met returns and records the result of f. In a retold story it returns the recorded
// result, and does not call f.
func met[T any](r *run, f func() T) T {
	var v T
	switch {
	case r.silent:
		if r.astray = r.astray || r.at >= len(r.facts) || json.Unmarshal(r.facts[r.at], &v) != nil; !r.astray {
			r.at++
		}
		return v
	case r.agent.keeper == nil:
		return f()
	}
	v = f()
	raw, err := json.Marshal(v)
	if err != nil {
		raw = json.RawMessage("{") // unreadable, so the story goes astray
	}
	r.facts = append(r.facts, raw)
	return v
}

// An outcome is a recorded result or error.
type outcome[T any] struct {
	Value T
	Error string
}

// metError is met for a function that may fail.
func metError[T any](r *run, f func() (T, error)) (T, error) {
	o := met(r, func() (o outcome[T]) {
		var err error
		if o.Value, err = f(); err != nil {
			o.Error = err.Error()
		}
		return o
	})
	if r.astray {
		return o.Value, errAstray
	}
	if o.Error != "" {
		return o.Value, errors.New(o.Error)
	}
	return o.Value, nil
}

func (r *run) callID() string { return met(r, r.task.callID) }

func (r *run) directory() (*workspace, error) {
	k, err := metError(r, func() (*keptWorkspace, error) {
		w, err := r.task.session.directory()
		if err != nil {
			return nil, err
		}
		return &keptWorkspace{w.base, w.below, w.shown}, nil
	})
	return k.workspace(), err
}

// readFile reads a file as a fact: its bytes, which need not be text.
func (r *run) readFile(w *workspace, name string) (*string, error) {
	bytes, err := metError(r, func() (*[]byte, error) {
		text, err := w.read(name)
		if text == nil {
			return nil, err
		}
		b := []byte(*text)
		return &b, nil
	})
	if bytes == nil {
		return nil, err
	}
	text := string(*bytes)
	return &text, err
}

// keptAnswers are the recorded answers of a pause.
type keptAnswers struct {
	Answers map[string]keptAnswer
	Prompt  *keptMessage
}

// answered ends a pause, and records its answers as a fact.
func (r *run) answered(p *pause) error {
	again := r.silent
	k := met(r, func() (k keptAnswers) {
		k.Answers = map[string]keptAnswer{}
		for id, a := range p.answers {
			k.Answers[id] = a.keep()
		}
		if p.prompt != nil {
			m := keepMessage(p.prompt)
			k.Prompt = &m
		}
		return k
	})
	switch {
	case !again:
		return nil
	case r.astray:
		return errAstray
	}
	p.take(k.Answers)
	if k.Prompt != nil {
		p.prompt = k.Prompt.message(r.task)
	}
	return nil
}

func (p *pause) take(answers map[string]keptAnswer) {
	for id, k := range answers {
		p.answers[id] = k.answer()
	}
}

// rests is called by a retold story that has reached its pause. The caller holds the
// task's mu.
func (r *run) rests(p *pause) error {
	t := r.task
	k := t.dormant
	p.take(k.Answers)
	var open []string
	for _, c := range p.unanswered() {
		open = append(open, c.ID)
	}
	if r.astray || !slices.Equal(open, k.Open) {
		return errAstray
	}
	r.silent, t.dormant = false, nil
	return nil
}

// wake retells the story of a resting task up to its pause. The caller holds the task
// for this process.
func (a *Agent) wake(t *task) error {
	t.mu.Lock()
	k := t.dormant
	if k == nil {
		t.mu.Unlock()
		return nil
	}
	prompt := k.Prompt.message(t)
	r := &run{agent: a, task: t, first: prompt, prompt: prompt, slash: k.Command, args: k.Args,
		facts: slices.Clone(k.Facts), silent: true, awake: make(chan struct{})}
	counts := [2]int64{t.counts.messages.Load(), t.counts.calls.Load()}
	tell := prompt.story()
	if len(k.Command) > 0 {
		tell = nil
		if c, err := lookup(a.commands(), k.Command, k.Args); err == nil {
			tell = c.tell(k.Args)
		}
	}
	var err error = errAstray
	if tell != nil {
		err = a.start(t, tell, r)
	}
	t.mu.Unlock()
	if err != nil {
		return err
	}
	<-r.awake // a retold story waits for nothing
	t.counts.messages.Store(counts[0])
	t.counts.calls.Store(counts[1])
	return nil
}

func (m *memory) all() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.keys))
}

func (m *memory) add(keys []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.keys == nil {
		m.keys = map[string]bool{}
	}
	for _, key := range keys {
		m.keys[key] = true
	}
}
