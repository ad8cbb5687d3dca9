package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// TestNoHome: with nothing in the environment the user's home is the system's, or there is no store.
func TestNoHome(t *testing.T) {
	for _, name := range []string{"HOME", "XDG_STATE_HOME", "LocalAppData", "USERPROFILE"} {
		t.Setenv(name, "")
	}
	if s, err := Open(""); err == nil && !filepath.IsAbs(s.dir) || err != nil && !strings.Contains(err.Error(), "no home directory") {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestUnwritable: an error says what to do, and the bridge goes on.
func TestUnwritable(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	if os.Getuid() > 0 {
		must.Do(t, os.Mkdir(dir, 0o500))
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
	s = must.Get(Open(""))(t)
	if err := s.Put(Record{ID: "a"}); err == nil || !strings.Contains(err.Error(), "or set ") {
		t.Errorf("Put in the user's directory: %v", err)
	}

	var none *Store
	j, err = none.Journal("a")
	_, getErr := none.Get("a")
	list, listErr := none.List("", "")
	if err := errors.Join(err, none.Put(Record{ID: "a"}), j.Write([]byte("{}\n")), j.Close(), listErr, none.Delete("a")); err != nil || len(list) > 0 {
		t.Errorf("no store: %v, %v", list, err)
	}
	if !errors.Is(getErr, ErrNoSession) || !errors.Is(none.ReadJournal("a", nil), ErrNoSession) {
		t.Errorf("no store: Get: %v", getErr)
	}
}

// TestCardFacts: what initialize needs of a card is kept from process to
// process; a damaged file is as good as none.
func TestCardFacts(t *testing.T) {
	s := openStore(t)
	const agent = "http://agent.example/../x"
	want := CardFacts{Name: "é", Image: true}
	must.Do(t, s.PutCardFacts(agent, &want))
	if got := again(t, s).CardFacts(agent); got == nil || *got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	must.Do(t, os.WriteFile(s.cardFile(agent), []byte("{torn"), 0o600))
	var none *Store
	if s.CardFacts(agent) != nil || s.CardFacts("http://other.example/") != nil || none.CardFacts(agent) != nil || none.PutCardFacts(agent, &want) != nil {
		t.Error("there are facts of a damaged file, of another agent, or of no store")
	}
}
