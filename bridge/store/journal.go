package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const (
	// maxJournal is how much of a conversation is kept: the text of weeks, or
	// what an editor replays in about a second. It is two generations.
	maxJournal = 8 << 20
	// journalLook is how often a journal looks whether another bridge has begun
	// a new generation, or removed the session. It is what an Append costs
	// beside its write, spread over a second.
	journalLook = time.Second
	// maxRested is how many journals that nothing is appended to are held open: more
	// sessions than somebody goes back and forth between, and far fewer than the
	// descriptors that a process has (256 on macOS).
	maxRested = 16
)

// A Journal is what the editor has been shown in a session, as lines, one JSON
// object each. It is safe for concurrent use; those of several bridges for one
// session are written into one another by whole lines.
//
// It is kept in generations, 1.jsonl, 2.jsonl and so on. One that has reached
// half of maxJournal is followed by the next, and the one before it is removed,
// so that the newest half at least is there. That the first that is left is not
// number 1 tells that the beginning is missing. A generation is begun by making
// a file that was not there, which one bridge only can do, and nothing is
// renamed, so this needs no lock.
//
// A process that dies while writing leaves a torn line. Who opens the journal
// next ends it with a mark, so that it is known for what it is. If another
// bridge was using the journal at that moment, it may lose the one line that it
// writes before it looks (journalLook); [Store.ReadJournal] tells of that as a gap.
type Journal struct {
	store *Store
	dir   string

	mu         sync.Mutex
	closed     bool
	file       *os.File
	generation int
	size       int64 // of file, as far as this Journal knows
	looked     time.Time
}

// Journal returns a session's journal, to append to. The disk is not touched
// until then. The caller closes it.
func (s *Store) Journal(id string) (*Journal, error) {
	if s == nil {
		return nil, nil
	}
	if id == "" {
		return nil, errors.New("bridge: a session without an ID has no journal: give it one")
	}
	name := fileName(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[name]++
	return &Journal{store: s, dir: filepath.Join(s.sessions, name)}, nil
}

// Close closes the journal. A nil Journal may be closed, and appended to, like
// the nil [Store] that it is from.
func (j *Journal) Close() error {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil
	}
	j.closed = true
	j.drop()
	s := j.store
	s.mu.Lock()
	defer s.mu.Unlock()
	name := filepath.Base(j.dir)
	if s.open[name]--; s.open[name] == 0 {
		delete(s.open, name)
	}
	return nil
}

// Rest says that nothing will be appended for a while: a turn is over. If many
// journals are open this one is closed, until the next Append opens it.
func (j *Journal) Rest() {
	if j == nil || j.store.files.Load() <= maxRested {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.drop()
}

// Append appends whole lines, each ended by a newline, in one write. An error
// means that they may be there or not, or the first of them only; the next
// Append tries anew.
func (j *Journal) Append(lines []byte) error {
	if j == nil || len(lines) == 0 {
		return nil
	}
	if lines[len(lines)-1] != '\n' {
		return errors.New("bridge: a journal takes whole lines: end the last one with a newline")
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return fmt.Errorf("bridge: journal: %w: open it anew", fs.ErrClosed)
	}
	// A clock that was set back is no reason to stop looking.
	since := j.store.now().Sub(j.looked)
	if j.file == nil || since < 0 || since >= journalLook || j.full(len(lines)) {
		if err := j.look(len(lines)); err != nil {
			j.drop()
			return j.store.explain(err)
		}
	}
	n, err := j.file.Write(lines)
	j.size += int64(n)
	if err != nil {
		j.drop() // opening it again mends it
		return j.store.explain(err)
	}
	return nil
}

// full reports whether lines belong into the next generation: one holds at least
// one batch, whatever its size.
func (j *Journal) full(n int) bool {
	return j.size > 0 && j.size+int64(n) > j.store.limits.journal/2
}

// hold takes a file that was opened, or forgets the one that was closed.
func (j *Journal) hold(f *os.File) {
	if f != nil {
		j.store.files.Add(1)
	} else {
		j.store.files.Add(-1)
	}
	j.file = f
}

func (j *Journal) drop() {
	if j.file != nil {
		_ = j.file.Close() // each write has told its error
		j.hold(nil)
	}
}
