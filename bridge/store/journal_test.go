package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// missing is how the tests write the nil line of Replay.
const missing = "…"

func appendLines(t testing.TB, s *Store, id string, lines ...string) {
	t.Helper()
	j := s.Journal(id)
	defer j.Close()
	must.Do(t, j.Write([]byte(strings.Join(lines, "\n")+"\n")))
	s.Wait()
}

func replayed(t testing.TB, s *Store, id string) []string {
	t.Helper()
	var lines []string
	err := s.ReadJournal(id, func(line []byte) error {
		if line == nil {
			lines = append(lines, missing)
		} else {
			lines = append(lines, string(line))
		}
		return nil
	})
	must.Do(t, err)
	return lines
}

// replays demands the lines of a journal.
func replays(t testing.TB, what string, s *Store, id string, want ...string) {
	t.Helper()
	if got := replayed(t, s, id); !slices.Equal(got, want) {
		t.Fatalf("%s: replayed %.200q, want %.200q", what, got, want)
	}
}

func pathOf(s *Store, id string) string {
	return filepath.Join(s.sessions, fileName(id), journalFile)
}

// write appends what no Journal would.
func write(t testing.TB, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
	}
	must.Do(t, errors.Join(err, f.Close()))
}

// TestJournalTornBeside: the other bridge is killed in the middle of a line,
// while this one has the journal open.
func TestJournalTornBeside(t *testing.T) {
	now := time.Now()
	s := openStore(t)
	s.Now = func() time.Time { return now }
	j := s.Journal("a")
	defer j.Close()
	say := func(line string) {
		must.Do(t, j.Write([]byte(line+"\n")))
		s.Wait()
	}
	say(`{"n":1}`)
	write(t, pathOf(s, "a"), `{"other":`)
	now = now.Add(checkInterval)
	say(`{"n":2}`)
	write(t, pathOf(s, "a"), `{"other":`)
	say(`{"n":3}`) // before it looks: lost, and that is told
	say(`{"n":4}`)
	replays(t, "torn", s, "a", `{"n":1}`, `{"n":2}`, missing, `{"n":4}`)
}

// TestJournalDamage: what is not a whole JSON object is not given, and is told
// of once.
func TestJournalDamage(t *testing.T) {
	s := openStore(t)
	long := `{"text":"` + strings.Repeat("x", maxJournalLine) + `"}`
	fits := long[:9] + long[len(long)-maxJournalLine+9:]
	for name, row := range map[string]struct {
		text string
		want []string
	}{
		"empty lines":  {"\n\n{}\n\n", []string{"{}"}},
		"not objects":  {"{}\n[]\n1\n\"x\"\n{} {}\n{}\n", []string{"{}", missing, "{}"}},
		"zeros":        {"{}\n" + string(make([]byte, 100)) + "\n{}\n", []string{"{}", missing, "{}"}},
		"at the end":   {"{}\nx\n", []string{"{}", missing}},
		"too long":     {"{}\n" + long + "\n{}\n", []string{"{}", missing, "{}"}},
		"long enough":  {fits + "\n{}\n", []string{fits, "{}"}},
		"long, torn":   {"{}\n" + long, []string{"{}"}},
		"long, mended": {"{}\n" + long + "\x18\n" + `{"n":1}` + "\n", []string{"{}", `{"n":1}`}},
	} {
		put(t, s, Record{ID: name})
		write(t, pathOf(s, name), row.text)
		replays(t, name, s, name, row.want...)
	}
	// Without its record a journal is still a conversation.
	appendLines(t, s, "orphan", "{}")
	replays(t, "without a record", s, "orphan", "{}")
}

// TestJournalCut: a journal keeps the newest half of its bound at least, but for a line that did not fit in, stays
// within the bound, and says that its beginning is missing, once.
func TestJournalCut(t *testing.T) {
	s := openStore(t)
	s.limits.journal = 1000
	j := s.Journal("a")
	defer j.Close()
	var all []string
	for i := range 300 {
		all = append(all, fmt.Sprintf(`{"n":%d,"text":"%s"}`, i, strings.Repeat("x", i/150*i%150*20)))
		must.Do(t, j.Write([]byte(all[i]+"\n")))
		got := replayed(t, s, "a")
		cut := got[0] == missing
		if cut {
			got = got[1:]
		}
		kept, size := strings.Join(got, "\n"), s.JournalSize("a")
		if !strings.HasSuffix("\n"+strings.Join(all, "\n"), "\n"+kept) || cut != (len(got) < len(all)) {
			t.Fatalf("after %d lines: %q", i+1, got)
		}
		if size > int64(2*max(500, len(all[i])+1+len(cutLine))) || cut && len(kept) < 500-len(all[i])-len(cutLine)-1 {
			t.Fatalf("after %d lines: %d bytes are left", i+1, size)
		}
	}
}

// TestJournalRenamed: what another bridge writes into a file after that was renamed stands before what came later.
func TestJournalRenamed(t *testing.T) {
	s := openStore(t)
	s.limits.journal = 80
	one, other := s.Journal("a"), s.Journal("a")
	defer one.Close()
	defer other.Close()
	write := func(j *Journal, numbers ...int) {
		for _, n := range numbers {
			must.Do(t, j.Write(fmt.Appendf(nil, "{\"n\":%d}\n", n)))
		}
	}
	write(other, 0)
	write(one, 1, 2, 3, 4, 6) // the last one into another file
	write(other, 5)           // before it looks
	write(one, 7)
	s.Wait()
	replays(t, "renamed", s, "a", `{"n":0}`, `{"n":1}`, `{"n":2}`, `{"n":3}`, `{"n":4}`, `{"n":5}`, `{"n":6}`, `{"n":7}`)
}

// TestJournalFullTwice: of two bridges that find the file full at once one renames it, and the other goes on with
// what that has begun.
func TestJournalFullTwice(t *testing.T) {
	for range 3 {
		s := openStore(t)
		s.limits.journal = 1000
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				j := s.Journal("a")
				defer j.Close()
				for range 200 {
					if err := j.Write([]byte(`{"text":"` + strings.Repeat("x", 100) + "\"}\n")); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		both.Wait()
		s.Wait()
	}
}

// TestJournalDeleted: a session that is deleted while it is used comes back with
// what is said from then on, and says so.
func TestJournalDeleted(t *testing.T) {
	now := time.Now()
	s := openStore(t)
	s.Now = func() time.Time { return now }
	put(t, s, Record{ID: "a"})
	j := s.Journal("a")
	defer j.Close()
	must.Do(t, j.Write([]byte("{\"n\":1}\n")))
	must.Do(t, again(t, s).Delete("a"))
	now = now.Add(-time.Hour) // a clock that is set back counts as well
	must.Do(t, j.Write([]byte("{\"n\":2}\n")))
	replays(t, "deleted", s, "a", missing, `{"n":2}`)
	// Deleted, and begun anew by another bridge.
	must.Do(t, s.Delete("a"))
	appendLines(t, again(t, s), "a", `{"n":3}`)
	now = now.Add(checkInterval)
	must.Do(t, j.Write([]byte("{\"n\":4}\n")))
	replays(t, "deleted, and begun anew", s, "a", `{"n":3}`, `{"n":4}`)
}

// TestRest: however many sessions have been spoken in, few journals are open, and
// nothing that was appended is lost by that.
func TestRest(t *testing.T) {
	s := openStore(t)
	all := make([]*Journal, 100)
	for round := range 3 {
		for i := range all {
			if all[i] == nil {
				all[i] = s.Journal(fmt.Sprint(i))
				defer all[i].Close()
			}
			must.Do(t, all[i].Write(fmt.Appendf(nil, "{\"n\":%d}\n", round)))
			all[i].Rest()
			if n := s.countFiles(0); n > maxRested {
				t.Fatalf("%d journals are open", n)
			}
		}
	}
	for i := range all {
		replays(t, "each session", s, fmt.Sprint(i), `{"n":0}`, `{"n":1}`, `{"n":2}`)
	}
}

// TestJournalBeside: what is appended is on disk 10 ms later, in one write, and at once with
// what has to be there; an error of a late write is not lost.
func TestJournalBeside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t)
		s.limits.journal = 1 << 20
		j := s.Journal("a")
		defer j.Close()
		check := func(what string, err error, want string) {
			t.Helper()
			synctest.Wait()
			if b, _ := os.ReadFile(j.path()); err != nil || string(b) != want {
				t.Fatalf("%s: on disk is %.100q, want %.100q; %v", what, b, want, err)
			}
		}
		check("one", j.Append([]byte("1\n")), "")
		time.Sleep(journalDelay - 1)
		check("another before the time", j.Append([]byte("2\n")), "")
		time.Sleep(time.Nanosecond)
		check("after 10 ms", nil, "1\n2\n")
		check("one more", j.Append([]byte("3\n")), "1\n2\n")
		check("what has to be there", j.Write([]byte("4\n")), "1\n2\n3\n4\n")
		long := strings.Repeat("5", maxWaiting) + "\n"
		check("what is long", j.Append([]byte(long)), "1\n2\n3\n4\n"+long)
		if half := j.Append([]byte("{}\n{")); half == nil {
			t.Error("half a line was taken")
		}
		must.Do(t, errors.Join(os.RemoveAll(s.dir), os.WriteFile(s.dir, nil, 0o600)))
		time.Sleep(2 * checkInterval)
		err := j.Append([]byte("6\n"))
		time.Sleep(journalDelay)
		synctest.Wait()
		if late := j.Append([]byte("7\n")); err != nil || late == nil {
			t.Errorf("%v; the error of a late write is lost: %v", err, late)
		}
	})
}
