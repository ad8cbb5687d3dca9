package trace

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// A File reads records of a trace at given positions. It may be used from several
// goroutines, also while the trace is still being read.
type File struct {
	mu    sync.Mutex
	parts []*os.File
	kept  bool // the Reader must not close them
}

// File returns a File for the positions that the Reader reports. Call it before the
// first Next, and close it after the Reader.
func (r *Reader) File() *File {
	r.files.kept = true
	return r.files
}

// add adds the newest part.
func (f *File) add(part *os.File) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.parts = append(f.parts, part)
}

// Read reads the record at a position, and its line.
func (f *File) Read(at Position) (*Record, []byte, error) {
	f.mu.Lock()
	var part *os.File
	if at.Part >= 0 && at.Part < len(f.parts) {
		part = f.parts[at.Part]
	}
	f.mu.Unlock()
	if part == nil || at.Length < 0 || at.Length > maxLine {
		return nil, nil, errChanged
	}
	line := make([]byte, at.Length)
	if _, err := part.ReadAt(line, at.Offset); err != nil && err != io.EOF {
		return nil, nil, fmt.Errorf("trace: %w", err)
	}
	r := new(Record)
	if r.Decode(line) != nil {
		return nil, nil, errChanged
	}
	return r, line, nil
}

var errChanged = errors.New("trace: the file has changed")

// Close closes the files.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	for _, part := range f.parts {
		errs = append(errs, part.Close())
	}
	f.parts = nil
	return errors.Join(errs...)
}

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
