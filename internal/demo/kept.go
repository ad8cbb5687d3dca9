package demo

import (
	"encoding/json"
	"time"
)

// keptLayout is the version of the files. A file of another version is ignored.
const keptLayout = 1

// A keptTask is a task on disk: its log and, if it rests at a pause, what is needed to
// tell its story again up to there.
type keptTask struct {
	Layout  int         `json:"layout"`
	Rev     int         `json:"rev"` // how often it was written
	ID      string      `json:"id"`
	Created time.Time   `json:"created"`
	Session keptSession `json:"session"`
	Saved   []string    `json:"saved,omitempty"` // what is allowed in all sessions

	State   string     `json:"state"`
	At      time.Time  `json:"at"`
	History []keptSaid `json:"history"`
	Status  string     `json:"status,omitempty"` // the message of the state, which is the last of History

	Anew     bool  `json:"anew,omitempty"`
	Messages int64 `json:"messages,omitempty"`
	Calls    int64 `json:"calls,omitempty"`

	Pause *keptPause `json:"pause,omitempty"`
}

type keptSession struct {
	ContextID string         `json:"contextId"`
	Workspace *keptWorkspace `json:"workspace,omitempty"`
	Settled   bool           `json:"settled,omitempty"`
	Allowed   []string       `json:"allowed,omitempty"`
}

type keptWorkspace struct{ Base, Below, Shown string }

// A keptPause is where a story rests: it begins with the prompt or the slash command,
// and has met the facts.
type keptPause struct {
	Prompt  keptMessage           `json:"prompt"`
	Command []string              `json:"command,omitempty"`
	Args    string                `json:"args,omitempty"`
	Facts   []json.RawMessage     `json:"facts"`
	Open    []string              `json:"open"` // the calls that wait
	Answers map[string]keptAnswer `json:"answers,omitempty"`
}

type keptAnswer struct {
	ID, Name, Description string
	Effect                effect
	Content               *string
	Remembered            bool
}

type keptSaid struct {
	Message keptMessage `json:"message"`
	Text    string      `json:"text,omitempty"`
	Call    bool        `json:"call,omitempty"`
}

type keptMessage struct {
	ID, Role   string
	Parts      []keptPart
	Metadata   map[string]json.RawMessage
	Extensions []string
	Audience   audience
}

type keptPart struct {
	Text string          `json:"text,omitempty"`
	Data json.RawMessage `json:"data,omitempty"`
	File *keptFile       `json:"file,omitempty"`
}

type keptFile struct {
	Name, Type, URI, Base64 string
	Size                    int
}

func keepMessage(m *message) keptMessage {
	k := keptMessage{ID: m.id, Role: m.role, Metadata: m.metadata, Extensions: m.extensions, Audience: m.audience}
	for _, p := range m.parts {
		kp := keptPart{Text: p.text}
		if p.data != nil {
			kp.Data = p.json()
		}
		if f := p.file; f != nil {
			kp.File = &keptFile{f.name, f.mimeType, f.uri, f.base64, f.size}
		}
		k.Parts = append(k.Parts, kp)
	}
	return k
}

func (k keptMessage) message(t *task) *message {
	m := &message{id: k.ID, role: k.Role, metadata: k.Metadata, extensions: k.Extensions, audience: k.Audience,
		taskID: t.id, contextID: t.session.contextID}
	for _, kp := range k.Parts {
		p := part{text: kp.Text}
		if kp.Data != nil {
			p.data = kp.Data
		}
		if f := kp.File; f != nil {
			p.file = &file{f.Name, f.Type, f.URI, f.Base64, f.Size}
		}
		m.parts = append(m.parts, p)
	}
	return m
}

func (a answer) keep() keptAnswer {
	return keptAnswer{a.option.ID, a.option.Name, a.option.Description, a.option.effect, a.content, a.remembered}
}

func (k keptAnswer) answer() answer {
	return answer{confirmationOption{k.ID, k.Name, k.Description, k.Effect}, k.Content, k.Remembered}
}

// kept returns the task as it is stored. The caller holds mu.
func (t *task) kept(saved []string) *keptTask {
	k := &keptTask{Layout: keptLayout, Rev: t.rev, ID: t.id, Created: t.created, Session: t.session.kept(), Saved: saved,
		State: t.state, At: t.at, Anew: t.anew.Load(), Messages: t.counts.messages.Load(), Calls: t.counts.calls.Load()}
	for _, s := range t.history {
		said := keptSaid{Message: keepMessage(&s.message), Text: s.text.String(), Call: s.call != nil}
		if said.Text != "" && said.Message.Role == "agent" {
			said.Message.Parts = []keptPart{{}}
		}
		k.History = append(k.History, said)
	}
	if last := t.log[len(t.log)-1]; last.final && last.message != nil {
		k.Status = last.message.id
	}
	switch r := t.run; {
	case t.state != stateInputRequired:
	case t.dormant != nil:
		k.Pause = t.dormant
	case r != nil && t.pause != nil:
		p := &keptPause{Prompt: keepMessage(r.first), Command: r.slash, Args: r.args, Facts: r.facts, Answers: map[string]keptAnswer{}}
		for _, c := range t.pause.unanswered() {
			p.Open = append(p.Open, c.ID)
		}
		for id, a := range t.pause.answers {
			p.Answers[id] = a.keep()
		}
		k.Pause = p
	}
	return k
}

// restore makes a task from its stored state. If its story rests, it is told when
// somebody continues it.
func (k *keptTask) restore(t *task) {
	t.rev, t.created, t.state, t.at, t.dormant = k.Rev, k.Created, k.State, k.At, k.Pause
	t.over.Store(terminal(t.state))
	t.anew.Store(k.Anew)
	t.counts.messages.Store(k.Messages)
	t.counts.calls.Store(k.Calls)
	last := event{state: k.State, at: k.At, kind: kindStateChange, final: terminal(k.State) || k.State == stateInputRequired}
	for i := range k.History {
		s := &said{message: *k.History[i].Message.message(t)}
		s.text.WriteString(k.History[i].Text)
		key := s.message.id
		if k.History[i].Call {
			s.call = &toolCall{}
			_ = json.Unmarshal(s.message.parts[0].data.(json.RawMessage), s.call) // we have written it
			key = "call " + s.call.ID
		}
		t.history = append(t.history, s)
		if s.message.role == "agent" {
			t.said[key] = s
		}
		if s.message.id == k.Status {
			last.message = &s.message
		}
	}
	t.log = []event{last}
}

func (s *session) kept() keptSession {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := keptSession{ContextID: s.contextID, Settled: s.settled, Allowed: s.memory.all()}
	if w := s.workspace; w != nil {
		k.Workspace = &keptWorkspace{w.base, w.below, w.shown}
	}
	return k
}

func (k *keptWorkspace) workspace() *workspace {
	if k == nil {
		return nil
	}
	return &workspace{base: k.Base, below: k.Below, shown: k.Shown}
}
