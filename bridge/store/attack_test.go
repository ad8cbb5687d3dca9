//go:build unix

package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// attacks put something else at the place of a file or directory of ours.
func attacks() map[string]func(path string) error {
	clear := func(path string) error {
		return errors.Join(os.RemoveAll(path), os.MkdirAll(filepath.Dir(path), 0o700))
	}
	return map[string]func(path string) error{
		"pipe":      func(path string) error { return errors.Join(clear(path), syscall.Mkfifo(path, 0o600)) },
		"directory": func(path string) error { return errors.Join(clear(path), os.MkdirAll(filepath.Join(path, "x"), 0o700)) },
		"link to a pipe": func(path string) error {
			return errors.Join(clear(path), syscall.Mkfifo(path+".pipe", 0o600), os.Symlink(path+".pipe", path))
		},
		"link to nothing": func(path string) error { return errors.Join(clear(path), os.Symlink(path+".nothing", path)) },
		"link to itself":  func(path string) error { return errors.Join(clear(path), os.Symlink(path, path)) },
		"huge file": func(path string) error {
			return errors.Join(clear(path), os.WriteFile(path, []byte("{}\n"), 0o600), os.Truncate(path, 1<<40))
		},
		"unreadable": func(path string) error { return errors.Join(clear(path), os.WriteFile(path, []byte("x"), 0)) },
	}
}

// TestAttacks: whatever is where a file or directory should be, nothing waits for it or
// reads it to its end; each use works or says what to do, and the other sessions are
// there. Where it can, a purge removes it.
func TestAttacks(t *testing.T) {
	name := fileName("bad")
	for place, path := range map[string]func(*Store) string{
		"record":       func(s *Store) string { return filepath.Join(s.sessions, name, recordFile) },
		"session":      func(s *Store) string { return filepath.Join(s.sessions, name) },
		"journal":      func(s *Store) string { return filepath.Join(s.sessions, name, journalFile) },
		"older":        func(s *Store) string { return filepath.Join(s.sessions, name, olderFile) },
		"card":         func(s *Store) string { return s.cardFile("agent") },
		"conversation": func(s *Store) string { return filepath.Join(s.shell.sessions, fileName(conversationID("agent", "/w"))) },
		"sessions":     func(s *Store) string { return s.sessions },
		"all":          func(s *Store) string { return s.dir },
	} {
		for attack, make := range attacks() {
			t.Run(place+"/"+attack, func(t *testing.T) {
				s := openStore(t)
				put(t, s, Record{ID: "good", Title: "hello"})
				put(t, s, Record{ID: "bad"})
				appendLines(t, s, "bad", `{"n":1}`)
				must.Do(t, make(path(s)))
				timer := time.AfterFunc(time.Minute, func() { panic("it waits for " + path(s)) })
				defer timer.Stop()
				s = again(t, s)
				use := map[string]func() error{
					"Get":  func() error { _, err := s.Get("bad"); return err },
					"Put":  func() error { return s.Put(Record{ID: "bad"}) },
					"new":  func() error { return s.Put(Record{ID: "new"}) },
					"Read": func() error { return s.ReadJournal("bad", func([]byte) error { return nil }) },
					"Append": func() error {
						j := s.Journal("bad")
						defer j.Close()
						return j.Write([]byte("{}\n"))
					},
					"card":         func() error { s.CardFacts("agent"); return s.PutCardFacts("agent", &CardFacts{Name: "a"}) },
					"Conversation": func() error { _, err := s.Conversation("agent", "/w"); return err },
					"PutConversation": func() error {
						return s.PutConversation(Record{Agent: "agent", Cwd: "/w"})
					},
					"List": func() error {
						list, err := s.List("", "")
						if err == nil && place != "sessions" && place != "all" && !strings.Contains(fmt.Sprint(list), "hello") {
							t.Errorf("the other session is not listed: %+v", list)
						}
						return err
					},
				}
				for what, do := range use {
					err := do()
					s.Wait()
					if err == nil || errors.Is(err, ErrNoSession) {
						continue
					}
					t.Logf("%s: %v", what, err)
					if text := err.Error(); !strings.Contains(text, s.dir) || what != "card" && !strings.Contains(text, "remove that") && !strings.Contains(text, "make it writable") {
						t.Errorf("%s: %v", what, err)
					}
				}
				err := s.Delete("bad")
				_, _, purged := s.Purge(0)
				if place != "sessions" && place != "all" {
					if err != nil || purged != nil {
						t.Errorf("Delete: %v, Purge: %v", err, purged)
					}
					if left, err := s.List("", ""); err != nil || len(left) > 0 {
						t.Errorf("left: %+v, %v", left, err)
					}
				}
			})
		}
	}
}
