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

// maxGeneration is how much of a journal's file is read: half of maxJournal and the
// largest event. A longer file was not written by us.
const maxGeneration = 128 << 20

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
	if err := s.guard(); err != nil {
		return err
	}
	name := fileName(id)
	files, first, err := openJournal(filepath.Join(s.sessions, name))
	if err != nil {
		return s.explain(err)
	}
	defer closeAll(files)
	if len(files) == 0 {
		_, err := s.read(name)
		return err
	}
	r := journalReader{yield: yield, gap: first > 1}
	for _, f := range files {
		if err := r.file(f); err != nil {
			return err
		}
	}
	if r.gap {
		return yield(nil)
	}
	return nil
}

// openJournal opens all generations before one is read, so that none is removed
// meanwhile.
func openJournal(dir string) (files []*os.File, first int, err error) {
	for range storeTries {
		var all []int
		if all, err = generations(dir); err != nil || len(all) == 0 {
			return nil, 0, err
		}
		for _, n := range all {
			var f *os.File
			j := Journal{dir: dir}
			if f, err = openRegular(j.path(n)); err != nil {
				break
			}
			files = append(files, f)
		}
		if err == nil {
			return files, all[0], nil
		}
		closeAll(files)
		files = nil
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, 0, err
		}
	}
	return nil, 0, err
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // only read
	}
}

type journalReader struct {
	yield func([]byte) error
	gap   bool // something is missing before the next line
	in    *bufio.Reader
	long  []byte // a line that is longer than in's buffer
}

// file yields the lines of a generation. Text after its last newline is torn.
func (r *journalReader) file(all io.Reader) error {
	f := &io.LimitedReader{R: all, N: maxGeneration}
	if r.in == nil {
		r.in = bufio.NewReaderSize(f, 64<<10)
	} else {
		r.in.Reset(f)
	}
	for {
		line, whole, err := r.read()
		if err != nil {
			// The rest of this file cannot be read; the next file perhaps can.
			r.gap = r.gap || err != io.EOF || f.N == 0
			return nil
		}
		switch {
		case len(line) == 0 && whole || len(line) > 0 && line[len(line)-1] == torn:
			continue
		case !whole || line[0] != '{' || !gjson.ValidBytes(line):
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
func (s *Store) JournalSize(id string) (size int64) {
	if s == nil {
		return 0
	}
	j := Journal{dir: filepath.Join(s.sessions, fileName(id))}
	all, _ := generations(j.dir) // none that can be read: none
	for _, n := range all {
		if info, err := os.Stat(j.path(n)); err == nil {
			size += info.Size()
		}
	}
	return size
}
