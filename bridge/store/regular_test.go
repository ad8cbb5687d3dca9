package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// What is in the place of a state file and is no regular file is skipped: a pipe would hold
// up whoever opens it.
func TestOtherFilesAreSkipped(t *testing.T) {
	s, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"good", "bad"} {
		if err := s.Put(Record{ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(s.sessions, fileName("bad"))
	for _, name := range []string{recordFile, "1.jsonl"} {
		path := filepath.Join(dir, name)
		_ = os.Remove(path)
		makeOther(t, path)
	}
	if _, err := s.Get("bad"); !errors.Is(err, ErrNoSession) {
		t.Errorf("the record: %v", err)
	}
	if records, err := s.List("", "", "", 0); err != nil || len(records) != 1 || records[0].ID != "good" {
		t.Errorf("the list: %v %v", records, err)
	}
	if err := s.ReadJournal("bad", func([]byte) error { return nil }); !errors.Is(err, ErrNoSession) {
		t.Errorf("the journal: %v", err)
	}
	// Purge removes it as well as the others.
	if removed, of, err := s.Purge(0); removed != 2 || of != 2 || err != nil {
		t.Errorf("purge: %d of %d, %v", removed, of, err)
	}
}
