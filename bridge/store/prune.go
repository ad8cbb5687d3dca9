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
	// pruneEvery is how many sessions are made by one process between two looks
	// at all of them. The first one made is followed by a look, because most
	// processes make one only. The bounds are exceeded by that much at most, and
	// by one generation of each journal that grows.
	pruneEvery = 16
	// maxTempAge is after what time a temporary file is what a killed process
	// has left, and not being written.
	maxTempAge = time.Hour
	// After pruneBatch sessions it pauses for prunePause: looking at ten thousand
	// takes half a second, which is not to be felt by what goes on meanwhile on the
	// same processor.
	pruneBatch = 8
	prunePause = time.Millisecond
	// pruneDelay lets the answer to session/new go out before: listing the
	// directories is one call that takes some milliseconds.
	pruneDelay = 30 * time.Millisecond
)

// pruneSometimes notes that a session was made.
func (s *Store) pruneSometimes(name string) {
	if s.made.Add(1)%pruneEvery == 1 {
		s.pruneBeside(name)
	}
}

// pruneBeside prunes in a goroutine, which ends when it has looked at each session
// once, by StopPruning, or with the process: what is left is there the next time.
func (s *Store) pruneBeside(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pruned != nil {
		select {
		case <-s.pruned:
		default:
			return // one is at it
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

// StopPruning ends the pruning that a new session may have begun, and waits for that.
// The Store may be used after it. It is for whoever removes the directory, or looks
// for goroutines; a process may end without it.
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
	// One that takes half of the room by itself is none that we have written. It goes first,
	// or is not counted, so that it does not cost the others.
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

// breathe pauses now and then; false: it is to end.
func breathe(ctx context.Context, i int) bool {
	if i%pruneBatch != pruneBatch-1 {
		return ctx.Err() == nil
	}
	return pause(ctx, prunePause)
}

// pause waits; false: it is to end.
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
