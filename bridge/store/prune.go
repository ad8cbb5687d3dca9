package store

import (
	"context"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"
)

const (
	// pruneEvery is how many sessions one process makes between two prunings. The first
	// session of a process begins one, because most processes make only one. So the
	// bounds are exceeded by at most that many sessions, and by one generation of each
	// journal that grows.
	pruneEvery = 16
	// maxTempAge is the age at which a temporary file is taken for the rest of a killed
	// process.
	maxTempAge = time.Hour
	// After pruneBatch sessions it pauses for prunePause: reading ten thousand takes half
	// a second, which must not slow down other work on the same processor.
	pruneBatch = 8
	prunePause = time.Millisecond
	// pruneDelay lets the answer to session/new go out first: listing the directories
	// takes some milliseconds.
	pruneDelay = 30 * time.Millisecond
)

// pruneSometimes counts a new session, and begins a pruning if it is time.
func (s *Store) pruneSometimes(name string) {
	if s.made.Add(1)%pruneEvery == 1 {
		s.pruneBeside(name)
	}
}

// pruneBeside prunes in a goroutine. It ends when it has looked at each session once, by
// StopPruning, or with the process; the next pruning does what is left.
func (s *Store) pruneBeside(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pruned != nil {
		select {
		case <-s.pruned:
		default:
			return // a pruning is under way
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	s.stopPruning, s.pruned = stop, done
	go func() {
		defer close(done)
		defer stop()
		if pause(ctx, pruneDelay) {
			s.prune(ctx, name)
		}
	}()
}

// StopPruning stops a pruning that is under way, and waits for its end. The Store may be
// used after that. Call it before the directory is removed, or before goroutines are
// counted; a process may exit without it.
func (s *Store) StopPruning() {
	if s == nil {
		return
	}
	s.mu.Lock()
	stop, done := s.stopPruning, s.pruned
	s.mu.Unlock()
	if stop != nil {
		stop()
		<-done
	}
}

// stored is a session as found on the disk.
type stored struct {
	dir  string
	used time.Time
	size int64
}

// prune removes the sessions that were used longest ago, until all bounds are kept. It
// keeps the one named, and those whose journals are open here. A session that is open in
// another bridge is usually new enough; if it is removed, that bridge makes it again at
// its next use. If a session cannot be removed, the next pruning tries again.
func (s *Store) prune(ctx context.Context, name string) {
	names, err := s.names()
	if err != nil {
		return
	}
	now, total := s.now(), int64(0)
	all := make([]stored, 0, len(names))
	for i, n := range names {
		if !breathe(ctx, i) {
			return
		}
		one := s.survey(n, now)
		total += one.size
		all = append(all, one)
	}
	// A session that takes half of the space was not written by us. It is removed first, or
	// is not counted, so that the others are not removed for it.
	huge := func(one stored) bool { return one.size > s.limits.total/2 }
	sort.Slice(all, func(i, j int) bool {
		if a, b := huge(all[i]), huge(all[j]); a != b {
			return a
		}
		return all[i].used.Before(all[j].used)
	})
	left := len(all)
	for i, one := range all {
		if left <= s.limits.sessions && total <= s.limits.total && now.Sub(one.used) <= s.limits.age {
			break // the rest is newer
		}
		if !breathe(ctx, i) {
			return
		}
		if n := filepath.Base(one.dir); n == name || s.isOpen(n) || remove(one.dir) != nil {
			if huge(one) {
				total -= one.size
			}
			continue
		}
		left, total = left-1, total-one.size
	}
	if names, err := s.names(); err == nil {
		s.checkIndex(names)
	}
}

// breathe pauses after every batch; false: the pruning is to end.
func breathe(ctx context.Context, i int) bool {
	if i%pruneBatch != pruneBatch-1 {
		return ctx.Err() == nil
	}
	return pause(ctx, prunePause)
}

// pause waits; false: the pruning is to end.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// survey measures a session, and removes its old temporary files.
func (s *Store) survey(name string, now time.Time) stored {
	one := stored{dir: filepath.Join(s.sessions, name)}
	entries, _ := os.ReadDir(one.dir) // if it is removed meanwhile, there is none
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
