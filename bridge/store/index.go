package store

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
)

const (
	// indexFile is beside the sessions' directories. It gets a line each time that a
	// session is used. A list of the newest sessions reads the end of this file instead
	// of ten thousand records: it gives the order, and the records give the content.
	indexFile = "index"
	// indexLine is the length of its lines. A line begins with a newline, so that a torn
	// line before it does no harm; then the name, the time in nanoseconds, a hash of the
	// agent and a hash of the directory, in hexadecimal, separated by spaces.
	indexLine = 1 + fileNameLen + 3*(1+16)
	// indexWhole begins an index that has all sessions. An index without it was made by
	// an older version, or was begun anew after one was lost.
	indexWhole = "whole"
	// indexWaste is how many lines a session may have on average before prune writes the
	// index anew.
	indexWaste = 4
	// maxIndex is how much of an index is read: a hundred lines for each session that may
	// be kept.
	maxIndex = 16 << 20
)

// An entry is a line of the index.
type entry struct {
	name       string
	used       int64
	agent, cwd uint64
}

func entryOf(r *Record) entry {
	return entry{fileName(r.ID), r.UpdatedAt.UnixNano(), hashOf(r.Agent), hashOf(filepath.Clean(r.Cwd))}
}

func hashOf(s string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, s) // never fails
	return h.Sum64()
}

func (e *entry) append(dst []byte) []byte {
	return fmt.Appendf(dst, "\n%s %016x %016x %016x", e.name, uint64(e.used), e.agent, e.cwd)
}

// parseEntry reads a line without its newline; false: it is torn.
func parseEntry(line []byte) (e entry, ok bool) {
	if len(line) != indexLine-1 {
		return e, false
	}
	var used uint64
	for i, to := range []*uint64{&used, &e.agent, &e.cwd} {
		at := fileNameLen + i*(1+16)
		var b [8]byte
		if _, err := hex.Decode(b[:], line[at+1:at+17]); err != nil || line[at] != ' ' {
			return e, false
		}
		for _, c := range b {
			*to = *to<<8 | uint64(c)
		}
	}
	e.name, e.used = string(line[:fileNameLen]), int64(used)
	return e, true
}

func (s *Store) index() string { return filepath.Join(s.sessions, indexFile) }

// note adds lines to the index. The record is written after that: a process that is killed
// between the two leaves a line without a session, but no session without a line. If
// the index's name is taken by something else, there is no index, and List reads the
// records.
func (s *Store) note(lines []byte) error {
	for range storeTries {
		f, err := appendRegular(s.index())
		if errors.Is(err, errNotRegular) {
			return nil
		}
		if err != nil {
			return err
		}
		_, err = f.Write(lines)
		same := err == nil && isStill(f, s.index())
		if err = errors.Join(err, f.Close()); err != nil || same {
			return err
		}
		// Another bridge has replaced the index meanwhile, perhaps without these lines.
	}
	return nil
}

// isStill reports whether an open file is still the one of that name.
func isStill(f *os.File, path string) bool {
	info, err := f.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(path)
	return err == nil && os.SameFile(info, now)
}

// eachUsed yields each session once, the one that was used last first, until yield
// returns false. Some may have been deleted.
func (s *Store) eachUsed(yield func(entry) bool) error {
	data, err := readRegular(s.index(), maxIndex)
	if err != nil || !bytes.HasPrefix(data, []byte(indexWhole)) {
		if data, err = s.rewriteIndex(); err != nil {
			return err
		}
	}
	backwards(data, yield)
	return nil
}

// backwards yields the last line of each name, from the end of the index.
func backwards(data []byte, yield func(entry) bool) {
	seen := map[string]bool{}
	for at := 0; at >= 0; data = data[:max(at, 0)] {
		at = bytes.LastIndexByte(data, '\n')
		e, ok := parseEntry(data[at+1:])
		if !ok || seen[e.name] {
			continue
		}
		seen[e.name] = true
		if !yield(e) {
			return
		}
	}
}

// rewriteIndex writes the index anew, with one line for each session that is there, and
// returns it. It reads the records of sessions that the index does not have. If it
// cannot be written, the next list does the work again.
func (s *Store) rewriteIndex() ([]byte, error) {
	s.indexing.Lock()
	defer s.indexing.Unlock()
	names, err := s.names()
	if err != nil || len(names) == 0 {
		return nil, err
	}
	old, read := s.openIndex()
	if old != nil {
		defer old.Close()
	}
	// The directories are listed after the index is read, so that it has no line of a
	// directory that is not in the list.
	if names, err = s.names(); err != nil {
		return nil, err
	}
	there := make(map[string]bool, len(names))
	for _, name := range names {
		there[name] = true
	}
	var all []entry
	backwards(read, func(e entry) bool {
		if there[e.name] {
			all = append(all, e)
			delete(there, e.name)
		}
		return true
	})
	slices.Reverse(all)
	for name := range there {
		if r, err := s.read(name); err == nil { // else it is damaged, or being made: its maker notes it
			all = append(all, entryOf(&r))
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].used < all[j].used })
	data := []byte(indexWhole)
	for i := range all {
		data = all[i].append(data)
	}
	if old == nil || !isStill(old, s.index()) || replaceFile(s.index(), data) != nil {
		return data, nil // the second: another bridge has replaced it
	}
	// Lines that others have added to the old index meanwhile.
	if late, err := io.ReadAll(io.LimitReader(old, maxIndex)); err == nil && len(late) > 0 {
		_ = s.note(late) // if that fails, their records are read
		data = append(data, late...)
	}
	return data, nil
}

// openIndex opens the index and reads it. It makes an empty one if there is none, so that
// other bridges write to the file that we have open; nil: there can be none.
func (s *Store) openIndex() (f *os.File, data []byte) {
	if info, err := os.Lstat(s.index()); err == nil && !info.Mode().IsRegular() {
		return nil, nil
	}
	f, err := os.OpenFile(s.index(), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil
	}
	if data, err = io.ReadAll(io.LimitReader(f, maxIndex+1)); err == nil && len(data) <= maxIndex {
		return f, data
	}
	// It is not ours, or not usable: its lines are skipped.
	if _, err = f.Seek(0, io.SeekEnd); err != nil {
		f.Close()
		return nil, nil
	}
	return f, nil
}

// checkIndex writes the index anew if it misses sessions, or has too much.
func (s *Store) checkIndex(names []string) {
	left, _ := filepath.Glob(filepath.Join(s.sessions, "*"+tempSuffix)) // the pattern is good
	for _, path := range left {
		if info, err := os.Stat(path); err == nil && s.now().Sub(info.ModTime()) > maxTempAge {
			_ = os.Remove(path) // left by a process that was killed
		}
	}
	data, err := readRegular(s.index(), maxIndex)
	known := make(map[string]bool, len(names))
	backwards(data, func(e entry) bool {
		known[e.name] = true
		return true
	})
	misses := slices.ContainsFunc(names, func(name string) bool { return !known[name] })
	if err != nil || misses || len(data) > indexWaste*indexLine*(len(names)+pruneEvery) {
		_, _ = s.rewriteIndex() // the next call tries again
	}
}
