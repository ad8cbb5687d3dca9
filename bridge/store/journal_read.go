package store

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

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
	f, err := openRegular(filepath.Join(s.sessions, name, journalFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		_, err := s.readRecord(name)
		return err
	case err != nil:
		return s.explain(err)
	}
	defer f.Close() // only read
	limited := &io.LimitedReader{R: f, N: maxJournalRead}
	in, gap := bufio.NewReaderSize(limited, 64<<10), false // gap: something is missing before the next line
	for line := []byte(nil); ; {
		line, err = readLine(in, line[:0])
		switch {
		case err != nil: // text after the last newline is torn
			if gap || err != io.EOF || limited.N == 0 {
				return yield(nil)
			}
			return nil
		case len(line) == 0, line[len(line)-1] == torn:
			continue
		case len(line) > maxJournalLine || line[0] != '{' || !gjson.ValidBytes(line) || string(line) == cutLine[:len(cutLine)-1]:
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
