package trace

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// A File reads records of a trace at given positions. It may be used from several
// goroutines, also while the trace is still being read.
type File struct{ f *os.File }

// File returns a File for the positions that the Reader reports, and which is to be closed
// in place of the Reader.
func (r *Reader) File() *File {
	r.kept = true
	return &File{r.file}
}

// Read reads the record at a position, and its line.
func (f *File) Read(at Position) (*Record, []byte, error) {
	if at.Length < 0 || at.Length > maxLine {
		return nil, nil, errChanged
	}
	line := make([]byte, at.Length)
	if _, err := f.f.ReadAt(line, at.Offset); err != nil && err != io.EOF {
		return nil, nil, fmt.Errorf("trace: %w", err)
	}
	r := new(Record)
	if r.Decode(line) != nil {
		return nil, nil, errChanged
	}
	return r, line, nil
}

var errChanged = errors.New("trace: the file has changed")

// Close closes the file.
func (f *File) Close() error { return f.f.Close() }

// Mask masks what its name or shape shows to be a credential, as a recorder does that
// has no credentials of its own. Its result can be compared with a recorded payload.
func Mask(b []byte) []byte {
	e := newEncoder(&Options{})
	p := wholePayload(b)
	l := e.look(p)
	if l.valid && !l.suspect {
		return b
	}
	return append([]byte(nil), e.thorough(p, l.valid)...)
}
