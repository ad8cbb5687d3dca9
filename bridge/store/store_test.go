package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// openStore returns a store in a directory that is not there yet.
func openStore(t testing.TB) *Store {
	t.Helper()
	s := must.Get(Open(filepath.Join(t.TempDir(), "state", "a2astdio")))(t)
	t.Cleanup(s.Wait)
	return s
}

// again returns the store as another process would open it.
func again(t testing.TB, s *Store) *Store {
	t.Helper()
	other := must.Get(Open(s.dir))(t)
	t.Cleanup(other.Wait)
	other.Now, other.limits = s.Now, s.limits
	return other
}

// put waits for the pruning, so that clocks need no lock and lists are settled.
func put(t testing.TB, s *Store, r Record) {
	t.Helper()
	must.Do(t, s.Put(r))
	s.Wait()
}

func ids(t testing.TB, s *Store, agent, cwd string) string {
	t.Helper()
	all := must.Get(s.List(agent, cwd))(t)
	var ids []string
	for _, r := range all {
		ids = append(ids, r.ID)
	}
	return strings.Join(ids, " ")
}

func TestStore(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600))
	s := openStore(t)
	s.Now = func() time.Time { return now }
	if got := ids(t, s, "", ""); got != "" || s.Delete("a") != nil {
		t.Errorf("List before Put: %s", got)
	}
	if _, err := os.Stat(s.dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("looking has made the directory: %v", err)
	}
	want := Record{ID: "a", Agent: "http://one", ContextID: "c", TaskID: "t", Cwd: "/w/x",
		Title: "Fix <the> tests…", Previous: []string{"t0"}}
	put(t, s, want)
	want.UpdatedAt = now.UTC()
	if got, err := again(t, s).Get("a"); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Get: %+v, %v\nwant %+v", got, err, want)
	}
	for _, r := range []Record{{ID: "b", Agent: "http://two", Cwd: "/w/x/"}, {ID: "c", Agent: "http://one", Cwd: "/w"}, {ID: "a", Agent: "http://one", Cwd: "/w/x"}} {
		now = now.Add(time.Minute)
		put(t, s, r)
	}
	for _, row := range []struct{ agent, cwd, want string }{
		{"", "", "a c b"},
		{"http://one", "", "a c"},
		{"", "/w/x", "a b"},
		{"http://two", "/w/x", "b"},
		{"http://two", "/w", ""},
	} {
		must.Equal(t, ids(t, s, row.agent, row.cwd), row.want, "list of", row.agent, row.cwd)
	}
	for name, r := range map[string]Record{"long": {ID: "x", TaskID: strings.Repeat("t", maxRecord)}, "long in ID": {ID: strings.Repeat("x", maxRecord)}} {
		if err := s.Put(r); err == nil {
			t.Errorf("%s: stored", name)
		}
	}
	for i := range 300 { // the file of a session's records does not grow for ever
		put(t, s, Record{ID: "many", Title: fmt.Sprint(i, strings.Repeat(" title", 30))})
	}
	info, err := os.Stat(filepath.Join(s.sessions, fileName("many"), recordFile))
	if r, getErr := s.Get("many"); err != nil || getErr != nil || info.Size() > maxRecords+1000 || !strings.HasPrefix(r.Title, "299 ") {
		t.Errorf("after 300: %+v, %v", r, err)
	}
}

// TestDamage: a record that was cut anywhere loses its own session only.
func TestDamage(t *testing.T) {
	s := openStore(t)
	put(t, s, Record{ID: "good"})
	put(t, s, Record{ID: "bad", Title: "a title"})
	path := filepath.Join(s.sessions, fileName("bad"), recordFile)
	whole := must.Get(os.ReadFile(path))(t)
	other := must.Get(os.ReadFile(filepath.Join(s.sessions, fileName("good"), recordFile)))(t)
	damaged := [][]byte{other, []byte("null"), []byte(`{"id":"bad","title":1}`), append(whole[:len(whole):len(whole)], '}'), make([]byte, len(whole))}
	for n := range whole {
		damaged = append(damaged, whole[:n])
	}
	for _, data := range damaged {
		must.Do(t, os.WriteFile(path, data, 0o600))
		if r, err := s.Get("bad"); !errors.Is(err, ErrNoSession) {
			t.Fatalf("Get of %q: %+v, %v", data, r, err)
		}
		if got := ids(t, s, "", ""); got != "good" {
			t.Fatalf("List with %q: %s", data, got)
		}
	}
	must.Do(t, os.WriteFile(path, append(make([]byte, maxRecordFile), append([]byte{'\n'}, whole...)...), 0o600))
	if r, err := s.Get("bad"); err != nil || r.Title != "a title" {
		t.Errorf("behind what is too much to be read: %+v, %v", r, err)
	}
	put(t, s, Record{ID: "bad"})
	if got := len(strings.Fields(ids(t, s, "", ""))); got != 2 { // behind what is damaged
		t.Errorf("%d sessions after Put, want 2", got)
	}
}

// use sets when a session was used last.
func use(t *testing.T, s *Store, id string, at time.Time) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(s.sessions, fileName(id), "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("session %s has no files: %v", id, err)
	}
	for _, f := range files {
		must.Do(t, os.Chtimes(f, at, at))
	}
}

// TestPrune: what was used longest ago goes, and what is in use stays.
func TestPrune(t *testing.T) {
	const open = "s0" // the oldest
	for _, row := range []struct {
		name   string
		limits storeLimits
		want   string
	}{
		{"none", storeLimits{10, 30 * time.Hour, 1 << 20, 1 << 20}, "new s5 s4 s3 s2 s1 s0"},
		{"count", storeLimits{4, 30 * time.Hour, 1 << 20, 1 << 20}, "new s5 s4 s0"},
		{"age", storeLimits{10, 3*time.Hour + time.Minute, 1 << 20, 1 << 20}, "new s5 s4 s3 s0"},
		{"size", storeLimits{10, 30 * time.Hour, 1 << 20, 4 << 10}, "new s5 s4 s0"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := openStore(t)
			now := time.Now()
			for i := range 6 {
				id := fmt.Sprint("s", i)
				s.Now = func() time.Time { return now.Add(time.Duration(i-6) * time.Hour) }
				put(t, s, Record{ID: id})
				appendLines(t, s, id, `{"text":"`+strings.Repeat("x", 1000)+`"}`)
				use(t, s, id, s.Now())
			}
			stale := filepath.Join(s.sessions, fileName("s5"), tempPrefix+"1")
			must.Do(t, os.WriteFile(stale, nil, 0o600))
			use(t, s, "s5", now.Add(-2*maxTempAge))
			foreign := filepath.Join(s.sessions, "notes.txt")
			must.Do(t, os.WriteFile(foreign, nil, 0o600))

			s = again(t, s)
			s.Now, s.limits = func() time.Time { return now }, row.limits
			j := s.Journal(open)
			defer j.Close()
			put(t, s, Record{ID: "new"})
			use(t, s, "new", now)
			must.Equal(t, ids(t, s, "", ""), row.want, "left")
			if _, err := os.Stat(stale); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("an old temporary file is still there: %v", err)
			}
			if _, err := os.Stat(foreign); err != nil {
				t.Errorf("a file that is not ours: %v", err)
			}
		})
	}
}

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
	must.Do(t, err)
	j := s.Journal("a")
	defer j.Close()
	for what, err := range map[string]error{"Put": s.Put(Record{ID: "a"}), "Append": j.Write([]byte("{}\n"))} {
		if err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "make it writable") {
			t.Errorf("%s: %v", what, err)
		}
	}

	t.Setenv("XDG_STATE_HOME", dir)
	t.Setenv("LocalAppData", dir)
	s = must.Get(Open(""))(t)
	must.Fail(t, s.Put(Record{ID: "a"}), "or set ")

	var none *Store
	j = none.Journal("a")
	_, getErr := none.Get("a")
	list, listErr := none.List("", "")
	if err := errors.Join(none.Put(Record{ID: "a"}), j.Write([]byte("{}\n")), j.Close(), listErr, none.Delete("a")); err != nil || len(list) > 0 {
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
