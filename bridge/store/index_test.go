package store

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestIndex: the list is as the records tell, page by page, whatever has become of
// the index: lost, torn, with lines for what is not there any more. Pruning adds what is
// missing in it.
func TestIndex(t *testing.T) {
	s := openStore(t)
	now := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	s.Now = func() time.Time { now = now.Add(time.Second); return now }
	for i := range 30 {
		put(t, s, Record{ID: fmt.Sprint(i), Agent: fmt.Sprint("agent ", i%2), Cwd: fmt.Sprint("/w/", i%3)})
	}
	put(t, s, Record{ID: "4", Agent: "agent 0", Cwd: "/w/2"}) // used again, elsewhere
	whole, err := os.ReadFile(s.index())
	if err != nil {
		t.Fatal(err)
	}
	want := ids(t, s, "", "")
	if got := ids(t, s, "agent 0", "/w/2"); got != "4 26 20 14 8 2" {
		t.Errorf("of an agent, in a directory: %s", got)
	}
	for name, index := range map[string][]byte{
		"whole": whole, "none": nil, "torn": whole[:len(whole)-20],
		"torn and gone on with": append(whole[:len(whole)-indexLine-20:len(whole)-indexLine-20], whole[len(whole)-indexLine:]...),
		"binary":                make([]byte, 5000), "half": whole[:indexLine*12], "later half": whole[indexLine*12:],
		"strangers": append(slices.Clone(whole), strings.Repeat("\n"+strings.Repeat("a", fileNameLen)+string(whole[1+fileNameLen:indexLine]), 3)...),
	} {
		if err := os.WriteFile(s.index(), index, 0o600); err != nil {
			t.Fatal(err)
		}
		if name == "none" {
			if err := os.Remove(s.index()); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			s := again(t, s)
			s.prune(t.Context(), "")
			var got []string
			for after := ""; ; after = got[len(got)-1] {
				page, err := s.List("", "", after, 7)
				if err != nil || len(page) > 7 {
					t.Fatal(name, len(page), err)
				}
				if len(page) == 0 {
					break
				}
				for _, r := range page {
					got = append(got, r.ID)
				}
			}
			// Where a session's newest line is gone and an older one is not, it is listed where it was.
			older := name == "torn" || name == "half"
			if !older && strings.Join(got, " ") != want || len(got) != 30 {
				t.Errorf("%s: %s\nwant %s", name, got, want)
			}
		}
	}
	if got, err := s.List("", "", "unknown", 7); err != nil || len(got) > 0 {
		t.Errorf("behind a session that is not there: %v, %v", got, err)
	}
}

// TestIndexShrinks: what the index has too much goes when sessions are pruned.
func TestIndexShrinks(t *testing.T) {
	s := openStore(t)
	for i := range 400 {
		put(t, s, Record{ID: fmt.Sprint(i % 20)})
	}
	before := ids(t, s, "", "")
	s.prune(t.Context(), "")
	info, err := os.Stat(s.index())
	if err != nil || info.Size() != int64(len(indexWhole)+20*indexLine) {
		t.Errorf("%v, %v", info.Size(), err)
	}
	if got := ids(t, s, "", ""); got != before {
		t.Errorf("the list: %s, before %s", got, before)
	}
}

// BenchmarkStored is what a page of session/list and the first session cost, by how
// many are stored.
func BenchmarkStored(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		s := openStore(b)
		s.limits.sessions = n + 1000
		for i := range n {
			put(b, s, Record{ID: fmt.Sprint(i), Agent: "http://127.0.0.1:41242/", Cwd: "/home/dev/project", Title: "Fix the tests"})
		}
		b.Run(fmt.Sprint("list/", n), func(b *testing.B) {
			for b.Loop() {
				if page, err := s.List("http://127.0.0.1:41242/", "", "", 101); err != nil || len(page) < 100 {
					b.Fatal(len(page), err)
				}
			}
		})
		b.Run(fmt.Sprint("put/", n), func(b *testing.B) {
			for b.Loop() {
				put(b, s, Record{ID: "1", Agent: "http://127.0.0.1:41242/"})
			}
		})
	}
}

// TestPutMakesNoFile: a record that is put again goes into the file that is there. It is
// what a turn waits for before it shows the agent's first words.
func TestPutMakesNoFile(t *testing.T) {
	s := openStore(t)
	put(t, s, Record{ID: "a"})
	look := func() (names []string, info fs.FileInfo) {
		t.Helper()
		dir := filepath.Join(s.sessions, fileName("a"))
		entries, err := os.ReadDir(dir)
		if err == nil {
			info, err = os.Stat(filepath.Join(dir, recordFile))
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names, info
	}
	names, before := look()
	for range 10 {
		put(t, s, Record{ID: "a", TaskID: "t"})
		if now, info := look(); !slices.Equal(now, names) || !os.SameFile(info, before) {
			t.Fatalf("there is %v, in another file: %t", now, !os.SameFile(info, before))
		}
	}
}
