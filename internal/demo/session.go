package demo

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/google/uuid"
)

// A session is shared by the tasks of one context.
type session struct {
	contextID string
	allowed   sync.Map // tools that need not be asked for again, until the session ends

	mu        sync.Mutex
	workspace *workspace // nil: no message has brought AgentSettings
}

// newSession makes a session, and its context ID.
func (a *Agent) newSession() *session {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := &session{contextID: uuid.NewString()}
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
	raw, ok := m.Metadata[ExtensionURI]
	if !ok && s != nil {
		if _, err := s.directory(); err == nil {
			return nil, nil
		}
	}
	if !ok {
		return nil, invalidParams("message.metadata has no AgentSettings: the first message of a session carries them under %s, with the absolute workspace_path", ExtensionURI)
	}
	var settings agentSettings
	if err := readStrictly(raw, "AgentSettings", &settings); err != nil {
		return nil, invalidParams("message.metadata: %v", err)
	}
	w, err := newWorkspace(settings.WorkspacePath)
	if err != nil {
		return nil, invalidParams("message.metadata: AgentSettings.%v", err)
	}
	return w, nil
}

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

// maxFile bounds a file that the agent edits: its old and new content travel in one
// event.
const maxFile = 1 << 20

// A workspace is the directory for files. Each access opens it anew through [os.Root]
// from base, so that neither a symbolic link nor a directory that is replaced later
// leads out of base.
type workspace struct {
	base  string // with links resolved
	shown string // in the client's spelling, for paths that it gets
}

// newWorkspace finds the directory that a workspace_path names.
func newWorkspace(path string) (*workspace, error) {
	if path == "" {
		return nil, errors.New("workspace_path is missing")
	}
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("workspace_path %q is not absolute", path)
	}
	path = filepath.Clean(path)
	// Links are resolved first: /tmp is one on some systems.
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, fmt.Errorf("workspace_path %q does not exist", path)
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("workspace_path %q is not a directory", path)
	}
	return &workspace{base: real, shown: path}, nil
}

// path returns the absolute path of a file, as the client knows the workspace.
func (w *workspace) path(name string) string { return filepath.Join(w.shown, name) }

// read returns the content of a file, or nil if there is none.
func (w *workspace) read(name string) (*string, error) {
	if !filepath.IsLocal(name) {
		return nil, fmt.Errorf("%q is outside of the workspace", name)
	}
	root, err := os.OpenRoot(w.base)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%q is not a file", name)
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("%q is larger than %d bytes", name, maxFile)
	}
	text := string(data)
	return &text, nil
}

func (w *workspace) write(name, content string) error {
	root, err := os.OpenRoot(w.base)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return root.WriteFile(name, []byte(content), 0o644)
}
