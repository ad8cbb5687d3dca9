package trace

import (
	"bytes"
	"errors"
	"io"
	"os"
)

// A file is where a trace is written.
type file interface {
	// full reports whether n more bytes need a new part.
	full(n int) bool
	// next moves the current part away, and begins a new one.
	next() error
	io.Writer
	io.Closer
}

// plainFile is the caller's writer.
type plainFile struct{ io.Writer }

func (plainFile) full(int) bool { return false }
func (plainFile) next() error   { return nil }
func (plainFile) Close() error  { return nil }

// asideName is the name of a full part.
func asideName(path string) string { return path + ".1" }

// A diskFile moves its file away when it is full, over the part before. So a trace
// takes at most twice its limit. Each write is one system call.
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
	// Append mode: if two processes have the same file, their lines mix, and none is
	// overwritten.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() {
		// An existing file would keep its mode.
		err = errors.Join(f.Chmod(0o600), removeAside(path))
	} else {
		max = -1 // a pipe or a device cannot be renamed
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &diskFile{path: path, f: f, max: max}, nil
}

// removeAside removes the part of an earlier run, which does not belong to this trace.
// It removes nothing but traces.
func removeAside(path string) error {
	f, err := os.Open(asideName(path))
	if err != nil {
		return nil // usually it does not exist; other errors show when the name is needed
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
	// Windows cannot rename a file that anybody has open. Then this part goes on, and is
	// tried again at twice its size.
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
