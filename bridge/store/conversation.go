package store

import "path/filepath"

// conversationID names the conversation from a shell with an agent in a directory.
func conversationID(agent, cwd string) string { return agent + "\x00" + filepath.Clean(cwd) }

// Conversation returns the last conversation from a shell with an agent in a directory,
// or [ErrNoSession].
func (s *Store) Conversation(agent, cwd string) (Record, error) {
	if s == nil {
		return Record{}, ErrNoSession
	}
	return s.shell.Get(conversationID(agent, cwd))
}

// PutConversation stores a conversation from a shell, in place of the last with its agent
// in its directory. Its ID is set here.
func (s *Store) PutConversation(r Record) error {
	if s == nil {
		return nil
	}
	r.ID, r.Cwd = conversationID(r.Agent, r.Cwd), filepath.Clean(r.Cwd)
	return s.shell.Put(r)
}
