package store

import (
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// fileNameLen is the length of a SHA-256 in base32.
const fileNameLen = 52

// fileName turns an ID, which may be anything, into a name that every file system
// takes. It is lower case, because some do not distinguish case.
func fileName(id string) string {
	sum := sha256.Sum256([]byte(id))
	return base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding).EncodeToString(sum[:])
}

// explain says what to do about a store that cannot be used.
func (s *Store) explain(err error) error {
	advice := s.advice
	if errors.Is(err, errNotRegular) || errors.Is(err, errNoDirectory) {
		advice = "remove that"
	}
	return fmt.Errorf("bridge: sessions cannot be kept in %s: %w: %s (until then they end with this process)", s.dir, err, advice)
}

var errNoDirectory = errors.New("no directory")

// makeDir makes a session's directory, and those above it, and reports whether it was not there.
func (s *Store) makeDir(dir string) (isNew bool, err error) {
	err = os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(s.sessions, 0o700); err == nil {
			err = os.Mkdir(dir, 0o700)
		}
	}
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, err
}

// sessionNames lists the directories of sessions. Other files are not ours, and have other
// names.
func (s *Store) sessionNames() (names []string, err error) {
	info, err := os.Stat(s.sessions)
	var entries []fs.DirEntry
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err == nil && !info.IsDir(): // opening a pipe would block
		err = fmt.Errorf("%s: %w", s.sessions, errNoDirectory)
	case err == nil:
		entries, err = os.ReadDir(s.sessions)
	}
	if err != nil {
		return nil, s.explain(err)
	}
	for _, e := range entries {
		if len(e.Name()) == fileNameLen {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

var errNotRegular = errors.New("no regular file")

// openRegular opens a regular file to read it. Other files are not ours, and opening a
// pipe would block. To a regular file O_NONBLOCK means nothing; without it package os sets it, and takes it
// back: four system calls of ten microseconds, of which a turn waits for some.
func openRegular(path string) (*os.File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w", path, errNotRegular)
	}
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// readRegular reads a regular file. One that is longer than limit is an error.
func readRegular(path string, limit int) ([]byte, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err == nil && len(data) > limit {
		return nil, fmt.Errorf("%s is longer than %d bytes", path, limit)
	}
	return data, err
}

// appendRegular opens a regular file to append to it, and makes it if it is not there.
func appendRegular(path string) (*os.File, error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w", path, errNotRegular)
	}
	return os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|syscall.O_NONBLOCK, 0o600)
}
