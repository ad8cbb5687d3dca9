package demo

import (
	"errors"
	"fmt"
	"sync"
)

// A session is what tasks of one context share.
type session struct {
	contextID string
	memory    memory // what the user allowed until the session ends

	mu        sync.Mutex
	workspace *workspace // nil: none was named
	settled   bool       // a message has brought AgentSettings
}

// newSession makes a session under a context ID of the agent's own.
func (a *Agent) newSession() *session {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := &session{contextID: a.newID()}
	if a.root != "" {
		s.workspace = &workspace{base: a.root, below: ".", shown: a.root}
	}
	a.sessions[s.contextID] = s
	return s
}

// session returns the session of a message that begins a task; nil, without an
// error, for a message that begins a session as well. A2A lets an agent refuse
// context IDs that it has not made (1.0, §3.4.1), and this one does.
func (a *Agent) session(contextID string) (*session, error) {
	if contextID == "" {
		return nil, nil
	}
	for range 2 {
		a.mu.Lock()
		s := a.sessions[contextID]
		a.mu.Unlock()
		if s != nil {
			return s, nil
		}
		a.adoptAll()
	}
	return nil, invalidParams("message.contextId %q is none of this agent's: send the first message without one, and then the one that it answers with", contextID)
}

// admit reads the AgentSettings of a message, which the first message of a session
// must carry (extension, §3.2). It changes nothing, so that a message that is
// refused later has changed nothing either. The caller hands what it returns to
// [session.settle]; s is nil for a new session.
func (a *Agent) admit(s *session, m *message, extension bool) (*workspace, error) {
	raw, ok := m.metadata[ExtensionURI]
	switch {
	case !extension:
		return nil, nil
	case !ok && s.isSettled():
		return nil, nil
	case !ok:
		return nil, invalidParams("message.metadata has no AgentSettings: the first message of a session carries them under %s, with the absolute workspace_path", ExtensionURI)
	}
	settings, err := readSettings(raw)
	if err == nil {
		var w *workspace
		if w, err = a.workspace(settings.WorkspacePath); err == nil {
			return w, nil
		}
		err = fmt.Errorf("AgentSettings.%v", err)
	}
	return nil, invalidParams("message.metadata: %v", err)
}

// settle takes what admit returned.
func (s *session) settle(w *workspace) {
	if w == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.workspace, s.settled = w, true
}

func (s *session) isSettled() bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settled
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
