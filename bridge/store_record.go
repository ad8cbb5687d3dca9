package bridge

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

const (
	recordFile = "record.json"
	tempSuffix = ".tmp"
	// maxRecord is how long a record may be as JSON. What makes it long is an
	// agent's IDs; a legitimate one has some hundred bytes.
	maxRecord = 64 << 10
)

// A Record is what is kept of a session, beside its journal. Its strings are
// text, in UTF-8.
type Record struct {
	ID        string `json:"id"`
	Agent     string `json:"agent,omitempty"`
	ContextID string `json:"contextId,omitempty"`
	TaskID    string `json:"taskId,omitempty"`
	Cwd       string `json:"cwd,omitempty"`
	Mode      string `json:"mode,omitempty"`
	Title     string `json:"title,omitempty"`
	// Previous are tasks of the context that have ended.
	Previous []string `json:"previous,omitempty"`
	// CreatedAt, if it is zero, is set by [Store.Put] to when the session was
	// first put. UpdatedAt is always set by it.
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
}

// write replaces a record. It reports fs.ErrNotExist if the session is deleted
// meanwhile.
func (s *Store) write(name string, data []byte) (isNew bool, err error) {
	dir := filepath.Join(s.sessions, name)
	if isNew, err = s.makeDir(dir); err != nil {
		return false, err
	}
	f, err := os.CreateTemp(dir, "*"+tempSuffix)
	if err != nil {
		return false, err
	}
	_, err = f.Write(data)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, recordFile))
	}
	if err != nil {
		_ = os.Remove(f.Name()) // prune finds it otherwise
	}
	return isNew, err
}

// read reads the record in a session's directory.
func (s *Store) read(name string) (r Record, err error) {
	path := filepath.Join(s.sessions, name, recordFile)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, ErrNoSession
	}
	if err != nil {
		return r, s.explain(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxRecord+1))
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil || len(data) > maxRecord || fileName(r.ID) != name {
		return Record{}, fmt.Errorf("%w: its record is damaged: %s", ErrNoSession, path)
	}
	return r, nil
}

// remove removes a session's directory. The record goes first: a session that is
// half removed is an unknown one.
func remove(dir string) error {
	err := os.Remove(filepath.Join(dir, recordFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for range storeTries { // another bridge may be writing into it
		if err = os.RemoveAll(dir); err == nil {
			break
		}
	}
	return err
}
