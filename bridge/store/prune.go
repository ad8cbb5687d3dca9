package store

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// pruneEvery is how many sessions one process makes between two prunings. The first
	// session of a process begins one, because most processes make only one. So the
	// bounds are exceeded by at most that many sessions, and by what each journal
	// grows by.
	pruneEvery = 16
	// tempPrefix begins the names of unfinished files: see safe.Replace.
	tempPrefix = ".new-"
	// maxTempAge is the age at which such a file is taken for the rest of a killed process.
	maxTempAge = time.Hour
)

// pruneSometimes counts a new session, the named one, and begins a pruning if it is time.
func (s *Store) pruneSometimes(name string) {
	s.mu.Lock()
	s.made++
	due := s.made%pruneEvery == 1
	s.mu.Unlock()
	if due {
		s.pruneInBackground(name)
	}
}

// pruneInBackground prunes in a goroutine, unless one does, which ends when it has looked at
// each session once, or with the process: the next pruning does what is left. It takes some
// milliseconds for a thousand sessions, on a slow disk more, and session/new does not wait
// for it.
func (s *Store) pruneInBackground(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isPruning {
		return
	}
	s.isPruning = true
	s.pruning.Go(func() {
		s.prune(name)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.isPruning = false
	})
}

// Wait waits for the end of what the Store does beside its caller. Call it before the
// directory is removed, or before goroutines are counted; a process may exit without it.
func (s *Store) Wait() {
	if s != nil {
		s.pruning.Wait()
		s.shell.Wait()
	}
}

// stored is a session as found on the disk.
type stored struct {
	name string
	used time.Time
	size int64
}

// survey measures all sessions, and removes their old temporary files.
func (s *Store) survey() ([]stored, error) {
	names, err := s.sessionNames()
	if err != nil {
		return nil, err
	}
	all := make([]stored, 0, len(names))
	for _, name := range names {
		one, dir := stored{name: name}, filepath.Join(s.sessions, name)
		entries, _ := os.ReadDir(dir) // if it is removed meanwhile, there is none
		for _, e := range entries {
			info, err := e.Info()
			switch {
			case err != nil:
			case strings.HasPrefix(e.Name(), tempPrefix) && s.now().Sub(info.ModTime()) > maxTempAge:
				_ = os.Remove(filepath.Join(dir, e.Name()))
			default:
				// A larger file was not written by us: the other sessions are not removed for it.
				one.size += min(info.Size(), s.limits.journal)
				if info.ModTime().After(one.used) {
					one.used = info.ModTime()
				}
			}
		}
		if len(entries) == 0 { // being made, perhaps
			if info, err := os.Stat(dir); err == nil {
				one.used = info.ModTime()
			}
		}
		all = append(all, one)
	}
	return all, nil
}

// prune removes the sessions that were used longest ago, until all bounds are kept. It
// keeps the one named, and those whose journals are open here. A session that is open in
// another bridge is usually new enough; if it is removed, that bridge makes it again at
// its next use. If a session cannot be removed, the next pruning tries again.
func (s *Store) prune(name string) {
	all, err := s.survey()
	if err != nil {
		return
	}
	slices.SortFunc(all, func(a, b stored) int { return a.used.Compare(b.used) })
	left, total := len(all), int64(0)
	for _, one := range all {
		total += one.size
	}
	for _, one := range all {
		if left <= s.limits.sessions && total <= s.limits.total && s.now().Sub(one.used) <= s.limits.age {
			return // the rest is newer
		}
		if one.name != name && !s.isOpen(one.name) && remove(filepath.Join(s.sessions, one.name)) == nil {
			left, total = left-1, total-one.size
		}
	}
}

// Purge removes the sessions that were last used longer ago than age, damaged ones too,
// and conversations from a shell; 0 removes all. It returns how many sessions it removed,
// and how many there were. If a bridge uses one of them after that, it is stored again.
func (s *Store) Purge(age time.Duration) (removed, of int, err error) {
	if s == nil {
		return 0, 0, nil
	}
	if s.shell != nil {
		if _, _, err := s.shell.Purge(age); err != nil {
			return 0, 0, err
		}
	}
	all, err := s.survey()
	if err != nil {
		return 0, 0, err
	}
	for _, one := range all {
		if s.now().Sub(one.used) < age {
			continue
		}
		if err := remove(filepath.Join(s.sessions, one.name)); err != nil {
			return removed, len(all), fmt.Errorf("bridge: a session is not deleted: %w: remove that by hand", err)
		}
		removed++
	}
	return removed, len(all), nil
}

func (s *Store) isOpen(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.journals[name] > 0
}
