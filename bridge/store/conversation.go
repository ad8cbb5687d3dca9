package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A Conversation is the state of the last conversation from a shell with an agent in a
// directory. It has no journal.
type Conversation struct {
	Agent     string `json:"agent"`
	Cwd       string `json:"cwd"`
	ContextID string `json:"contextId,omitempty"`
	// TaskID is the task that the next prompt belongs to, empty if it begins one.
	TaskID    string    `json:"taskId,omitempty"`
	UpdatedAt time.Time `json:"updatedAt"`
}

// conversationFile is where a conversation is kept: beside the editors' sessions.
func (s *Store) conversationFile(agent, cwd string) string {
	return filepath.Join(s.dir, "conversations", fileName(agent+"\x00"+filepath.Clean(cwd))+".json")
}

// Conversation returns the last conversation with an agent in a directory, or
// [ErrNoSession].
func (s *Store) Conversation(agent, cwd string) (Conversation, error) {
	c := Conversation{}
	if s == nil {
		return c, ErrNoSession
	}
	if err := s.guard(); err != nil {
		return c, err
	}
	raw, err := readRegular(s.conversationFile(agent, cwd), maxRecord)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c, ErrNoSession
	case err != nil:
		return c, s.explain(err)
	case json.Unmarshal(raw, &c) != nil || c.Agent != agent || c.Cwd != filepath.Clean(cwd):
		return Conversation{}, fmt.Errorf("%w: its record is damaged: %s", ErrNoSession, s.conversationFile(agent, cwd))
	}
	return c, nil
}

// PutConversation stores a conversation, in place of the last with its agent in its
// directory. It removes those that have not been used for as long as sessions are kept.
func (s *Store) PutConversation(c Conversation) error {
	if s == nil {
		return nil
	}
	c.Cwd, c.UpdatedAt = filepath.Clean(c.Cwd), s.now().UTC().Round(0)
	raw, err := json.Marshal(&c)
	if err != nil {
		return fmt.Errorf("bridge: the conversation cannot be stored: %w", err)
	}
	if len(raw) > maxRecord {
		return fmt.Errorf("bridge: the conversation cannot be stored: its record has %d bytes, the limit is %d: the agent's IDs are too long", len(raw), maxRecord)
	}
	file := s.conversationFile(c.Agent, c.Cwd)
	if _, err := s.makeDir(filepath.Dir(file)); err != nil {
		return s.explain(err)
	}
	_, err = os.Stat(file)
	isNew := errors.Is(err, fs.ErrNotExist)
	if err := replaceFile(file, raw); err != nil {
		return s.explain(err)
	}
	if isNew {
		s.pruneConversations(s.limits.age)
	}
	return nil
}

// pruneConversations removes conversations that have not been used for age. If one cannot
// be removed, the next call tries again.
func (s *Store) pruneConversations(age time.Duration) {
	dir := filepath.Join(s.dir, "conversations")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue
		}
		limit := age
		if strings.HasSuffix(e.Name(), tempSuffix) {
			limit = min(age, maxTempAge)
		}
		if s.now().Sub(info.ModTime()) >= limit {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}
