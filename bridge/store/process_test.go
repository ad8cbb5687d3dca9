package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

const (
	childLines = 2000 // of each bridge, in the shared session
	childPad   = 40
)

// title is a title by which a torn record would show.
func childTitle(who string, i int) string { return strings.Repeat(fmt.Sprintf("%s-%d ", who, i), 50) }

func wholeTitle(title string) bool {
	words := strings.Fields(title)
	return len(words) == 50 && len(slices.Compact(words)) == 1
}

// hammer uses a session of its own, one that all append to, and one that all
// delete.
func hammer(t *testing.T, s *Store, who string) {
	shared := s.Journal("shared")
	defer shared.Close()
	check := func(r Record, err error) {
		t.Helper()
		if errors.Is(err, ErrNoSession) && !strings.Contains(err.Error(), "damaged") {
			return
		}
		if err != nil || !wholeTitle(r.Title) {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	for i := range childLines {
		line := fmt.Sprintf(`{"who":%q,"n":%d,"pad":%q}`, who, i, strings.Repeat("x", rand.IntN(childPad)))
		must.Do(t, shared.Write([]byte(line+"\n")))
		if i%20 > 0 {
			continue
		}
		for _, id := range []string{"own " + who, "shared", "contested"} {
			put(t, s, Record{ID: id, Title: childTitle(who, i)})
			check(s.Get(id))
		}
		all := must.Get(s.List("", ""))(t)
		for _, r := range all {
			check(r, nil)
		}
		appendLines(t, s, "contested", line)
		if err := s.ReadJournal("contested", func([]byte) error { return nil }); err != nil && !errors.Is(err, ErrNoSession) {
			t.Fatal(err)
		}
		if i%40 == 0 {
			must.Do(t, s.Delete("contested"))
		}
	}
}

// TestProcesses: several bridges at once, each with what a process opens for itself, tear nothing, and lose
// nothing that none of them has deleted.
func TestProcesses(t *testing.T) {
	const children = 4
	s := openStore(t)
	t.Run("all", func(t *testing.T) {
		for n := range children {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				t.Parallel()
				hammer(t, again(t, s), fmt.Sprint(n))
			})
		}
	})
	for n := range children {
		r, err := s.Get(fmt.Sprint("own ", n))
		if want := childTitle(fmt.Sprint(n), childLines-20); err != nil || r.Title != want {
			t.Errorf("child %d's session: %+v, %v", n, r, err)
		}
	}
	var next [children]int
	for i, line := range replayed(t, s, "shared") {
		var who, n int
		if _, err := fmt.Sscanf(line, `{"who":"%d","n":%d,`, &who, &n); err != nil || n != next[who] {
			t.Fatalf("line %d: %q, child %d's line %d is missing: %v", i, line, who, next[who], err)
		}
		next[who]++
	}
	must.Equal(t, next, [children]int{childLines, childLines, childLines, childLines}, "the newest lines are missing")
}
