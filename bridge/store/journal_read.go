package store

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/tidwall/gjson"
)

// maxJournalLine is the longest line that is replayed. Some editors end at a longer one
// (coder/acp-go-sdk), and package spell makes none.
const maxJournalLine = 10 << 20

// maxJournalRead is how much of a journal is read: maxJournal and the largest event. A longer
// file was not written by us.
const maxJournalRead = 128 << 20

// ReadJournal calls yield with each line of a session's journal, in order and without
// its newline. Yield must not keep the line; if it returns an error, ReadJournal stops
// and returns it. A nil line means that something is missing: the beginning of a long
// conversation, or damaged lines. A torn line is left out: the agent may tell it again.
//
// Every line that yield gets is a JSON object, also if a file is damaged. If nothing is
// stored of the session, the error is [ErrNoSession].
func (s *Store) ReadJournal(id string, yield func(line []byte) error) error {
	if s == nil {
		return ErrNoSession
	}
	name := fileName(id)
	files, err := openJournal(filepath.Join(s.sessions, name))
	readers := make([]io.Reader, len(files))
	for i, f := range files {
		defer f.Close() // only read
		readers[i] = f
	}
	switch {
	case err != nil:
		return s.explain(err)
	case len(files) == 0:
		_, err := s.readRecord(name)
		return err
	}
	limited := &io.LimitedReader{R: io.MultiReader(readers...), N: maxJournalRead}
	in, gap := bufio.NewReaderSize(limited, 64<<10), false // gap: something is missing before the next line
	for line, first := []byte(nil), true; ; first = false {
		line, err = readLine(in, line[:0])
		switch {
		case err != nil: // text after the last newline is torn
			if gap || err != io.EOF || limited.N == 0 {
				return yield(nil)
			}
			return nil
		case len(line) == 0, line[len(line)-1] == torn, !first && isCut(line): // of the second file
			continue
		case len(line) > maxJournalLine || line[0] != '{' || !gjson.ValidBytes(line) || isCut(line):
			gap = true
			continue
		case gap:
			gap = false
			if err := yield(nil); err != nil {
				return err
			}
		}
		if err := yield(line); err != nil {
			return err
		}
	}
}

func isCut(line []byte) bool { return string(line) == cutLine[:len(cutLine)-1] }

// readLine appends the next line to line, without its newline; of one that is too long its
// beginning, and its last byte.
func readLine(in *bufio.Reader, line []byte) ([]byte, error) {
	for {
		piece, err := in.ReadSlice('\n')
		if n := len(line); n > maxJournalLine {
			line[maxJournalLine] = line[n-1]
			line = line[:maxJournalLine+1]
		}
		line = append(line, piece...)
		if err != bufio.ErrBufferFull {
			return bytes.TrimSuffix(line, []byte{'\n'}), err
		}
	}
}

// openJournal opens the files of a session's journal, the older one first; none if it has none. If a
// bridge renames one meanwhile, that is opened twice, and given once.
func openJournal(dir string) (files []*os.File, err error) {
	var infos []fs.FileInfo
	for _, name := range [...]string{journalFile, olderFile} {
		f, err := openRegular(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return files, err
		}
		files = slices.Insert(files, 0, f)
		info, err := f.Stat()
		if err != nil {
			return files, err
		}
		infos = append(infos, info)
	}
	if len(files) == 2 && os.SameFile(infos[0], infos[1]) {
		files[0].Close()
		files = files[1:]
	}
	return files, nil
}

// JournalSize is how many bytes a session's journal has, whoever has written it; 0 if it has none.
func (s *Store) JournalSize(id string) (size int64) {
	if s == nil {
		return 0
	}
	for _, name := range [...]string{journalFile, olderFile} {
		if info, err := os.Stat(filepath.Join(s.sessions, fileName(id), name)); err == nil {
			size += info.Size()
		}
	}
	return size
}
