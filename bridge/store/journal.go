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
	journalFile = "journal.jsonl"
	// olderFile is what journalFile was until it was full.
	olderFile = "journal.old.jsonl"
	// maxJournal is how much of a conversation is kept, in both files: the text of weeks, which an
	// editor replays in a second or two.
	maxJournal = 16 << 20
	// checkInterval is how often a journal looks whether another bridge has removed its file,
	// or renamed it. That costs some system calls, so not every Append does it.
	checkInterval = time.Second
	// cutLine begins a file that has not the beginning of the conversation.
	cutLine = `{"cut":true}` + "\n"
	// torn ends a line that was written in part only: ASCII's CAN, "disregard what
	// precedes". JSON text contains it only escaped.
	torn = '\x18'
	// journalDelay is how long lines may wait for those after them: what a kill may cost.
	// One write for each batch of the agent's takes a seventh of the CPU of a burst.
	journalDelay = 10 * time.Millisecond
	// maxWaiting is how many bytes may wait.
	maxWaiting = 128 << 10
	// maxRested is how many idle journals stay open: more than the sessions that a user
	// switches between, and far fewer than the descriptors that a process has (256 on
	// macOS).
	maxRested = 16
)

// A Journal has what the editor has been shown in a session, as lines, one JSON
// object each. It is safe for concurrent use. Several bridges may write to one session's
// journal at once: their lines are mixed, but each is whole.
//
// It has two files, of half of maxJournal each. When the one that is written is full, it takes the
// place of the older one, and the reader is told that the beginning is missing. What another bridge
// writes until it looks stands in the older one: before what came later, and not lost. One file whose
// newest quarter was copied took a tenth of the CPU of a burst.
//
// A process that dies while writing leaves a torn line. The next process that opens the
// journal ends it with a mark. If another bridge is writing at that moment, its line may
// be lost; [Store.ReadJournal] reports that as a gap.
type Journal struct {
	store *Store
	dir   string

	mu     sync.Mutex
	closed bool
	// waiting are lines that are not written yet: timer writes them, Write or Close before
	// it. err is the error of a write that nobody has been told of.
	waiting    []byte
	timer      *time.Timer
	err        error
	file       *os.File
	size       int64 // of file, as far as this Journal knows
	hasWritten bool  // so that a missing file was renamed or removed
	checked    time.Time
}

// Journal returns a session's journal, to append to. The disk is not touched
// until then. The caller closes it.
func (s *Store) Journal(id string) *Journal {
	if s == nil {
		return nil
	}
	name := fileName(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.journals[name]++
	return &Journal{store: s, dir: filepath.Join(s.sessions, name)}
}

// Close writes what waits and closes the journal. Like a nil [Store], a nil Journal may be
// used, and does nothing.
func (j *Journal) Close() error {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil
	}
	err := j.flush()
	j.closed = true
	j.closeFile()
	s := j.store
	s.mu.Lock()
	defer s.mu.Unlock()
	name := filepath.Base(j.dir)
	if s.journals[name]--; s.journals[name] == 0 {
		delete(s.journals, name)
	}
	return err
}

// Rest is called at the end of a turn, when nothing is appended for a while. It lets go of the
// room for lines, and if many journals are open of the file; the next Append opens it again.
func (j *Journal) Rest() {
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.waiting) == 0 {
		j.waiting = nil
	}
	if j.store.countFiles(0) > maxRested {
		j.closeFile()
	}
}

// Append appends whole lines, each ended by a newline. They are written within 10 ms, in one
// write with what else comes meanwhile, and before any lines of [Journal.Write]. An error
// may be that of lines before: all, some or none of them were written. The next call opens
// the file again.
func (j *Journal) Append(lines []byte) error {
	if j == nil {
		return nil
	}
	return j.append(lines, false)
}

// append is Append, or, if they are to be written now, Write.
func (j *Journal) append(lines []byte, now bool) error {
	if len(lines) > 0 && lines[len(lines)-1] != '\n' {
		return errors.New("bridge: a journal takes whole lines: end the last one with a newline")
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return fmt.Errorf("bridge: journal: %w: open it anew", fs.ErrClosed)
	}
	waits := len(j.waiting) > 0
	j.waiting = append(j.waiting, lines...)
	switch {
	case now || len(j.waiting) >= maxWaiting || j.err != nil:
		return j.flush()
	case waits || len(lines) == 0: // the timer runs
	case j.timer == nil:
		j.timer = time.AfterFunc(journalDelay, j.writeLate)
	default:
		j.timer.Reset(journalDelay)
	}
	return nil
}

// Write is Append of lines, which may be none, that returns when all have been written.
func (j *Journal) Write(lines []byte) error {
	if j == nil {
		return nil
	}
	return j.append(lines, true)
}

// writeLate is the timer's: nobody waits for its error, so the next call returns it.
func (j *Journal) writeLate() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.err = j.flush()
}

// flush writes what waits, or drops it if an error has not been told yet, which it returns. The
// caller holds mu, as of all methods of Journal that follow.
func (j *Journal) flush() error {
	if j.timer != nil {
		j.timer.Stop()
	}
	lines, err := j.waiting, j.err
	j.waiting, j.err = j.waiting[:0], nil
	if cap(lines) > 2*maxWaiting {
		j.waiting = nil
	}
	if err != nil || len(lines) == 0 {
		return err
	}
	now := j.store.now()
	since := now.Sub(j.checked) // the clock may have been set back
	if j.file == nil || since < 0 || since >= checkInterval || j.full(len(lines)) {
		j.checked = now
		if err := j.prepare(len(lines)); err != nil {
			j.closeFile()
			return j.store.explain(err)
		}
	}
	n, err := j.file.Write(lines)
	j.size += int64(n)
	if err != nil {
		j.closeFile() // the next call opens it again
		return j.store.explain(err)
	}
	return nil
}

// full reports whether another file is to be begun before lines of n bytes are written.
func (j *Journal) full(n int) bool {
	return j.size > 0 && j.size+int64(n) > j.store.limits.journal/2
}

func (j *Journal) path() string { return filepath.Join(j.dir, journalFile) }

func (j *Journal) olderPath() string { return filepath.Join(j.dir, olderFile) }

// hasOlder reports whether the file is not the first of its session.
func (j *Journal) hasOlder() bool {
	_, err := os.Lstat(j.olderPath())
	return err == nil
}

// prepare sees to it that the file is open, and has room for n bytes.
func (j *Journal) prepare(n int) (err error) {
	for range storeTries {
		if err = j.open(); err == nil && j.full(n) {
			err = j.rotate()
		}
		// Another bridge may remove what was made, or rename it first.
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return err
}

// open opens the file, if it is not open, or another one is there, and ends a torn line in it.
func (j *Journal) open() error {
	if j.file != nil {
		there, err := os.Stat(j.path())
		if info, infoErr := j.file.Stat(); err != nil || infoErr != nil || !os.SameFile(info, there) {
			j.closeFile()
		}
	}
	if j.file == nil {
		isNew, err := j.store.makeDir(j.dir)
		if err != nil {
			return err
		}
		if j.file, err = appendRegular(j.path()); err != nil {
			return err
		}
		if j.store.countFiles(1); isNew {
			j.store.pruneSometimes(filepath.Base(j.dir))
		}
	}
	info, err := j.file.Stat()
	if err != nil {
		return err
	}
	j.size = info.Size()
	missing, last := "", []byte{'\n'}
	switch {
	case j.size > 0:
		// If another bridge is just writing the line, the mark comes after it, as a line of its
		// own, which is ignored.
		if _, err := j.file.ReadAt(last, j.size-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			missing = string(torn) + "\n"
		}
	case j.hasWritten || j.hasOlder(): // the file was renamed, or the session removed
		missing = cutLine
	}
	j.hasWritten = true
	written, err := j.file.WriteString(missing)
	j.size += int64(written)
	return err
}

// rotate begins another file. The caller has just opened this one. fs.ErrNotExist: another bridge has
// renamed it first.
func (j *Journal) rotate() error {
	j.closeFile() // some systems do not rename an open file
	if err := os.Rename(j.path(), j.olderPath()); err != nil {
		return err
	}
	j.store.pruneInBackground(filepath.Base(j.dir)) // what has grown may be too much for all
	return j.open()
}

// countFiles adds n to the number of files that are open, and returns it.
func (s *Store) countFiles(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files += n
	return s.files
}

// closeFile closes the file, if it is open; flush opens it again.
func (j *Journal) closeFile() {
	if j.file != nil {
		_ = j.file.Close() // each write has returned its error
		j.store.countFiles(-1)
		j.file = nil
	}
}
