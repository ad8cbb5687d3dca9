// Package store keeps sessions, their journals and what is known of agents' cards,
// for later processes. It knows nothing of a running bridge: it stores records and
// lines, and returns them. [Open] opens a directory of them; several processes may use
// it at once.
//
// A [Store] may be used by several goroutines, and starts one that prunes, which ends when it has looked
// at each session once; [Store.Wait] waits for it. A [Journal]'s timer writes what waits in it: Close stops it.
package store

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/internal/safe"
)

const (
	// maxStored is how many sessions are kept: a year of several a day, which are still
	// listed in some ten milliseconds if all are read.
	maxStored = 1000
	// maxStoredAge is how long an unused session is kept: agents forget its task long
	// before that, and only the text is left.
	maxStoredAge = 90 * 24 * time.Hour
	// maxStoredSize is how much disk all sessions may take: little for a disk, and far
	// more than text needs.
	maxStoredSize = 512 << 20
	// storeTries is how often an operation is repeated after another bridge has undone a
	// part of it (a directory removed, a name taken), which is rare each time.
	storeTries = 16
)

// ErrNoSession is the error for a session that is not stored, or whose record is
// damaged.
var ErrNoSession = errors.New("bridge: no such session is stored")

// A Store keeps sessions for later processes. It is safe for concurrent use, also by
// several bridges at once.
//
// A session is a directory under sessions/, named by a hash of its ID, because
// IDs come from outside:
//
//	record.json    its [Record]s, one a line: the last one counts
//	journal.jsonl, journal.old.jsonl
//	               its journal: see [Journal]
//
// There are no locks, because a lock outlives a process that is killed. If one bridge
// deletes a session while another is using it, the session is made again, without what
// was said before. Nothing is synced to the disk: a process may die at any time, but a
// power cut may lose the last seconds.
//
// Journals hold private conversations in clear. Only the user may read them:
// directories have mode 0700, files 0600.
//
// A nil Store stores nothing. It is for when there is no place for one.
type Store struct {
	// Now is the clock; nil: [time.Now]. It is set before the Store is used.
	Now func() time.Time

	dir      string // holds sessions
	sessions string
	advice   string // what to do if dir cannot be used
	limits   storeLimits

	shell *Store // conversations from a shell, in a directory beside sessions

	mu        sync.Mutex
	journals  map[string]int // journals that this Store has handed out, by file name
	made      int            // sessions made by this Store
	files     int            // journals' files that are open
	isPruning bool
	pruning   sync.WaitGroup
}

// storeLimits are the constants; tests make them smaller.
type storeLimits struct {
	sessions       int
	age            time.Duration
	journal, total int64
}

// Open returns the store in a directory; "" is where the user's programs keep their state. The
// disk is not touched until something is stored.
func Open(dir string) (*Store, error) {
	limits := storeLimits{maxStored, maxStoredAge, maxJournal, maxStoredSize}
	s := &Store{dir: dir, journals: map[string]int{}, limits: limits}
	s.advice = "make it writable, with room left, or choose another directory"
	if dir == "" {
		base, err := safe.StateDir()
		if err != nil {
			return nil, fmt.Errorf("bridge: sessions cannot be kept: %w", err)
		}
		variable := "XDG_STATE_HOME"
		if runtime.GOOS == "windows" {
			variable = "LocalAppData"
		}
		s.dir, s.advice = filepath.Join(base, "a2astdio"), "make it writable, with room left, or set "+variable+" to another directory"
	}
	var err error
	if s.dir, err = filepath.Abs(s.dir); err != nil {
		return nil, s.explain(err)
	}
	s.sessions = filepath.Join(s.dir, "sessions")
	s.shell = &Store{dir: s.dir, sessions: filepath.Join(s.dir, "conversations"), advice: s.advice,
		journals: map[string]int{}, limits: limits, Now: func() time.Time { return s.now() }}
	return s, nil
}

func (s *Store) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}

// Put stores a record, in place of the one with its ID if there is one. If the process
// dies meanwhile, the old or the new one is there, whole.
func (s *Store) Put(r Record) error {
	if s == nil {
		return nil
	}
	if r.ID == "" || !utf8.ValidString(r.ID) {
		return errors.New("bridge: a session cannot be stored under an ID that is empty or not UTF-8: give it another")
	}
	r.UpdatedAt = s.now().UTC().Round(0)
	line, err := json.Marshal(&r)
	if err == nil && len(line) > maxRecord {
		err = fmt.Errorf("its record has %d bytes, the limit is %d: the agent's IDs, or the title, are too long", len(line), maxRecord)
	}
	if err != nil { // before a directory is made for it
		return fmt.Errorf("bridge: session cannot be stored: %w", err)
	}
	name, isNew := fileName(r.ID), false
	for range storeTries {
		isNew, err = s.appendRecord(name, line)
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err != nil {
		return s.explain(err)
	}
	if isNew {
		s.pruneSometimes(name)
	}
	return nil
}

// Get returns a record, or [ErrNoSession].
func (s *Store) Get(id string) (Record, error) {
	if s == nil {
		return Record{}, ErrNoSession
	}
	return s.readRecord(fileName(id))
}

// List returns the sessions with an agent, in a directory, newest first; "" is
// any. Damaged ones are left out. It reads all records: some ten
// milliseconds for as many as are kept.
func (s *Store) List(agent, cwd string) ([]Record, error) {
	if s == nil {
		return nil, nil
	}
	names, err := s.sessionNames()
	if err != nil {
		return nil, err
	}
	var all []Record
	for _, name := range names {
		r, err := s.readRecord(name)
		if err == nil && (agent == "" || r.Agent == agent) && (cwd == "" || filepath.Clean(r.Cwd) == filepath.Clean(cwd)) {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b Record) int {
		return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), strings.Compare(a.ID, b.ID))
	})
	return all, nil
}

// Delete removes a session and its journal, which should be closed. An unknown
// one is removed already.
func (s *Store) Delete(id string) error {
	if s == nil {
		return nil
	}
	if err := remove(filepath.Join(s.sessions, fileName(id))); err != nil {
		return fmt.Errorf("bridge: session is not deleted: %w: remove that by hand", err)
	}
	return nil
}
