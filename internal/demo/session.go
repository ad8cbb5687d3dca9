package demo

import (
	"errors"
	"fmt"
	"sync"
)

// A session is shared by the tasks of one context.
type session struct {
	contextID string
	memory    memory // what the user has allowed until the session ends

	mu        sync.Mutex
	workspace *workspace // nil: no message has brought AgentSettings
}

// newSession makes a session, and its context ID.
func (a *Agent) newSession() *session {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := &session{contextID: a.newID()}
	a.sessions[s.contextID] = s
	return s
}

// session returns the session of a message that begins a task; nil, without an error,
// for a message that also begins a session. A2A lets an agent refuse foreign context
// IDs (1.0, §3.4.1), and this one does.
func (a *Agent) session(contextID string) (*session, error) {
	if contextID == "" {
		return nil, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.sessions[contextID]; s != nil {
		return s, nil
	}
	return nil, invalidParams("message.contextId %q is none of this agent's: send the first message without one, and then the one that it answers with", contextID)
}

// admit reads a message's AgentSettings, which the first message of a session must have
// (extension, §3.2). It changes nothing, since the message may be refused later. The
// caller passes its result to [session.settle]; s is nil for a new session.
func (a *Agent) admit(s *session, m *message) (*workspace, error) {
	raw, ok := m.metadata[ExtensionURI]
	if !ok && s != nil {
		if _, err := s.directory(); err == nil {
			return nil, nil
		}
	}
	if !ok {
		return nil, invalidParams("message.metadata has no AgentSettings: the first message of a session carries them under %s, with the absolute workspace_path", ExtensionURI)
	}
	settings, err := readSettings(raw)
	if err == nil {
		var w *workspace
		if w, err = newWorkspace(settings.WorkspacePath); err == nil {
			return w, nil
		}
		err = fmt.Errorf("AgentSettings.%v", err)
	}
	return nil, invalidParams("message.metadata: %v", err)
}

// settle applies the result of admit.
func (s *session) settle(w *workspace) {
	if w == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.workspace = w
}

// directory returns the session's workspace, or an error that tells the client how to
// name one.
func (s *session) directory() (*workspace, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.workspace == nil {
		return nil, errors.New("there is no workspace to write in: name one by AgentSettings.workspace_path in the first message")
	}
	return s.workspace, nil
}
