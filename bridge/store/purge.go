package store

import (
	"fmt"
	"time"
)

// Purge removes the sessions that were last used longer ago than age, damaged ones too,
// and conversations from a shell; 0 removes all. It returns how many sessions it removed,
// and how many there were. If a bridge uses one of them after that, it is stored again.
func (s *Store) Purge(age time.Duration) (removed, of int, err error) {
	if s == nil {
		return 0, 0, nil
	}
	names, err := s.names()
	if err != nil {
		return 0, 0, err
	}
	s.pruneConversations(age)
	now := s.now()
	for _, name := range names {
		one := s.survey(name, now)
		if now.Sub(one.used) < age {
			continue
		}
		if err := remove(one.dir); err != nil {
			return removed, len(names), fmt.Errorf("bridge: a session is not deleted: %w: remove that by hand", err)
		}
		removed++
	}
	return removed, len(names), nil
}
