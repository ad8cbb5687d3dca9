package store

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tidwall/gjson"
)

// maxJournalLine is the longest line that is replayed. Some editors end at a longer one
// (coder/acp-go-sdk), and package mapping makes none.
const maxJournalLine = 10 << 20

// maxJournalRead is how much of a journal is read: maxJournal and the largest event. A longer
// file was not written by us.
const maxJournalRead = 128 << 20

// ReadJournal calls yield with each line of a session's journal, in order and without
// its newline. Yield must not keep the line; if it returns an error, ReadJournal stops
// and returns it. A nil line means that something is missing: the beginning of a long
// conversation, or damaged lines. A torn line is left out, because it was not shown.
//
// Every line that yield gets is a JSON object, also if a file is damaged. If nothing is
// stored of the session, the error is [ErrNoSession].
func (s *Store) ReadJournal(id string, yield func(line []byte) error) error {
	if s == nil {
		return ErrNoSession
	}
	name := fileName(id)
	f, err := openRegular(filepath.Join(s.sessions, name, journalFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		_, err := s.read(name)
		return err
	case err != nil:
		return s.explain(err)
	}
	defer f.Close() // only read
	r := journalReader{yield: yield}
	if err := r.file(f); err != nil {
		return err
	}
	if r.gap {
		return yield(nil)
	}
	return nil
}

type journalReader struct {
	yield func([]byte) error
	gap   bool // something is missing before the next line
	in    *bufio.Reader
	long  []byte // a line that is longer than in's buffer
}

// file yields the lines of a file. Text after its last newline is torn.
func (r *journalReader) file(all io.Reader) error {
	f := &io.LimitedReader{R: all, N: maxJournalRead}
	r.in = bufio.NewReaderSize(f, 64<<10)
	for {
		line, whole, err := r.read()
		if err != nil {
			r.gap = r.gap || err != io.EOF || f.N == 0
			return nil
		}
		switch {
		case len(line) == 0 && whole || len(line) > 0 && line[len(line)-1] == torn:
			continue
		case !whole || line[0] != '{' || !gjson.ValidBytes(line) || string(line) == cutLine[:len(cutLine)-1]:
			r.gap = true
			continue
		}
		if r.gap {
			r.gap = false
			if err := r.yield(nil); err != nil {
				return err
			}
		}
		if err := r.yield(line); err != nil {
			return err
		}
	}
}

// read reads a line, and its last byte only if it is too long (not whole).
func (r *journalReader) read() (line []byte, whole bool, err error) {
	r.long, whole = r.long[:0], true
	for {
		piece, err := r.in.ReadSlice('\n')
		if err == nil {
			piece = piece[:len(piece)-1]
			if len(r.long) == 0 && whole {
				return piece, true, nil
			}
		} else if err != bufio.ErrBufferFull {
			return nil, false, err
		}
		r.long = append(r.long, piece...)
		if len(r.long) > maxJournalLine {
			whole = false
		}
		if !whole && len(r.long) > 1 {
			r.long = append(r.long[:0], r.long[len(r.long)-1])
		}
		if err == nil {
			return r.long, whole, nil
		}
	}
}

// JournalSize is how many bytes a session's journal has, whoever has written it; 0 if it has none.
func (s *Store) JournalSize(id string) int64 {
	if s == nil {
		return 0
	}
	info, err := os.Stat(filepath.Join(s.sessions, fileName(id), journalFile))
	if err != nil {
		return 0
	}
	return info.Size()
}
