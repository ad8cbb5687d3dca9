package trace

import (
	"bytes"
	"errors"
	"io"
	"os"
)

// A file is where a trace goes.
type file interface {
	// full reports whether a part is to be begun before n more bytes.
	full(n int) bool
	// next puts what was written aside, and begins anew.
	next() error
	io.Writer
	io.Closer
}

// plainFile is a writer that is somebody else's.
type plainFile struct{ io.Writer }

func (plainFile) full(int) bool { return false }
func (plainFile) next() error   { return nil }
func (plainFile) Close() error  { return nil }

// asideName is what a part that is full is called.
func asideName(path string) string { return path + ".1" }

// A diskFile is put aside when it is full, in the place of the part before it, so
// that a trace takes twice its limit at most. Each write is one system call.
type diskFile struct {
	path string
	f    *os.File
	size int64
	max  int64
}

func createFile(path string, max int64) (file, error) {
	if max == 0 {
		max = DefaultMaxFile
	}
	// Appending, so that two processes that were given the same name mix their
	// lines and do not overwrite each other's.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() {
		// An old file keeps its mode otherwise.
		err = errors.Join(f.Chmod(0o600), removeAside(path))
	} else {
		max = -1 // a pipe, or a device, cannot be put aside
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &diskFile{path: path, f: f, max: max}, nil
}

// removeAside removes the part that an older run has put aside, which does not
// belong to what is written now. What is no trace is left alone.
func removeAside(path string) error {
	f, err := os.Open(asideName(path))
	if err != nil {
		return nil // there is none, mostly; what else it may be is seen when it is needed
	}
	defer f.Close()
	head := make([]byte, 256)
	n, _ := io.ReadFull(f, head)
	if !bytes.Contains(head[:n], []byte(`"wire":"bridge","kind":"start"`)) {
		return nil
	}
	return os.Remove(asideName(path))
}

func (d *diskFile) full(n int) bool { return d.max > 0 && d.size > 0 && d.size+int64(n) > d.max }

func (d *diskFile) Write(b []byte) (int, error) {
	n, err := d.f.Write(b)
	d.size += int64(n)
	return n, err
}

func (d *diskFile) next() error {
	// Windows renames nothing that is open, by us or by anybody: then this part goes
	// on, and it is tried again when it is twice as large.
	err := d.f.Close()
	if err != nil {
		return err
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	if os.Rename(d.path, asideName(d.path)) == nil {
		flags |= os.O_TRUNC
		d.size = 0
	} else {
		d.max *= 2
	}
	d.f, err = os.OpenFile(d.path, flags, 0o600)
	return err
}

func (d *diskFile) Close() error { return d.f.Close() }
