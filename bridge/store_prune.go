package bridge

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// pruneEvery is how many sessions are made by one process between two looks
	// at all of them. The first one made is followed by a look, because most
	// processes make one only. The bounds are exceeded by that much at most, and
	// by one generation of each journal that grows.
	pruneEvery = 16
	// maxTempAge is after what time a temporary file is what a killed process
	// has left, and not being written.
	maxTempAge = time.Hour
)

// pruneSometimes notes that a session was made.
func (s *Store) pruneSometimes(name string) {
	if s.made.Add(1)%pruneEvery == 1 {
		s.prune(name)
	}
}

// stored is a session as its files tell.
type stored struct {
	dir  string
	used time.Time
	size int64
}

// prune removes the sessions that were used longest ago, until all bounds are
// kept: not the one named, nor those whose journals are open here. One that is
// open in another bridge is likely to be new enough; if not it comes back when
// that goes on with it. What cannot be removed is left for the next time: a
// bound is no reason to refuse work.
func (s *Store) prune(name string) {
	names, err := s.names()
	if err != nil {
		return
	}
	now, total := s.now(), int64(0)
	all := make([]stored, 0, len(names))
	for _, n := range names {
		one := s.survey(n, now)
		total += one.size
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b stored) int { return a.used.Compare(b.used) })
	left := len(all)
	for _, one := range all {
		if left <= s.limits.sessions && total <= s.limits.total && now.Sub(one.used) <= s.limits.age {
			return // the rest is newer
		}
		if n := filepath.Base(one.dir); n == name || s.isOpen(n) || remove(one.dir) != nil {
			continue
		}
		left, total = left-1, total-one.size
	}
}

// survey measures a session, and removes what was left there half written.
func (s *Store) survey(name string, now time.Time) stored {
	one := stored{dir: filepath.Join(s.sessions, name)}
	entries, _ := os.ReadDir(one.dir) // gone: nothing
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue
		}
		if strings.HasSuffix(e.Name(), tempSuffix) && now.Sub(info.ModTime()) > maxTempAge {
			_ = os.Remove(filepath.Join(one.dir, e.Name()))
			continue
		}
		one.size += info.Size()
		if info.ModTime().After(one.used) {
			one.used = info.ModTime()
		}
	}
	if len(entries) == 0 {
		// Being made, perhaps.
		if info, err := os.Stat(one.dir); err == nil {
			one.used = info.ModTime()
		}
	}
	return one
}

func (s *Store) isOpen(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[name] > 0
}
