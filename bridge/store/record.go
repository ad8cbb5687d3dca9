package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/a2astdio/a2astdio/internal/safe"
)

const (
	recordFile = "record.json"
	// maxRecord is how long a record may be as JSON. What makes it long is an
	// agent's IDs; a legitimate one has some hundred bytes.
	maxRecord = 64 << 10
	// maxRecords is the size at which the file of a session's records is replaced by one
	// with the newest record only: some forty records, so that this is rare, but still
	// read by one call.
	maxRecords = 16 << 10
	// maxRecordFile is how much of such a file's end is read: more than several bridges append
	// at once.
	maxRecordFile = 4 * maxRecord
)

// A Record is what is stored of a session, beside its journal. Its strings are UTF-8.
type Record struct {
	ID        string `json:"id"`
	Agent     string `json:"agent,omitempty"`
	ContextID string `json:"contextId,omitempty"`
	TaskID    string `json:"taskId,omitempty"`
	Cwd       string `json:"cwd,omitempty"`
	Title     string `json:"title,omitempty"`
	// Previous are tasks of the context that have ended.
	Previous []string `json:"previous,omitempty"`
	// Webhook is the name of the address that the agent pushes to: see bridge.Webhooks.
	Webhook   string    `json:"webhook,omitempty"`
	UpdatedAt time.Time `json:"updatedAt"` // set by [Store.Put]
}

// appendRecord appends a record to the session's file: the last one counts. isNew: that is
// the first. A turn waits for it: appending takes three system calls of some microseconds,
// and replacing the file 200 (measured on ext4). A record begins with a newline, so that a
// torn one before it does no harm. fs.ErrNotExist: another bridge has deleted or replaced the
// file meanwhile.
func (s *Store) appendRecord(name string, line []byte) (isNew bool, err error) {
	dir := filepath.Join(s.sessions, name)
	path := filepath.Join(dir, recordFile)
	f, err := appendRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		if isNew, err = s.makeDir(dir); err == nil {
			f, err = appendRegular(path)
		}
	}
	if err != nil {
		return isNew, err
	}
	defer f.Close() // the write returns its error
	info, err := f.Stat()
	if err != nil {
		return isNew, err
	}
	if _, err := f.Write(append([]byte{'\n'}, line...)); err != nil {
		return isNew, err
	}
	if now, err := os.Stat(path); err != nil || !os.SameFile(now, info) {
		return isNew, fs.ErrNotExist
	}
	if info.Size() > maxRecords {
		_ = f.Close()                // Windows replaces no file that is open
		_ = safe.Replace(path, line) // if that fails, the file grows
	}
	return isNew, nil
}

// readRecord reads the newest record in a session's directory; [ErrNoSession]: there is none, or
// all are damaged.
func (s *Store) readRecord(name string) (r Record, err error) {
	path := filepath.Join(s.sessions, name, recordFile)
	f, err := openRegular(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotRegular) {
		return r, ErrNoSession
	}
	if err != nil {
		return r, s.explain(err)
	}
	defer f.Close()
	_, _ = f.Seek(-maxRecordFile, io.SeekEnd) // a shorter file stays at its beginning
	rest, err := io.ReadAll(io.LimitReader(f, maxRecordFile))
	if err == nil && len(rest) == 0 {
		return r, ErrNoSession // it is just being made
	}
	for err == nil && len(rest) > 0 {
		at := bytes.LastIndexByte(rest, '\n')
		r = Record{}
		if json.Unmarshal(rest[at+1:], &r) == nil && fileName(r.ID) == name {
			return r, nil
		}
		rest = rest[:max(at, 0)]
	}
	return Record{}, fmt.Errorf("%w: its record is damaged: %s", ErrNoSession, path)
}

// remove removes a session's directory. The record goes first, so that a session that is
// removed in part is unknown.
func remove(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil && !info.IsDir(): // somebody else has put it there
		return os.Remove(dir)
	}
	err = os.RemoveAll(filepath.Join(dir, recordFile))
	if err != nil {
		return err
	}
	for range storeTries { // another bridge may be writing into it
		if err = os.RemoveAll(dir); err == nil {
			break
		}
	}
	return err
}
