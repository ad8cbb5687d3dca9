package store

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestNoHome: with nothing in the environment there is a store all the same.
func TestNoHome(t *testing.T) {
	for _, name := range []string{"HOME", "XDG_STATE_HOME", "LocalAppData", "USERPROFILE"} {
		t.Setenv(name, "")
	}
	s, err := Open("")
	if err != nil || !filepath.IsAbs(s.dir) {
		t.Errorf("store in %q: %v", s.dir, err)
	}
	if _, err := s.Get("a session that nobody has"); !errors.Is(err, ErrNoSession) {
		t.Error(err)
	}
}

// TestShared: in a directory for all users, what somebody else has put
// there in advance is neither read nor written.
func TestShared(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has a temporary directory for each user")
	}
	trap := t.TempDir()
	for name, prepare := range map[string]func(dir string) error{
		"nothing": func(string) error { return nil },
		"ours":    func(dir string) error { return os.Mkdir(dir, 0o700) },
		"open":    func(dir string) error { return errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o777)) },
		"link":    func(dir string) error { return os.Symlink(trap, dir) },
		"file":    func(dir string) error { return os.WriteFile(dir, nil, 0o600) },
		"other's": func(dir string) error { return errors.Join(os.Mkdir(dir, 0o700), os.Chown(dir, 12345, 12345)) },
	} {
		t.Run(name, func(t *testing.T) {
			if name == "other's" && os.Getuid() != 0 {
				t.Skip("only root can give a directory away")
			}
			s := openStore(t)
			s.dir, s.shared = filepath.Join(t.TempDir(), "a2astdio-1"), true
			s.sessions = filepath.Join(s.dir, "sessions")
			if err := prepare(s.dir); err != nil {
				t.Fatal(err)
			}
			good := name == "nothing" || name == "ours"
			if err := s.Put(Record{ID: "a"}); (err == nil) != good {
				t.Errorf("Put: %v", err)
			}
			j, _ := s.Journal("a")
			defer j.Close()
			if err := j.Write([]byte("{}\n")); (err == nil) != good {
				t.Errorf("Append: %v", err)
			}
			_, err := s.Get("a")
			_, listErr := s.List("", "", "", 0)
			replayErr := s.ReadJournal("a", func([]byte) error { return nil })
			deleteErr := s.Delete("a")
			for what, err := range map[string]error{"Get": err, "List": listErr, "Replay": replayErr, "Delete": deleteErr} {
				if (err == nil) != good {
					t.Errorf("%s: %v", what, err)
				}
			}
		})
	}
	if left, _ := os.ReadDir(trap); len(left) > 0 {
		t.Errorf("written through a link: %v", left)
	}
}

// TestUnwritable: an error says what to do, and the bridge goes on.
func TestUnwritable(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	if os.Getuid() > 0 {
		if err := os.Mkdir(dir, 0o500); err != nil {
			t.Fatal(err)
		}
	} else if err := os.WriteFile(dir, nil, 0o400); err != nil { // root may write everywhere but there
		t.Fatal(err)
	}
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	j, _ := s.Journal("a")
	defer j.Close()
	for what, err := range map[string]error{"Put": s.Put(Record{ID: "a"}), "Append": j.Write([]byte("{}\n"))} {
		if err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "make it writable") {
			t.Errorf("%s: %v", what, err)
		}
	}

	t.Setenv("XDG_STATE_HOME", dir)
	t.Setenv("LocalAppData", dir)
	s, err = Open("")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Put(Record{ID: "a"}); err == nil || !strings.Contains(err.Error(), "or set ") {
		t.Errorf("Put in the user's directory: %v", err)
	}

	var none *Store
	j, err = none.Journal("a")
	_, getErr := none.Get("a")
	list, listErr := none.List("", "", "", 0)
	if err := errors.Join(err, none.Put(Record{ID: "a"}), j.Write([]byte("{}\n")), j.Close(), listErr, none.Delete("a")); err != nil || len(list) > 0 {
		t.Errorf("no store: %v, %v", list, err)
	}
	if !errors.Is(getErr, ErrNoSession) || !errors.Is(none.ReadJournal("a", nil), ErrNoSession) {
		t.Errorf("no store: Get: %v", getErr)
	}
}
