package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

const (
	recordFile = "record.json"
	// maxRecord is how long a record may be as JSON. What makes it long is an
	// agent's IDs; a legitimate one has some hundred bytes.
	maxRecord = 64 << 10
	// maxRecordFile is how much of its file is read.
	maxRecordFile = 4 * maxRecord
)

// A Record is what is stored of a session, beside its journal. Its strings are UTF-8.
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
	// Webhook is the name of the address that the agent pushes to: see bridge.Webhooks.
	Webhook string `json:"webhook,omitempty"`
	// UpdatedAt is set by [Store.Put].
	UpdatedAt time.Time `json:"updatedAt"`
}

// read reads the record in a session's directory.
func (s *Store) read(name string) (Record, error) {
	path := filepath.Join(s.sessions, name, recordFile)
	data, err := readRegular(path, maxRecordFile)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotRegular):
		return Record{}, ErrNoSession
	case errors.Is(err, errTooLong):
		return Record{}, fmt.Errorf("%w: its record is damaged: %s", ErrNoSession, path)
	case err != nil:
		return Record{}, s.explain(err)
	}
	var r Record
	newest := data[bytes.LastIndexByte(data, '\n')+1:] // up to version 0.9 each Put appended a line
	if json.Unmarshal(newest, &r) != nil || fileName(r.ID) != name {
		return Record{}, fmt.Errorf("%w: its record is damaged: %s", ErrNoSession, path)
	}
	return r, nil
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
