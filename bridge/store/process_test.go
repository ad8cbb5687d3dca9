package store

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// storeChild, in the environment, makes this test binary a bridge that uses a
// store: what it does, its number, the store's directory.
const storeChild = "A2ASTDIO_TEST_STORE_CHILD"

const (
	childLines = 2000 // of each child, in the shared session
	childPad   = 40
)

func startChild(t *testing.T, s *Store, what string, n int) *exec.Cmd {
	t.Helper()
	exe := must.Get(os.Executable())(t)
	cmd := exec.CommandContext(t.Context(), exe, "-test.run=^TestChild$", "-test.v")
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s,%d,%s", storeChild, what, n, s.dir))
	return cmd
}

// TestChild is not a test but the other processes, which the tests start.
func TestChild(t *testing.T) {
	args := strings.SplitN(os.Getenv(storeChild), ",", 3)
	if len(args) != 3 {
		return
	}
	s := must.Get(Open(args[2]))(t)
	switch args[0] {
	case "hammer":
		hammer(t, s, args[1])
	case "forever":
		forever(t, s)
	}
}

// title is a title by which a torn record would show.
func childTitle(who string, i int) string { return strings.Repeat(fmt.Sprintf("%s-%d ", who, i), 50) }

func wholeTitle(title string) bool {
	words := strings.Fields(title)
	return len(words) == 50 && len(slices.Compact(words)) == 1
}

// hammer uses a session of its own, one that all append to, and one that all
// delete.
func hammer(t *testing.T, s *Store, who string) {
	shared := must.Get(s.Journal("shared"))(t)
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

// TestProcesses: several bridges at once tear nothing, and lose nothing
// that none of them has deleted.
func TestProcesses(t *testing.T) {
	const children = 4
	s := openStore(t)
	var running [children]*exec.Cmd
	var out [children]strings.Builder
	for n := range children {
		running[n] = startChild(t, s, "hammer", n)
		running[n].Stdout, running[n].Stderr = &out[n], &out[n]
		must.Do(t, running[n].Start())
	}
	for n, cmd := range running {
		if err := cmd.Wait(); err != nil {
			t.Errorf("child %d: %v\n%s", n, err, &out[n])
		}
	}
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
	if next != [children]int{childLines, childLines, childLines, childLines} {
		t.Errorf("the newest lines are missing: %v", next)
	}
}

// forever says on stdout what is stored, after it is.
func forever(t *testing.T, s *Store) {
	j := must.Get(s.Journal("a"))(t)
	for i := 0; ; i++ {
		line := fmt.Sprintf(`{"n":%d,"pad":%q}`, i, strings.Repeat("é", rand.IntN(5000)))
		must.Do(t, j.Write([]byte(line+"\n")))
		put(t, s, Record{ID: "a", Title: childTitle("x", i)})
		_, _ = os.Stdout.WriteString("stored " + strconv.Itoa(i) + "\n")
	}
}

// TestKill: kill -9 at any moment leaves a whole record, and in the journal
// each line that was appended, once and in order.
func TestKill(t *testing.T) {
	for range 10 {
		s := openStore(t)
		cmd := startChild(t, s, "forever", 0)
		pipe, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		// Killed at some time after its first line; what it has said by then
		// is in the pipe.
		stored, out := -1, bufio.NewScanner(pipe)
		var kill *time.Timer
		for out.Scan() {
			if n, ok := strings.CutPrefix(out.Text(), "stored "); ok {
				stored, _ = strconv.Atoi(n)
			}
			if kill == nil && stored >= 0 {
				kill = time.AfterFunc(time.Duration(rand.IntN(30_000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
			}
		}
		_ = cmd.Wait() // killed
		if kill == nil {
			t.Fatal("the child has stored nothing")
		}
		s = again(t, s)
		r, err := s.Get("a")
		if err != nil || !wholeTitle(r.Title) {
			t.Fatalf("record after a kill: %+v, %v", r, err)
		}
		appendLines(t, s, "a", `{"n":"next"}`)
		lines := replayed(t, s, "a")
		if n := len(lines) - 1; n != stored+1 && n != stored+2 || lines[n] != `{"n":"next"}` {
			t.Fatalf("%d lines after %d were stored", n, stored+1)
		}
		for i, line := range lines[:len(lines)-1] {
			if !strings.HasPrefix(line, fmt.Sprintf(`{"n":%d,`, i)) {
				t.Fatalf("line %d: %.60q", i, line)
			}
		}
	}
}
